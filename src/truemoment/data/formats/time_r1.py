"""JSON Lines of Time-R1, also for TVGBench: ``qid``, ``pred`` [start, end], ``target``, ``duration``, ``output_text``.

`target` is the reference and is not used. `output_text` is the model's answer, and `pred` Time-R1's own reading of it
(nulls if it found nothing). If every line has the text, the text is read; else `pred`, whose nulls count as failed. In
TVGBench's annotation file `answer` ("13.4-28.1") is the reference, never a prediction. Video and sentence are optional
(``video`` or ``path``, ``sentence`` or ``question``); Time-R1 does not write them: its ids number the queries in its
own order. Source: xiaomi-research/time-r1, ``evaluate.py`` and ``src/vllm_inference/data/data_loader.py``.
"""

from __future__ import annotations

import msgspec

from truemoment.base.errors import InputError
from truemoment.data.formats.base import Format
from truemoment.data.formats.head import Head
from truemoment.data.formats.rows import FileRow, as_id, each_entry, reader

Pair = tuple[float | None, float | None]


class TimeR1Line(msgspec.Struct):
    """A line of the file."""

    qid: str | int | None = None
    pred: Pair | msgspec.UnsetType | None = msgspec.UNSET
    output_text: str | msgspec.UnsetType | None = msgspec.UNSET
    video: str | None = None
    path: str | None = None
    sentence: str | None = None
    question: str | None = None


def _recognise(head: Head) -> str | None:
    keys = head.entry_keys
    return 'its entries have "qid" and "pred"' if {"qid", "pred"} <= keys and "conf" not in keys else None


def _row(line: TimeR1Line) -> FileRow:
    if line.pred is msgspec.UNSET and line.output_text is msgspec.UNSET:
        hint = "answer, start and end of TVGBench are the reference, not a prediction"
        raise InputError("is missing", field="pred", hint=hint)
    video_id = line.path if line.video is None else line.video
    sentence = line.question if line.sentence is None else line.sentence
    if line.qid is None and (video_id is None or sentence is None):
        raise InputError("is missing, expected it or video and sentence", field="qid")
    start, end = line.pred or (None, None)
    moments = [] if start is None or end is None else [(start, end)]
    return FileRow(as_id(line.qid), video_id, sentence, moments, line.output_text, None if moments else "failed")


FORMAT = Format(
    "time-r1",
    "JSON Lines of Time-R1 and TVGBench (qid, pred, output_text)",
    _recognise,
    reader(each_entry(TimeR1Line, _row), field="pred", text_field="output_text"),
    numbers_queries=True,
    needs=frozenset({"qid", "pred", "output_text"}),
)
