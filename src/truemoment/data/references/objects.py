"""JSON lists and JSON Lines of objects with the columns of a table."""

from __future__ import annotations

from truemoment.base.boundary.own_path import AnyPath
from truemoment.data.datasets.entries import ReferenceEntry
from truemoment.data.formats.head import Head
from truemoment.data.formats.records import read_objects
from truemoment.data.references.base import ReferenceForm, ReferenceOptions
from truemoment.data.references.records import entries_of, looks_like_references, reference_columns

OF_OTHER_FORMS = frozenset({"relevant_windows", "times", "annotations", "sentences"})
"""Keys of objects that other forms read."""


def _recognise(head: Head) -> str | None:
    keys = head.entry_keys
    is_own = not head.is_list and {"video_id", "sentence", "moments"} <= keys
    is_table = looks_like_references(keys) and not keys & OF_OTHER_FORMS
    return f"its objects have {', '.join(sorted(keys))}" if is_table and not is_own else None


def _read(path: AnyPath, how: ReferenceOptions) -> list[ReferenceEntry]:
    names, records, _ = read_objects(path)
    line = records[0].line if records else None
    return entries_of(records, reference_columns(names, how.fields, path, line), path) if records else []


FORM = ReferenceForm("json", "JSON list or JSON Lines of objects, one a moment or a query", _recognise, _read)
