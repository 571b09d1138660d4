"""Rows of tables and objects of lists as entries: the columns are found by their usual names, or mapped by the user."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.data.datasets.entries import Moment, ReferenceEntry
from truemoment.data.fields import Column, FieldMap
from truemoment.data.formats.columns import RecordFields, Usual, columns_of, without_columns
from truemoment.data.formats.records import Record
from truemoment.data.references.base import checked_time, joined

USUAL: Usual = {
    "video_id": ("video_id", "video", "vid", "video_name", "vid_name", "video_file", "file", "filename", "file_name"),
    "sentence": ("sentence", "query", "description", "caption", "text", "desc"),
    "start_s": ("start_s", "start", "start_time", "start_sec", "begin", "onset"),
    "end_s": ("end_s", "end", "end_time", "end_sec", "finish", "stop", "offset"),
    "moments": (
        "moments",
        "moment",
        "windows",
        "window",
        "segments",
        "segment",
        "timestamps",
        "timestamp",
        "span",
        "ts",
    ),
    "duration_s": ("duration_s", "duration", "video_duration"),
    "query_id": ("query_id", "qid", "desc_id"),
    "annotator": ("annotator", "annotators", "worker", "worker_id", "workerid"),
    "split": ("split", "subset"),
}
"""Usual names of the columns of each field, in lower case."""

NUMBERS = ("start_s", "end_s", "moments", "duration_s")
"""Fields that may be mapped with a unit."""

NO_REFERENCES = ("score", "confidence", "answer", "answers", "response", "prediction")
"""Columns of predictions."""


def parse_fields(word: str) -> FieldMap:
    """Read the value of ``--fields``: a mapping for references, or ``@FILE``."""
    return FieldMap.read(word, tuple(USUAL), NUMBERS)


def looks_like_references(columns: Iterable[str]) -> bool:
    """Whether columns are those of references, by their usual names."""
    names = {name.strip().lower() for name in columns}
    has = {field for field, usual in USUAL.items() if names & set(usual)}
    times = "moments" in has or {"start_s", "end_s"} <= has
    predicts = names & set(NO_REFERENCES) or any(name.startswith("pred") for name in names)
    return {"video_id", "sentence"} <= has and times and not predicts


def reference_columns(
    header: Sequence[str], mapping: FieldMap | None, path: AnyPath, line: int | None = 1
) -> dict[str, Column]:
    """Return the column of each field of references; the video, the sentence and the times are needed."""
    columns = columns_of(header, USUAL, mapping, path, line)
    needed = ["video_id", "sentence", *([] if "moments" in columns else ["start_s", "end_s"])]
    if missing := [field for field in needed if field not in columns]:
        raise without_columns(missing, header, path, line)
    return columns


def entries_of(
    records: Iterable[Record], columns: Mapping[str, Column], path: AnyPath, *, decimal_commas: bool = False
) -> list[ReferenceEntry]:
    """Return records as entries; those with one query id are one query.

    Without ids, those of one video and sentence are one query if annotators are named, and different queries else.
    """
    groups: dict[object, list[ReferenceEntry]] = {}
    for record in records:
        entry = _entry(RecordFields(record, columns, path, decimal_commas=decimal_commas))
        key: object = entry.query_id
        if key is None:
            key = (entry.video_id, entry.sentence) if entry.annotators else record.number
        group = groups.setdefault((key, entry.split), [])
        if group:
            _refuse_other_query(group[0], entry, path)
        group.append(entry)
    return [group[0] if len(group) == 1 else joined(group) for group in groups.values()]


def _refuse_other_query(first: ReferenceEntry, entry: ReferenceEntry, path: AnyPath) -> None:
    """Refuse a row with the id of a query that is another one, or that has no moment."""
    for field, value, before in (
        ("video_id", entry.video_id, first.video_id),
        ("sentence", entry.sentence, first.sentence),
        ("duration_s", entry.duration_s, first.duration_s),
    ):
        if str(value) != str(before):  # NaN, which is unknown, equals itself as text
            problem = f"got {str(value)[:60]!r}, expected {str(before)[:60]!r} as before for query {entry.query_id!r}"
            raise InputError(problem, path=path, line=entry.line, field=field)
    if not (entry.moments and first.moments):
        problem = f"got rows with and without a moment for query {entry.query_id!r}, expected one or the other"
        raise InputError(problem, path=path, line=entry.line)


def _entry(fields: RecordFields) -> ReferenceEntry:
    """Return a record as an entry."""
    query_id, split = fields.text("query_id"), fields.text("split")
    moments: list[Moment] = [
        (_seconds(fields, start, "start_s"), _seconds(fields, end, "end_s")) for start, end in fields.moments()
    ]
    duration_s = fields.number("duration_s", fields.value("duration_s"))
    return ReferenceEntry(
        fields.text("video_id", needed=True),
        fields.text("sentence", needed=True),
        moments,
        duration_s if math.isnan(duration_s) else _seconds(fields, duration_s, "duration_s"),
        query_id or None,
        _annotators(fields, len(moments) or 1),
        split or None,
        line=fields.record.line,
    )


def _annotators(fields: RecordFields, n_moments: int) -> list[str]:
    """Return the annotator of each moment: one name for all, or a list of them."""
    names = fields.value("annotator")
    if not isinstance(names, list):
        name = fields.text("annotator")
        return [name] * n_moments if name else []
    if len(names) not in (0, n_moments) or not all(isinstance(name, str) for name in names):
        raise fields.wrong("annotator", names, f"{n_moments} name{'s' if n_moments > 1 else ''}, one a moment")
    return names


def _seconds(fields: RecordFields, value: float, field: str) -> float:
    """Return a time that is within the limits of times."""
    name = field if field == "duration_s" or "moments" not in fields.columns else "moments"
    return checked_time(value, fields.path, line=fields.record.line, field=fields.place(name))
