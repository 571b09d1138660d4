"""Answers of lmms-eval: its samples (JSON Lines), or the submission file of its grounding tasks (one JSON object).

A line of samples has ``doc_id``, ``target`` (the reference, not used), ``filtered_resps`` and perhaps ``resps``: the
answer, alone or in lists of one. The query stands in ``doc`` (``video`` and ``caption``, or ``video_path`` and
``query``), where the version wrote it, else in the key ``video>>>caption>>>span`` of what the task handed on. Each line
is an answer of its own, also where video, caption and time are those of another. A submission is
``{"video>>>caption>>>span": answer}``, in which such duplicates are already lost. Source: EvolvingLMMs-Lab/lmms-eval,
``lmms_eval/evaluator.py``, ``lmms_eval/loggers/evaluation_tracker.py``, ``lmms_eval/tasks/charades_sta/utils.py`` and
``lmms_eval/tasks/timelens/utils.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import msgspec

from truemoment.exceptions import InputError
from truemoment.files import (
    decode_entries,
    decode_json,
    iterate_lines,
    read_bytes,
    read_json_lines,
    refuse_repeated_keys,
)
from truemoment.io.base import AnswerRows, Format
from truemoment.io.head import Head
from truemoment.io.keyed import PART, TEXT, is_key, split_key
from truemoment.io.timelens import is_one_object

RESPONSES = ("filtered_resps", "resps")
TEXTS = cast(type[str | list[object] | None], str | list[object] | None)  # a type to msgspec, not to mypy
Query = tuple[str | None, str | None]
"""Video and sentence."""


class Doc(msgspec.Struct):
    """The query of a line."""

    video: str | None = None
    video_path: str | None = None
    caption: str | None = None
    query: str | None = None


def recognise(head: Head) -> str | None:
    """Say why a file looks like lmms-eval's."""
    if "doc_id" in head.line_keys and head.line_keys & set(RESPONSES):
        return 'its first line has "doc_id" and responses'
    for path, kind in head.outline.items():
        if len(path) == 1:
            fits = is_key(path[0]) and kind == "text" and head.is_object
            return 'its keys are "video>>>caption>>>span", its values text' if fits else None
    return None


def read(path: Path, progress: bool = False) -> AnswerRows:
    """Read the file."""
    lines: list[int] = []
    queries: list[Query] = []
    texts: list[str | None] = []
    for line, query, text in _submission(path) if _is_submission(path) else _samples(path, progress=progress):
        lines.append(line)
        queries.append(query)
        texts.append(text)
    if not lines:
        raise InputError("holds no answer", path=path)
    return AnswerRows(
        path,
        FORMAT.name,
        lines,
        [None] * len(lines),
        [video for video, _ in queries],
        [sentence for _, sentence in queries],
        texts,
        text_field="filtered_resps",
    )


def _is_submission(path: Path) -> bool:
    """Whether the file is one object, and not a single line of samples."""
    first = next((line.strip() for line in iterate_lines(path) if line.strip()), b"")
    return not Head(path, first).line_keys & {"doc_id", *RESPONSES} and is_one_object(path)


def _submission(path: Path) -> Iterator[tuple[int, Query, str | None]]:
    data = read_bytes(path)
    refuse_repeated_keys(data, path)
    raw = decode_json(data, dict[str, msgspec.Raw], path=path)
    for key, text in decode_entries(raw, TEXT, data=data, path=path).items():
        if not is_key(key):
            raise InputError(f"got key {key[:60]!r}, expected video>>>caption>>>span", path=path)
        yield 1, split_key(key), text


def _samples(path: Path, *, progress: bool) -> Iterator[tuple[int, Query, str | None]]:
    for number, line in read_json_lines(path, dict[str, msgspec.Raw], progress=progress):
        yield number, _query(line, path, number), _text(line, path, number)


def _query(line: dict[str, msgspec.Raw], path: Path, number: int) -> Query:
    """Return the video and sentence a line answers."""
    if "doc" in line:
        doc = decode_json(bytes(line["doc"]), Doc, path=path, line=number, field="doc")
        video = doc.video_path if doc.video is None else doc.video
        sentence = doc.query if doc.caption is None else doc.caption
        for name, value in (("video", video), ("caption", sentence)):
            if value is None:
                raise InputError("is missing", path=path, line=number, field=f"doc.{name}")
        return video, sentence
    for raw in line.values():
        if bytes(raw).startswith(b"{") and PART.encode() in bytes(raw):
            handed_on = decode_json(bytes(raw), dict[str, msgspec.Raw], path=path, line=number)
            keys = [key for key in handed_on if is_key(key)]
            if len(keys) == 1:
                return split_key(keys[0])
    raise InputError("is missing, expected it or a key video>>>caption>>>span", path=path, line=number, field="doc")


def _text(line: dict[str, msgspec.Raw], path: Path, number: int) -> str | None:
    """Return the one answer of a line, out of the lists it may stand in."""
    field = next((name for name in RESPONSES if name in line), None)
    if field is None:
        raise InputError("is missing", path=path, line=number, field=RESPONSES[0])
    found: object = decode_json(bytes(line[field]), TEXTS, path=path, line=number, field=field)
    while isinstance(found, list):
        if len(found) != 1:
            raise InputError(f"got {len(found)} responses, expected one", path=path, line=number, field=field)
        found = found[0]
    if not (found is None or isinstance(found, str)):
        raise InputError(f"got {found!r}, expected text", path=path, line=number, field=field)
    return found


FORMAT = Format(
    "lmms-eval",
    "lmms-eval samples (JSON Lines) or submission (video>>>caption>>>span: answer)",
    recognise,
    read,
    videos="files",
)
