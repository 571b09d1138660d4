"""Plain answers in words: JSON Lines, one JSON object by query, or a table.

::

    {"truemoment_answers": 1, "model": "..."}
    {"query_id": "YSKX3#0", "answer": "The door opens from 2.5 to 7 seconds."}

A line has ``answer`` and ``query_id``, or ``video_id`` and ``sentence``; other keys are ignored. The first line may
describe the file. The object is ``{QUERY_ID: answer}``. The table (CSV or TSV) has one column ``answer``,
``prediction``, ``response`` or ``output``, beside the headings of :mod:`truemoment.data.formats.table`. A null (or
empty, in a table) answer counts as failed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from truemoment.base.boundary.files import decode_json, iterate_json_lines, read_json_mapping
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.data.formats.base import AnswerRows, Format, PredictionRows
from truemoment.data.formats.entries import first_line
from truemoment.data.formats.head import Head
from truemoment.data.formats.rows import FileRow, as_columns, as_id, require_query
from truemoment.data.formats.span_keys import TEXT, is_key
from truemoment.data.formats.table import ABOUT, Headings, answers_of, columns_of, headings, headings_text

VERSION = 1
MARK = "truemoment_answers"
HEADINGS: Headings = {**ABOUT, "answer": ("answer", "prediction", "response", "output")}
NO_IDS = {"version", "query_id", "qid", "video_id", "video", "vid", "path", "sentence", "query", "question", "answer"}
"""Keys that are names of fields, so that an object with them is no ``{QUERY_ID: answer}``."""


class AnswerLine(msgspec.Struct):
    """A line of the file."""

    answer: str | None
    query_id: str | int | None = None
    video_id: str | None = None
    sentence: str | None = None


def _recognise(head: Head) -> str | None:
    keys = head.line_keys
    if MARK in keys:
        return f'its first line says "{MARK}"'
    of_tasks = {"task", "video_id", "query_id"} <= keys  # a log, in which the id is that of a prompt
    if "answer" in keys and not of_tasks and ("query_id" in keys or {"video_id", "sentence"} <= keys):
        return 'its first line has "answer"'
    if head.is_object:
        top = {path[0]: kind for path, kind in head.outline.items() if len(path) == 1}
        texts = set(top.values()) == {"text"} and not any(len(path) > 1 for path in head.outline)
        fields = NO_IDS & top.keys() or any(is_key(key) for key in top)
        return "it is an object whose values are text" if texts and not fields else None
    try:
        columns = set(columns_of(headings(head), HEADINGS))
    except ValueError:
        return None
    if "answer" in columns and ("query_id" in columns or {"video_id", "sentence"} <= columns):
        return f"its headings are {headings_text(head)}"
    return None


def _read(path: AnyPath, progress: bool) -> PredictionRows | AnswerRows:
    first = first_line(path)
    if not first.startswith((b"{", b"[")):
        return as_columns(path, answers_of(path, HEADINGS, ("answer",)))
    if not Head(Path(), first).line_keys & {"answer", "query_id", "video_id", "sentence", MARK}:
        return as_columns(path, [FileRow(key, text=text) for key, text in read_json_mapping(path, TEXT).items()])
    rows: list[FileRow] = []
    header: dict[str, object] = {}
    for number, text in iterate_json_lines(path, progress=progress):
        if not rows and not header and MARK.encode() in text:
            header = _header(text, path, number)
            if header:
                continue
        line = decode_json(text, AnswerLine, path=path, line=number)
        require_query(path, number, line.query_id, line.video_id, line.sentence)
        rows.append(FileRow(as_id(line.query_id), line.video_id, line.sentence, text=line.answer, line=number))
    return as_columns(path, rows, header=header)


def _header(text: bytes, path: AnyPath, number: int) -> dict[str, object]:
    """Return the first line if it describes the file, else {}; another version is refused."""
    header: dict[str, Any] = decode_json(text, dict[str, Any], path=path, line=number)
    version = header.pop(MARK, None)
    if version is None:
        return {}
    if version != VERSION:
        raise InputError(f"got version {version!r}, expected {VERSION}", path=path, line=number, field=MARK)
    return {MARK: VERSION, **header}


FORMAT = Format(
    "answers",
    "answers in words: JSON Lines (query_id, answer), JSON {query_id: answer}, or a table",
    _recognise,
    _read,
    needs=frozenset({"query_id", "answer"}),
)
