"""JSON lists and JSON Lines of objects with the columns of a table, and files whose columns a user maps.

An object has the query and one moment (``start_s``, ``end_s``, perhaps ``score``), a list of ``moments``, or an
``answer`` in words. Objects of one query are ranked by score or, without scores, in file order. A mapping
(:mod:`truemoment.data.fields`) names the columns of such objects, of CSV and TSV, and of Parquet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from truemoment.base.boundary.own_path import AnyPath
from truemoment.data.fields import Column, FieldMap
from truemoment.data.formats.base import AnswerRows, Format, PredictionRows, Read
from truemoment.data.formats.columns import RecordFields, Usual, columns_of, without_columns
from truemoment.data.formats.head import Head
from truemoment.data.formats.records import Record, read_objects, read_parquet, read_table
from truemoment.data.formats.rows import FileRow, as_columns, require_query
from truemoment.data.formats.table import HEADINGS

OPTION = "--prediction-fields"
USUAL: Usual = {
    "query_id": HEADINGS["query_id"],
    "video_id": HEADINGS["video_id"],
    "sentence": HEADINGS["sentence"],
    "start_s": HEADINGS["start"],
    "end_s": HEADINGS["end"],
    "moments": ("moments",),
    "score": HEADINGS["score"],
    "answer": (),
}
"""Usual names of the columns of each field, in lower case."""

NUMBERS = ("start_s", "end_s", "moments")
"""Fields that may be mapped with a unit."""

Key = tuple[str | None, str | None, str | None]


def parse_prediction_fields(word: str) -> FieldMap:
    """Read the value of ``--prediction-fields``: a mapping for predictions, or ``@FILE``."""
    return FieldMap.read(word, tuple(USUAL), NUMBERS, OPTION)


def prediction_columns(
    header: Sequence[str], mapping: FieldMap | None, path: AnyPath, line: int | None = 1
) -> dict[str, Column]:
    """Return the column of each field of predictions; the query and its times, or an answer, are needed."""
    columns = columns_of(header, USUAL, mapping, path, line)
    query = [] if "query_id" in columns else [name for name in ("video_id", "sentence") if name not in columns]
    answered = {"moments", "answer"} & columns.keys()
    times = [] if answered else [name for name in ("start_s", "end_s") if name not in columns]
    if query or times:
        raise without_columns([*query, *times], header, path, line, OPTION)
    return columns


def mapped_reader(mapping: FieldMap) -> Read:
    """Return the reader of a table, a list of objects or Parquet, whose columns a user has named."""
    return lambda path, _: _read_mapped(path, mapping)


def _read_mapped(path: AnyPath, mapping: FieldMap) -> PredictionRows | AnswerRows:
    head = Head.read(path)
    if head.data.startswith(b"PAR1"):
        return _rows(*read_parquet(path, lambda names: prediction_columns(names, mapping, path, None)), path)
    if head.is_object or head.is_list:
        return _of_objects(path, mapping)
    names, records, commas = read_table(path)
    return _rows(records, prediction_columns(names, mapping, path), path, decimal_commas=commas)


def _of_objects(path: AnyPath, mapping: FieldMap | None) -> PredictionRows | AnswerRows:
    names, records, _ = read_objects(path)
    line = records[0].line if records else None
    return _rows(records, prediction_columns(names, mapping, path, line) if records else {}, path)


def _rows(
    records: Iterable[Record], columns: Mapping[str, Column], path: AnyPath, *, decimal_commas: bool = False
) -> PredictionRows | AnswerRows:
    """Return records as rows; those of one query are its moments, and need not be adjacent."""
    moments: dict[Key, list[tuple[float, ...]]] = {}
    lines: dict[Key, list[int | None]] = {}
    answers: list[FileRow] = []
    for record in records:
        fields = RecordFields(record, columns, path, decimal_commas=decimal_commas)
        key = fields.text("query_id") or None, fields.text("video_id") or None, fields.text("sentence") or None
        require_query(path, record.line, *key)
        if "answer" in columns:
            answers.append(FileRow(*key, text=fields.text("answer") or None, line=record.line))
            continue
        answer = _moments(fields)
        moments.setdefault(key, []).extend(answer)
        lines.setdefault(key, []).append(record.line)
    if answers:
        return as_columns(path, answers)
    rows = [FileRow(*key, moments[key], line=lines[key][0]) for key in moments]
    return as_columns(path, rows, field="")


def _moments(fields: RecordFields) -> list[tuple[float, ...]]:
    """Return the moments of a record, with their score where it is a column."""
    moments = fields.moments((2, 3))
    if "score" not in fields.columns or not moments:
        return moments
    if len(moments) > 1 or len(moments[0]) == 3:
        raise fields.wrong("score", fields.value("score"), "scores in the moments, or one moment")
    score = fields.number("score", fields.value("score"))
    if math.isnan(score):
        raise fields.wrong("score", fields.value("score"), "a number")
    return [(*moments[0], score)]


def _recognise(head: Head) -> str | None:
    keys = {key.strip().lower() for key in head.entry_keys}
    has = {field for field, usual in USUAL.items() if keys & set(usual)}
    if not {"start_s", "end_s"} <= has or not ("query_id" in has or {"video_id", "sentence"} <= has):
        return None
    return f"its objects have {', '.join(sorted(head.entry_keys))}"


FORMAT = Format(
    "json",
    "JSON list or JSON Lines of objects, one a moment, with such columns",
    _recognise,
    lambda path, _: _of_objects(path, None),
    needs=frozenset({"video_id", "sentence", "start_s", "end_s"}),
)
