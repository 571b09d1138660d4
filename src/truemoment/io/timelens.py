"""TimeLens' JSON or JSON Lines: objects keyed ``video>>>query>>>span`` with ``timestamps`` and ``answers``.

The span in the key is the reference and is not used. `answers` is the model's answer; `timestamps` TimeLens' own
reading of it, rounded to the dataset's unit, and filled with a moment after the video's end if it found nothing. If
every entry has the text, the text is read; else `timestamps`, in their order. A query on two lines is two answers.
Source: TencentARC/TimeLens, ``evaluation/eval_dataloader.py`` and ``compute_metrics.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from truemoment.exceptions import InputError
from truemoment.files import decode_json, iterate_json_lines, read_json_mapping
from truemoment.io.base import AnswerRows, Format, PredictionRows
from truemoment.io.entries import is_one_object
from truemoment.io.head import Head
from truemoment.io.rows import FileRow, all_have, answer_rows, prediction_rows
from truemoment.io.span_keys import is_key, split_key


class TimeLensAnswer(msgspec.Struct):
    """The value of a key."""

    timestamps: list[tuple[float, float]] | None = None
    answers: str | msgspec.UnsetType | None = msgspec.UNSET


def recognise(head: Head) -> str | None:
    """Return why a file looks like TimeLens'."""
    for path, kind in head.outline.items():
        if len(path) == 1:
            fits = is_key(path[0]) and kind == "object" and head.is_object
            return 'its keys are "video>>>query>>>span", its values objects' if fits else None
    return None


def read(path: Path, progress: bool = False) -> PredictionRows | AnswerRows:
    """Read the file; either every entry has the model's text or none has."""
    rows: list[FileRow] = []
    keys: list[str] = []
    has_text: list[bool] = []
    for line, key, answer in _entries(path, progress=progress):
        if not is_key(key):
            raise InputError(f"got key {key[:60]!r}, expected video>>>query>>>span", path=path, line=line)
        text = answer.answers
        if text is msgspec.UNSET and answer.timestamps is None:
            raise InputError("is missing, expected it or timestamps", path=path, line=line, field=f"{key}.answers")
        moments = answer.timestamps or []
        rows.append(FileRow(line, None, *split_key(key), moments, None if text is msgspec.UNSET else text))
        keys.append(key)
        has_text.append(text is not msgspec.UNSET)
    if rows and all_have(has_text, path, [row.line for row in rows], lambda at: f"{keys[at]}.answers"):
        return answer_rows(path, FORMAT.name, rows, field="answers")
    return prediction_rows(path, FORMAT.name, rows, field="timestamps")


def _entries(path: Path, *, progress: bool) -> Iterator[tuple[int, str, TimeLensAnswer]]:
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
    recognise,
    read,
    videos="files",
)
