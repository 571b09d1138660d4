"""CSV and TSV: a row per moment, rows of one query ranked by score or, without scores, in file order.

Headings, in any case and order, are those of :data:`HEADINGS`: ``query_id``, ``video_id``, ``sentence``, ``start_s``,
``end_s``, ``score`` and other usual names, such as the headings of ActionFormer's results (``video-id``, ``t-start``,
``t-end``, ``label``). Of two headings with one meaning, the one that begins with ``pred`` is the prediction. Times are
seconds. Numbers of tables with ``;`` or tabs may have decimal commas.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeVar

from truemoment.base.boundary.files import DATA_BYTES, read_number, write_bytes
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.boundary.tables import cells_of, csv_text, has_decimal_commas, read_cells
from truemoment.base.errors import InputError
from truemoment.data.formats.base import AnswerRows, Format, PredictionRows
from truemoment.data.formats.head import Head
from truemoment.data.formats.rows import FileRow, as_columns, require_query, written_rows

Headings = Mapping[str, tuple[str, ...]]
"""Names of headings by what they mean."""

ABOUT: Headings = {
    "query_id": ("query_id", "qid"),
    "video_id": ("video_id", "video-id", "video", "vid", "video_name", "vid_name", "file", "filename"),
    "sentence": ("sentence", "query", "description", "label", "caption", "text", "desc"),
}
HEADINGS: Headings = {
    **ABOUT,
    "start": ("start_s", "start", "start_time", "start_sec", "t-start", "begin", "pred_start", "pred_start_s"),
    "end": ("end_s", "end", "end_time", "end_sec", "t-end", "finish", "pred_end", "pred_end_s"),
    "score": ("score", "confidence", "conf", "pred_score"),
}
PREDICTED = re.compile(r"\s*pred(icted)?[_ -]", re.IGNORECASE)
ANNOTATOR_HEADINGS = {"hitid", "workerid", "annotator"}
"""Headings of tables of human annotations, which are no predictions."""

Key = tuple[str | None, str | None, str | None]
T = TypeVar("T")


def _recognise(head: Head) -> str | None:
    names = headings(head)
    people = ANNOTATOR_HEADINGS & {name.strip().lower() for name in names}
    return f"its headings are {headings_text(head)}" if _has_times(names) and not people else None


def lacks_headings(head: Head) -> bool:
    """Whether a table has no start or no end."""
    return not _has_times(headings(head))


def _has_times(names: list[str]) -> bool:
    """Whether headings have start and end, or two with one meaning, which reading refuses."""
    try:
        return {"start", "end"} <= set(columns_of(names, HEADINGS))
    except ValueError:
        return True


def headings(head: Head) -> list[str]:
    """Return the headings of a table; none if the file is JSON or its first line is no CSV."""
    if head.is_object or head.is_list:
        return []
    return cells_of(head.line.decode("utf-8", "replace"))


def headings_text(head: Head) -> str:
    """Return the headings for messages."""
    return head.line.decode("utf-8", "replace").strip()[:60]


def columns_of(header: list[str], headings: Headings) -> dict[str, int]:
    """Return the column of each meaning."""
    columns: dict[str, int] = {}
    for at, heading in enumerate(header):
        for meaning, names in headings.items():
            if heading.strip().lower() in names:
                same = [at] if meaning not in columns else [columns[meaning], at]
                if len(same) > 1:
                    same = predicted([header[column] for column in same], same)
                if len(same) > 1:
                    raise ValueError(f"got headings {header[same[0]]} and {heading}, expected one of them")
                columns[meaning] = same[0]
    return columns


def predicted(headings: Sequence[str], columns: Sequence[T]) -> list[T]:
    """Return the one column of some with one meaning whose heading begins with ``pred``, else all."""
    named = [column for heading, column in zip(headings, columns, strict=True) if PREDICTED.match(heading)]
    return named if len(named) == 1 else list(columns)


def read_table(path: AnyPath, headings: Headings, needed: Collection[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line number, values by meaning) for each row of CSV, or of TSV if the first line contains a tab.

    `headings` has the possible names of each column; other columns are ignored. `needed` are the required columns,
    beside a query id, or video and sentence.
    """
    rows = read_cells(path, most=DATA_BYTES)
    _, header = next(rows)
    try:
        columns = columns_of(header, headings)
    except ValueError as error:
        raise InputError(str(error), path=path, line=1) from None
    if not set(needed) <= set(columns) or not ("query_id" in columns or {"video_id", "sentence"} <= set(columns)):
        raise InputError(
            f"got headings {', '.join(header)[:80] or 'none'}, expected {', '.join(needed)}, query_id "
            "(or video_id, sentence)",
            path=path,
            line=1,
            hint='--prediction-fields "start_s=begin" names another column' if "start" in needed else None,
        )
    for line, row in rows:
        fields = {name: row[at] for name, at in columns.items()}
        require_query(path, line, *_about(fields))
        yield line, fields


def _about(fields: dict[str, str]) -> Key:
    """Return query id, video and sentence of a row; None where it does not state one."""
    return fields.get("query_id") or None, fields.get("video_id") or None, fields.get("sentence") or None


def answers_of(path: AnyPath, headings: Headings, needed: Collection[str]) -> list[FileRow]:
    """Return the rows of a table of answers in words, which are in the last of the `needed` columns."""
    *_, answer = needed
    return [
        FileRow(*_about(fields), text=fields[answer] or None, line=line)
        for line, fields in read_table(path, headings, needed)
    ]


def _read(path: AnyPath, _progress: bool) -> PredictionRows | AnswerRows:
    """Read the file; the rows of a query need not be adjacent."""
    lines: dict[Key, list[int]] = {}
    moments: dict[Key, list[tuple[float, ...]]] = {}
    commas = has_decimal_commas(Head.read(path).line.decode("utf-8", "replace"))
    for line, fields in read_table(path, HEADINGS, ("start", "end")):
        key = _about(fields)
        cells = {name: fields[name] for name in ("start", "end", "score") if name in fields}
        numbers = tuple(_number(cell, name, path, line, commas=commas) for name, cell in cells.items())
        lines.setdefault(key, []).append(line)
        moments.setdefault(key, []).append(numbers)
    rows = [FileRow(*key, moments[key], line=numbers[0]) for key, numbers in lines.items()]
    return as_columns(path, rows, field="", moment_line=[line for numbers in lines.values() for line in numbers])


def _number(text: str, field: str, path: AnyPath, line: int, *, commas: bool) -> float:
    decimal = commas and text.count(",") == 1 and "." not in text
    value = read_number(text.replace(",", ".") if decimal else text)
    if math.isnan(value):
        raise InputError(f"got {text[:40]!r}, expected a number", path=path, line=line, field=field)
    return value


def _write(path: AnyPath, rows: PredictionRows) -> None:
    headings = ["query_id", "video_id", "sentence", "start_s", "end_s", *(["score"] if rows.scored else [])]
    cells = (
        (row.query_id, row.video_id, row.sentence, *moment) for row in written_rows(rows) for moment in row.moments
    )
    write_bytes(path, csv_text(headings, cells, line_end="\r\n").encode())


FORMAT = Format(
    "csv",
    "CSV or TSV, a row a moment (query_id or video_id and sentence, start, end, score)",
    _recognise,
    _read,
    _write,
    loses=frozenset({"ratings", "statuses", "abstentions", "repeated rows"}),
)
