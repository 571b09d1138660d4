"""TimeLens' JSON or JSON Lines: objects keyed ``video>>>query>>>span`` with ``timestamps`` and ``answers``.

The span in the key is the reference and is not used. `answers` is what the model said; `timestamps` what TimeLens' own
reader made of it, rounded to the data set's unit, and filled with a moment behind the video's end where it found
nothing. Where every entry has the text, the text is read; else `timestamps`, in their order. A query that stands on two
lines is two answers. Source: TencentARC/TimeLens, ``evaluation/eval_dataloader.py`` and ``compute_metrics.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

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
from truemoment.io.base import AnswerRows, Format, PredictionRows, flatten
from truemoment.io.head import Head
from truemoment.io.keyed import is_key, split_key


class Answer(msgspec.Struct):
    """What stands under a key."""

    timestamps: list[tuple[float, float]] | None = None
    answers: str | msgspec.UnsetType | None = msgspec.UNSET


def recognise(head: Head) -> str | None:
    """Say why a file looks like TimeLens'."""
    for path, kind in head.outline.items():
        if len(path) == 1:
            fits = is_key(path[0]) and kind == "object" and head.is_object
            return 'its keys are "video>>>query>>>span", its values objects' if fits else None
    return None


def read(path: Path, progress: bool = False) -> PredictionRows | AnswerRows:
    """Read the file; either every entry has the model's text or none has."""
    lines: list[int] = []
    keys: list[str] = []
    answers: list[Answer] = []
    for line, key, answer in _entries(path, progress=progress):
        if not is_key(key):
            raise InputError(f"got key {key[:60]!r}, expected video>>>query>>>span", path=path, line=line)
        if answer.answers is msgspec.UNSET and answer.timestamps is None:
            raise InputError("is missing, expected it or timestamps", path=path, line=line, field=f"{key}.answers")
        lines.append(line)
        keys.append(key)
        answers.append(answer)
    if not keys:
        raise InputError("holds no answer", path=path)
    nameless: list[str | None] = [None] * len(keys)
    videos = [split_key(key)[0] for key in keys]
    sentences = [split_key(key)[1] for key in keys]
    without = [at for at, answer in enumerate(answers) if answer.answers is msgspec.UNSET]
    if not without:
        texts = [None if answer.answers is msgspec.UNSET else answer.answers for answer in answers]
        return AnswerRows(path, FORMAT.name, lines, nameless, videos, sentences, texts, text_field="answers")
    if len(without) < len(keys):
        came = f"is missing, and {len(keys) - len(without)} others have it; expected all or none"
        raise InputError(came, path=path, line=lines[without[0]], field=f"{keys[without[0]]}.answers")
    moments = [answer.timestamps or [] for answer in answers]
    return PredictionRows(
        path,
        FORMAT.name,
        lines,
        nameless,
        videos,
        sentences,
        *flatten(path, lines, moments, field="timestamps"),
        moments_field="timestamps",
    )


def _entries(path: Path, *, progress: bool) -> Iterator[tuple[int, str, Answer]]:
    """Yield (line, key, answer), of one object over the whole file or of an object a line."""
    if is_one_object(path):
        data = read_bytes(path)
        refuse_repeated_keys(data, path)
        raw = decode_json(data, dict[str, msgspec.Raw], path=path)
        for key, answer in decode_entries(raw, Answer, data=data, path=path).items():
            yield 1, key, answer
        return
    for number, line in iterate_json_lines(path, progress=progress):
        for key, answer in decode_json(line, dict[str, Answer], path=path, line=number).items():
            yield number, key, answer


def is_one_object(path: Path) -> bool:
    """Whether a JSON file is one object rather than an object a line."""
    first = None
    for line in iterate_lines(path):
        if first is None:
            first = line.strip() or None
            if first is not None and not first.endswith(b"}"):
                return True
        elif line.strip():
            return not line.lstrip().startswith(b"{")
    return True


FORMAT = Format(
    "timelens",
    "TimeLens JSON (video>>>query>>>span: timestamps, answers)",
    recognise,
    read,
    videos="files",
)
