"""Answers in words, plainly: JSON Lines, one JSON object by query, or a table.

::

    {"truemoment_answers": 1, "model": "..."}
    {"query_id": "YSKX3#0", "answer": "The door opens from 2.5 to 7 seconds."}

A line has ``answer`` beside ``query_id``, or beside ``video_id`` and ``sentence``; the first line may say what the file
is, and other keys are passed over. The object is ``{QUERY_ID: answer}``. The table (CSV or TSV) has one column
``answer``, ``prediction``, ``response`` or ``output``, beside the headings of :mod:`truemoment.io.table`. An answer
that is null (or empty, in a table) is none: it counts as failed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from truemoment.exceptions import InputError
from truemoment.files import (
    decode_entries,
    decode_json,
    iterate_json_lines,
    iterate_lines,
    read_bytes,
    refuse_repeated_keys,
)
from truemoment.io.base import AnswerRows, Format
from truemoment.io.head import Head
from truemoment.io.keyed import TEXT, is_key
from truemoment.io.table import ABOUT, Headings, columns_of, headings, read_table, said_headings

VERSION = 1
MARK = "truemoment_answers"
HEADINGS: Headings = {**ABOUT, "answer": ("answer", "prediction", "response", "output")}
NO_IDS = {"version", "query_id", "qid", "video_id", "video", "vid", "path", "sentence", "query", "question", "answer"}
"""Keys that are names of fields, so that an object with them is no ``{QUERY_ID: answer}``."""


class Line(msgspec.Struct):
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
        return f"its headings are {said_headings(head)}"
    return None


def _recognise_object(head: Head) -> str | None:
    """Say why a JSON object looks like answers by query id: all its values are text."""
    top = {path[0]: kind for path, kind in head.outline.items() if len(path) == 1}
    texts = set(top.values()) == {"text"} and not any(len(path) > 1 for path in head.outline)
    fields = NO_IDS & top.keys() or any(is_key(key) for key in top)
    return "it is an object whose values are text" if texts and not fields else None


def read(path: Path, progress: bool = False) -> AnswerRows:
    """Read the file."""
    first = next((line.strip() for line in iterate_lines(path) if line.strip()), b"")
    if not first.startswith((b"{", b"[")):
        return _read_table(path)
    return _read_lines(path, progress=progress) if _is_lines(first) else _read_object(path)


def _is_lines(first: bytes) -> bool:
    """Whether the first line is one of JSON Lines: a field of ours stands in it."""
    keys = Head(Path(), first).line_keys
    return bool(keys & {"answer", "query_id", "video_id", "sentence", MARK})


def _read_lines(path: Path, *, progress: bool) -> AnswerRows:
    decoder = msgspec.json.Decoder(Line)
    header: dict[str, object] = {}
    numbers: list[int] = []
    lines: list[Line] = []
    for number, text in iterate_json_lines(path, progress=progress):
        if not numbers and not header and MARK.encode() in text:
            header = _header(text, path, number)
            if header:
                continue
        try:
            line = decoder.decode(text)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            line = decode_json(text, Line, path=path, line=number)  # raises, with the place in words
        if line.query_id is None and (line.video_id is None or line.sentence is None):
            came = "is missing, expected it or video_id and sentence"
            raise InputError(came, path=path, line=number, field="query_id")
        numbers.append(number)
        lines.append(line)
    if not lines:
        raise InputError("holds no answer", path=path)
    return AnswerRows(
        path,
        FORMAT.name,
        numbers,
        [None if line.query_id is None else str(line.query_id) for line in lines],
        [line.video_id for line in lines],
        [line.sentence for line in lines],
        [line.answer for line in lines],
        header=header,
    )


def _header(text: bytes, path: Path, number: int) -> dict[str, object]:
    """What the first line says of the file, if it says anything of it; another version is refused."""
    header: dict[str, Any] = decode_json(text, dict[str, Any], path=path, line=number)
    version = header.pop(MARK, None)
    if version is None:
        return {}
    if version != VERSION:
        raise InputError(f"got version {version!r}, expected {VERSION}", path=path, line=number, field=MARK)
    return {MARK: VERSION, **header}


def _read_object(path: Path) -> AnswerRows:
    data = read_bytes(path)
    refuse_repeated_keys(data, path)
    raw = decode_json(data, dict[str, msgspec.Raw], path=path)
    answers = decode_entries(raw, TEXT, data=data, path=path)
    if not answers:
        raise InputError("holds no answer", path=path)
    nothing: list[str | None] = [None] * len(answers)
    return AnswerRows(path, FORMAT.name, None, list(answers), nothing, nothing, list(answers.values()))


def _read_table(path: Path) -> AnswerRows:
    rows = list(read_table(path, HEADINGS, ("answer",)))
    if not rows:
        raise InputError("holds no row below its headings", path=path)
    return AnswerRows(
        path,
        FORMAT.name,
        [line for line, _ in rows],
        [fields.get("query_id") or None for _, fields in rows],
        [fields.get("video_id") or None for _, fields in rows],
        [fields.get("sentence") or None for _, fields in rows],
        [fields["answer"] or None for _, fields in rows],
    )


FORMAT = Format(
    "answers",
    "answers in words: JSON Lines (query_id, answer), JSON {query_id: answer}, or a table",
    recognise,
    read,
)
