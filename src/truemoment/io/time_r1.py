"""JSON Lines of Time-R1, also for TVGBench: ``qid``, ``pred`` [start, end], ``target``, ``duration``, ``output_text``.

`target` is the reference and is not used. `output_text` is what the model said, and `pred` what Time-R1's own reader
made of it (nulls where it found nothing). Where every line has the text, the text is read; else `pred`, whose nulls
count as failed. In TVGBench's annotation file `answer` ("13.4-28.1") is the reference, never a prediction. Video and
sentence are read where they stand beside (``video`` or ``path``, ``sentence`` or ``question``), which Time-R1 itself
does not write: its ids number the queries in its own order. Source: xiaomi-research/time-r1, ``evaluate.py`` and
``src/vllm_inference/data/data_loader.py``.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from truemoment.exceptions import InputError
from truemoment.io.base import AnswerRows, Format, PredictionRows, flatten
from truemoment.io.entries import read_entries
from truemoment.io.head import Head
from truemoment.records import Status

Pair = tuple[float | None, float | None]


class Line(msgspec.Struct):
    """A line of the file."""

    qid: str | int | None = None
    pred: Pair | msgspec.UnsetType | None = msgspec.UNSET
    output_text: str | msgspec.UnsetType | None = msgspec.UNSET
    video: str | None = None
    path: str | None = None
    sentence: str | None = None
    question: str | None = None

    @property
    def file(self) -> str | None:
        """The video's file."""
        return self.path if self.video is None else self.video

    @property
    def query(self) -> str | None:
        """What was looked for."""
        return self.question if self.sentence is None else self.sentence


def recognise(head: Head) -> str | None:
    """Say why a file looks like Time-R1's."""
    keys = head.entry_keys
    if {"qid", "pred"} <= keys and "conf" not in keys:
        return 'its entries have "qid" and "pred"'
    return None


def read(path: Path, progress: bool = False) -> PredictionRows | AnswerRows:
    """Read the file; either every line has the model's text or none has."""
    numbers: list[int] = []
    lines: list[Line] = []
    for number, line in read_entries(path, Line, progress=progress):
        _check(line, path, number)
        numbers.append(number)
        lines.append(line)
    if not lines:
        raise InputError("is empty, expected a line a query", path=path)
    ids = [None if line.qid is None else str(line.qid) for line in lines]
    videos, sentences = [line.file for line in lines], [line.query for line in lines]
    without = [at for at, line in enumerate(lines) if line.output_text is msgspec.UNSET]
    if not without:
        texts = [None if line.output_text is msgspec.UNSET else line.output_text for line in lines]
        return AnswerRows(path, FORMAT.name, numbers, ids, videos, sentences, texts, text_field="output_text")
    if len(without) < len(lines):
        came = f"is missing, and {len(lines) - len(without)} other lines have it; expected all or none"
        raise InputError(came, path=path, line=numbers[without[0]], field="output_text")
    moments = [_moments(line.pred) for line in lines]
    status: list[Status] = ["parsed" if found else "failed" for found in moments]
    return PredictionRows(
        path,
        FORMAT.name,
        numbers,
        ids,
        videos,
        sentences,
        *flatten(path, numbers, moments, field="pred"),
        status=None if all(moments) else status,
        moments_field="pred",
    )


def _check(line: Line, path: Path, number: int) -> None:
    """Refuse a line that says neither what was asked nor what was answered."""
    if line.pred is msgspec.UNSET and line.output_text is msgspec.UNSET:
        hint = "answer, start and end of TVGBench are the reference, not a prediction"
        raise InputError("is missing", path=path, line=number, field="pred", hint=hint)
    if line.qid is None and (line.file is None or line.query is None):
        raise InputError("is missing, expected it or video and sentence", path=path, line=number, field="qid")


def _moments(pred: Pair | msgspec.UnsetType | None) -> list[tuple[float, ...]]:
    """Return the moment that was read, if both its times were."""
    start, end = (None, None) if pred is msgspec.UNSET or pred is None else pred
    return [] if start is None or end is None else [(start, end)]


FORMAT = Format(
    "time-r1",
    "JSON Lines of Time-R1 and TVGBench (qid, pred, output_text)",
    recognise,
    read,
    videos="files",
    numbers_queries=True,
)
