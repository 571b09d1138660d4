"""Rows of tables and objects of lists as entries: the columns are found by their usual names, or mapped by the user."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from truemoment.base.boundary.files import read_number
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.data.datasets.entries import Moment, ReferenceEntry
from truemoment.data.fields import Column, FieldMap, unknown_column
from truemoment.data.references.base import checked_time, joined

USUAL: Mapping[str, tuple[str, ...]] = {
    "video_id": ("video_id", "video", "vid", "video_name", "video_file", "file", "filename", "file_name"),
    "sentence": ("sentence", "query", "description", "caption", "text"),
    "start_s": ("start_s", "start", "start_time", "start_sec", "begin", "onset"),
    "end_s": ("end_s", "end", "end_time", "end_sec", "finish", "stop", "offset"),
    "moments": ("moments", "moment", "windows", "window", "segments", "segment", "timestamps", "timestamp", "span"),
    "duration_s": ("duration_s", "duration", "video_duration"),
    "query_id": ("query_id", "qid"),
    "annotator": ("annotator", "worker", "worker_id", "workerid"),
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


class Record(NamedTuple):
    """A row or an object: its line, its number where it has no line, and its values by column."""

    line: int | None
    number: int
    values: Mapping[str, Any]


def looks_like_references(columns: Iterable[str]) -> bool:
    """Whether columns are those of references, by their usual names."""
    names = {name.strip().lower() for name in columns}
    has = {field for field, usual in USUAL.items() if names & set(usual)}
    times = "moments" in has or {"start_s", "end_s"} <= has
    predicts = names & set(NO_REFERENCES) or any(name.startswith("pred") for name in names)
    return {"video_id", "sentence"} <= has and times and not predicts


def columns_of(
    header: Sequence[str], mapping: FieldMap | None, path: AnyPath, line: int | None = 1
) -> dict[str, Column]:
    """Return the column of each field: those of the mapping, else those with a usual name.

    Raises
    ------
    InputError
        If a mapped column is not there, two columns have one meaning, or a needed field has no column.
    """
    columns = dict(mapping.columns) if mapping is not None else {}
    for field, column in columns.items():
        if column.name not in header and column.name.split(".")[0] not in header:
            raise unknown_column(column.name, header, path=path, field=field, line=line)
    used = {column.name for column in columns.values()}
    for field, usual in USUAL.items():
        names = [name for name in header if name.strip().lower() in usual and name not in used]
        if field in columns or (field == "moments" and {"start_s", "end_s"} & columns.keys()):
            continue
        if len(names) > 1:
            hint = f'name it: --fields "{field}={names[0]}"'
            raise InputError(
                f"got columns {' and '.join(names)}, expected one of them", path=path, line=line, hint=hint
            )
        if names:
            columns[field] = Column(names[0])
    needed = ["video_id", "sentence", *([] if "moments" in columns else ["start_s", "end_s"])]
    if missing := [field for field in needed if field not in columns]:
        problem = f"has no column for {', '.join(missing)}, got {', '.join(header)[:120] or 'none'}"
        hint = 'name them: --fields "' + ", ".join(f"{field}=COLUMN" for field in missing) + '"'
        raise InputError(problem, path=path, line=line, hint=hint)
    return columns


def entries_of(
    records: Iterable[Record], columns: Mapping[str, Column], path: AnyPath, *, decimal_commas: bool = False
) -> list[ReferenceEntry]:
    """Return records as entries; those with one query id are one query.

    Without ids, those of one video and sentence are one query if annotators are named, and different queries else.
    """
    groups: dict[object, list[ReferenceEntry]] = {}
    for record in records:
        entry = _RecordFields(record, columns, path, decimal_commas=decimal_commas).entry()
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


class _RecordFields:
    """Reads the fields of a record, with errors that name its place."""

    def __init__(self, record: Record, columns: Mapping[str, Column], path: AnyPath, *, decimal_commas: bool) -> None:
        self.record, self.columns, self.path, self.decimal_commas = record, columns, path, decimal_commas

    def entry(self) -> ReferenceEntry:
        query_id, annotator, split = (self.text(field) for field in ("query_id", "annotator", "split"))
        moments = self.moments()
        return ReferenceEntry(
            self.text("video_id", needed=True),
            self.text("sentence", needed=True),
            moments,
            self.seconds("duration_s", self.value("duration_s")),
            query_id or None,
            [annotator] * (len(moments) or 1) if annotator else (),
            split or None,
            line=self.record.line,
        )

    def value(self, field: str) -> Any:  # noqa: ANN401 - as in the file
        """Return the value of a field; None if there is none."""
        column = self.columns.get(field)
        if column is None:
            return None
        if column.name in self.record.values:
            return self.record.values[column.name]
        value: Any = self.record.values
        for step in column.name.split("."):
            if isinstance(value, Mapping):
                value = value.get(step)
            elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
                value = value[int(step)]
            else:
                return None
        return value

    def text(self, field: str, *, needed: bool = False) -> str:
        value = self.value(field)
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = f"{value:.15g}" if isinstance(value, float) else str(value)
        if value is None and not needed:
            return ""
        if not isinstance(value, str) or (needed and not value.strip() and field == "video_id"):
            raise self.wrong(field, value, "text")
        return value

    def seconds(self, field: str, value: object) -> float:
        """Return a time in seconds; NaN for none."""
        number = math.nan
        if isinstance(value, str):
            text = value.strip()
            if not text:
                return math.nan
            if self.decimal_commas and text.count(",") == 1 and "." not in text:
                text = text.replace(",", ".")
            number = read_number(text)
        elif value is None or (isinstance(value, float) and math.isnan(value)):
            return math.nan
        elif isinstance(value, int | float) and not isinstance(value, bool):
            number = float(value)
        if not math.isfinite(number):
            raise self.wrong(field, value, "a number")
        place = {"line": self.record.line, "field": self.place(field)}
        return checked_time(self.columns[field].scaled(number), self.path, **place)  # type: ignore[arg-type]

    def moments(self) -> list[Moment]:
        if "moments" in self.columns:
            return self.listed(self.value("moments"))
        start_s, end_s = (self.seconds(field, self.value(field)) for field in ("start_s", "end_s"))
        if math.isnan(start_s) and math.isnan(end_s):
            return []
        for field, time_s in (("start_s", start_s), ("end_s", end_s)):
            if math.isnan(time_s):
                raise self.wrong(field, self.value(field), "a number, or neither start nor end")
        return [(start_s, end_s)]

    def listed(self, value: object) -> list[Moment]:
        """Return the moments of a list: ``[start, end]`` or a list of such."""
        if not isinstance(value, list):
            raise self.wrong("moments", value, "[start, end] or a list of these")
        pairs = value if not value or isinstance(value[0], list | dict) else [value]
        moments = []
        for pair in pairs:
            times = list(pair.values()) if isinstance(pair, dict) else pair  # a struct of Parquet
            if not isinstance(times, list) or len(times) != 2:
                raise self.wrong("moments", value, "[start, end] or a list of these")
            start_s, end_s = (self.seconds("moments", time) for time in times)
            if math.isnan(start_s + end_s):
                raise self.wrong("moments", value, "numbers")
            moments.append((start_s, end_s))
        return moments

    def place(self, field: str) -> str:
        name = self.columns[field].name if field in self.columns else field
        return name if self.record.line is not None else f"{name} of row {self.record.number}"

    def wrong(self, field: str, value: object, expected: str) -> InputError:
        got = "nothing" if value is None or value == "" else repr(value)[:60]
        problem = f"got {got}, expected {expected}"
        return InputError(problem, path=self.path, line=self.record.line, field=self.place(field))
