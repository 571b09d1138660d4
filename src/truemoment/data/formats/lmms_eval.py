"""Answers of lmms-eval: its samples (JSON Lines), or the submission file of its grounding tasks (one JSON object).

A line of samples has ``doc_id``, ``target`` (the reference, not used), ``filtered_resps`` and perhaps ``resps``: the
answer, alone or in lists of one. The query is in ``doc`` (``video`` and ``caption``, or ``video_path`` and ``query``),
in versions that write it, else in the key ``video>>>caption>>>span`` of the task's result. Each line is a separate
answer, even if video, caption and time are those of another. A submission is ``{"video>>>caption>>>span": answer}``, in
which such duplicates are already lost. Source: EvolvingLMMs-Lab/lmms-eval, ``lmms_eval/evaluator.py``,
``lmms_eval/loggers/evaluation_tracker.py``, ``lmms_eval/tasks/charades_sta/utils.py`` and
``lmms_eval/tasks/timelens/utils.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import msgspec

from truemoment.base.boundary.files import decode_json, read_json_lines, read_json_mapping
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.data.formats.base import Format
from truemoment.data.formats.entries import first_line, is_one_object
from truemoment.data.formats.head import Head
from truemoment.data.formats.rows import FileRow, reader
from truemoment.data.formats.span_keys import PART, TEXT, is_key, recognise_keys, split_key

FORM = "video>>>caption>>>span"
RESPONSES = ("filtered_resps", "resps")
TEXTS = cast(type[str | list[object] | None], str | list[object] | None)  # a type to msgspec, not to mypy


class LmmsEvalDoc(msgspec.Struct):
    """The query of a line."""

    video: str | None = None
    video_path: str | None = None
    caption: str | None = None
    query: str | None = None


def _recognise(head: Head) -> str | None:
    if "doc_id" in head.line_keys and head.line_keys & set(RESPONSES):
        return 'its first line has "doc_id" and responses'
    return recognise_keys(FORM, "text", "text")(head)


def _rows(path: AnyPath, progress: bool) -> Iterator[FileRow]:
    """Yield the rows of a submission, which is one object and not a single line of samples, or of samples."""
    if Head(path, first_line(path)).line_keys & {"doc_id", *RESPONSES} or not is_one_object(path):
        for number, line in read_json_lines(path, dict[str, msgspec.Raw], progress=progress):
            yield FileRow(None, *_query(line, path, number), text=_text(line, path, number), line=number)
        return
    for key, text in read_json_mapping(path, TEXT).items():
        yield FileRow(None, *split_key(key, FORM, path), text=text, line=1)


def _query(line: dict[str, msgspec.Raw], path: AnyPath, number: int) -> tuple[str | None, str | None]:
    """Return the video and sentence of a line."""
    if "doc" in line:
        doc = decode_json(bytes(line["doc"]), LmmsEvalDoc, path=path, line=number, field="doc")
        video = doc.video_path if doc.video is None else doc.video
        sentence = doc.query if doc.caption is None else doc.caption
        for name, value in (("video", video), ("caption", sentence)):
            if value is None:
                raise InputError("is missing", path=path, line=number, field=f"doc.{name}")
        return video, sentence
    for raw in line.values():
        if bytes(raw).startswith(b"{") and PART.encode() in bytes(raw):
            values = decode_json(bytes(raw), dict[str, msgspec.Raw], path=path, line=number)
            keys = [key for key in values if is_key(key)]
            if len(keys) == 1:
                return split_key(keys[0], FORM, path)
    raise InputError("is missing, expected it or a key video>>>caption>>>span", path=path, line=number, field="doc")


def _text(line: dict[str, msgspec.Raw], path: AnyPath, number: int) -> str | None:
    """Return the one answer of a line, out of the lists it may be in."""
    field = next((name for name in RESPONSES if name in line), None)
    if field is None:
        raise InputError("is missing", path=path, line=number, field=RESPONSES[0])
    value: object = decode_json(bytes(line[field]), TEXTS, path=path, line=number, field=field)
    while isinstance(value, list):
        if len(value) != 1:
            raise InputError(f"got {len(value)} responses, expected one", path=path, line=number, field=field)
        value = value[0]
    if not (value is None or isinstance(value, str)):
        raise InputError(f"got {value!r}, expected text", path=path, line=number, field=field)
    return value


FORMAT = Format(
    "lmms-eval",
    "lmms-eval samples (JSON Lines) or submission (video>>>caption>>>span: answer)",
    _recognise,
    reader(_rows, text_field="filtered_resps"),
    needs=frozenset({"doc_id", "doc", "filtered_resps"}),
)
