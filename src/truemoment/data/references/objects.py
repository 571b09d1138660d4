"""JSON lists and JSON Lines of objects with the columns of a table."""

from __future__ import annotations

from typing import Any

from truemoment.base.boundary.own_path import AnyPath
from truemoment.data.datasets.entries import ReferenceEntry
from truemoment.data.formats.entries import read_entries
from truemoment.data.formats.head import Head
from truemoment.data.references.base import ReferenceForm, ReferenceOptions
from truemoment.data.references.records import Record, columns_of, entries_of, looks_like_references

OF_OTHER_FORMS = frozenset({"relevant_windows", "times", "annotations", "sentences"})
"""Keys of objects that other forms read."""


def _recognise(head: Head) -> str | None:
    keys = head.entry_keys
    is_own = not head.is_list and {"video_id", "sentence", "moments"} <= keys
    return f"its objects have {', '.join(sorted(keys))}" if _is_table(keys) and not is_own else None


def _is_table(keys: frozenset[str]) -> bool:
    return looks_like_references(keys) and not keys & OF_OTHER_FORMS


def read_records(path: AnyPath) -> list[Record]:
    """Return the objects of a file."""
    return [
        Record(line, number, values)
        for number, (line, values) in enumerate(read_entries(path, dict[str, Any]), start=1)
    ]


def _read(path: AnyPath, how: ReferenceOptions) -> list[ReferenceEntry]:
    records = read_records(path)
    names = list(dict.fromkeys(name for record in records for name in record.values))
    line = records[0].line if records else None
    return entries_of(records, columns_of(names, how.fields, path, line), path) if records else []


FORM = ReferenceForm("json", "JSON list or JSON Lines of objects, one a moment or a query", _recognise, _read)
