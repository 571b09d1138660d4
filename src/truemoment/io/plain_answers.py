"""Plain answers in words: JSON Lines, one JSON object by query, or a table.

::

    {"truemoment_answers": 1, "model": "..."}
    {"query_id": "YSKX3#0", "answer": "The door opens from 2.5 to 7 seconds."}

A line has ``answer`` and ``query_id``, or ``video_id`` and ``sentence``; other keys are ignored. The first line may
describe the file. The object is ``{QUERY_ID: answer}``. The table (CSV or TSV) has one column ``answer``,
``prediction``, ``response`` or ``output``, beside the headings of :mod:`truemoment.io.table`. A null (or empty, in a
table) answer counts as failed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from truemoment.exceptions import InputError
from truemoment.files import decode_json, iterate_json_lines, read_json_mapping
from truemoment.io.base import AnswerRows, Format
from truemoment.io.entries import first_line
from truemoment.io.head import Head
from truemoment.io.rows import FileRow, answer_rows
from truemoment.io.span_keys import TEXT, is_key
from truemoment.io.table import ABOUT, Headings, columns_of, headings, headings_text, read_table

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


def recognise(head: Head) -> str | None:
    """Say why a file looks like plain answers."""
    keys = head.line_keys
    if MARK in keys:
        return f'its first line says "{MARK}"'
    if "answer" in keys and ("query_id" in keys or {"video_id", "sentence"} <= keys):
        return 'its first line has "answer"'
    if head.is_object:
        return _recognise_object(head)
    try:
        columns = set(columns_of(headings(head), HEADINGS))
    except ValueError:
        return None
    if "answer" in columns and ("query_id" in columns or {"video_id", "sentence"} <= columns):
        return f"its headings are {headings_text(head)}"
    return None


def _recognise_object(head: Head) -> str | None:
    """Say why a JSON object looks like answers by query id: all its values are text."""
    top = {path[0]: kind for path, kind in head.outline.items() if len(path) == 1}
    texts = set(top.values()) == {"text"} and not any(len(path) > 1 for path in head.outline)
    fields = NO_IDS & top.keys() or any(is_key(key) for key in top)
    return "it is an object whose values are text" if texts and not fields else None


def read(path: Path, progress: bool = False) -> AnswerRows:
    """Read the file."""
    first = first_line(path)
    if not first.startswith((b"{", b"[")):
        return answer_rows(path, FORMAT.name, [_table_row(*row) for row in read_table(path, HEADINGS, ("answer",))])
    if Head(Path(), first).line_keys & {"answer", "query_id", "video_id", "sentence", MARK}:
        return _read_lines(path, progress=progress)
    rows = [FileRow(query_id=query_id, text=text) for query_id, text in read_json_mapping(path, TEXT).items()]
    return answer_rows(path, FORMAT.name, rows)


def _table_row(line: int, fields: dict[str, str]) -> FileRow:
    query_id, video_id, sentence = (fields.get(name) or None for name in ("query_id", "video_id", "sentence"))
    return FileRow(line, query_id, video_id, sentence, text=fields["answer"] or None)


def _read_lines(path: Path, *, progress: bool) -> AnswerRows:
    decoder = msgspec.json.Decoder(AnswerLine)
    header: dict[str, object] = {}
    rows: list[FileRow] = []
    for number, text in iterate_json_lines(path, progress=progress):
        if not rows and not header and MARK.encode() in text:
            header = _header(text, path, number)
            if header:
                continue
        try:
            line = decoder.decode(text)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            line = decode_json(text, AnswerLine, path=path, line=number)  # raises, with the place in words
        if line.query_id is None and (line.video_id is None or line.sentence is None):
            came = "is missing, expected it or video_id and sentence"
            raise InputError(came, path=path, line=number, field="query_id")
        query_id = None if line.query_id is None else str(line.query_id)
        rows.append(FileRow(number, query_id, line.video_id, line.sentence, text=line.answer))
    return answer_rows(path, FORMAT.name, rows, header=header)


def _header(text: bytes, path: Path, number: int) -> dict[str, object]:
    """What the first line says of the file, if it says anything of it; another version is refused."""
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
    recognise,
    read,
)
