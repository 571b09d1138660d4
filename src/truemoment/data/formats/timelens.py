"""TimeLens' JSON or JSON Lines: objects keyed ``video>>>query>>>span`` with ``timestamps`` and ``answers``.

The span in the key is the reference and is not used. `answers` is the model's answer; `timestamps` TimeLens' own
reading of it, rounded to the dataset's unit, and filled with a moment after the video's end if it found nothing. If
every entry has the text, the text is read; else `timestamps`, in their order. A query on two lines is two answers.
Source: TencentARC/TimeLens, ``evaluation/eval_dataloader.py`` and ``compute_metrics.py``.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from truemoment.base.boundary.files import decode_json, iterate_json_lines, read_json_mapping
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.data.formats.base import Format
from truemoment.data.formats.entries import is_one_object
from truemoment.data.formats.rows import FileRow, reader
from truemoment.data.formats.span_keys import recognise_keys, split_key

FORM = "video>>>query>>>span"


class TimeLensAnswer(msgspec.Struct):
    """The value of a key."""

    timestamps: list[tuple[float, float]] | None = None
    answers: str | msgspec.UnsetType | None = msgspec.UNSET


def _rows(path: AnyPath, progress: bool) -> Iterator[FileRow]:
    for line, key, answer in _entries(path, progress=progress):
        about = split_key(key, FORM, path, line)
        if answer.answers is msgspec.UNSET and answer.timestamps is None:
            raise InputError("is missing, expected it or timestamps", path=path, line=line, field=f"{key}.answers")
        yield FileRow(None, *about, answer.timestamps or [], answer.answers, line=line, within=f"{key}.")


def _entries(path: AnyPath, *, progress: bool) -> Iterator[tuple[int, str, TimeLensAnswer]]:
    """Yield (line, key, answer) of one object over the whole file or of an object a line."""
    if is_one_object(path):
        for key, answer in read_json_mapping(path, TimeLensAnswer).items():
            yield 1, key, answer
        return
    for number, line in iterate_json_lines(path, progress=progress):
        for key, answer in decode_json(line, dict[str, TimeLensAnswer], path=path, line=number).items():
            yield number, key, answer


FORMAT = Format(
    "timelens",
    "TimeLens JSON (video>>>query>>>span: timestamps, answers)",
    recognise_keys(FORM, "object", "objects"),
    reader(_rows, field="timestamps", text_field="answers"),
    needs=frozenset({"timestamps", "answers"}),
)
