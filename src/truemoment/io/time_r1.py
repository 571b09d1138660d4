"""JSON Lines of Time-R1, also for TVGBench: ``qid``, ``pred`` [start, end], ``target``, ``duration``, ``output_text``.

`target` is the reference and is not used. `output_text` is the model's answer, and `pred` Time-R1's own reading of it
(nulls if it found nothing). If every line has the text, the text is read; else `pred`, whose nulls count as failed. In
TVGBench's annotation file `answer` ("13.4-28.1") is the reference, never a prediction. Video and sentence are optional
(``video`` or ``path``, ``sentence`` or ``question``); Time-R1 does not write them: its ids number the queries in its
own order. Source: xiaomi-research/time-r1, ``evaluate.py`` and ``src/vllm_inference/data/data_loader.py``.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from truemoment.exceptions import InputError
from truemoment.io.base import AnswerRows, Format, PredictionRows
from truemoment.io.entries import read_entries
from truemoment.io.head import Head
from truemoment.io.rows import FileRow, all_have, answer_rows, prediction_rows

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


def recognise(head: Head) -> str | None:
    """Return why a file looks like Time-R1's."""
    keys = head.entry_keys
    if {"qid", "pred"} <= keys and "conf" not in keys:
        return 'its entries have "qid" and "pred"'
    return None


def read(path: Path, progress: bool = False) -> PredictionRows | AnswerRows:
    """Read the file; either every line has the model's text or none has."""
    rows: list[FileRow] = []
    has_text: list[bool] = []
    for number, line in read_entries(path, TimeR1Line, progress=progress):
        rows.append(_row(line, path, number))
        has_text.append(line.output_text is not msgspec.UNSET)
    if rows and all_have(has_text, path, [row.line for row in rows], "output_text"):
        return answer_rows(path, FORMAT.name, rows, field="output_text")
    status = None if all(row.moments for row in rows) else [row.status for row in rows]
    return prediction_rows(path, FORMAT.name, rows, field="pred", status=status)


def _row(line: TimeR1Line, path: Path, number: int) -> FileRow:
    """Return a line as a row; one without a query or without an answer is refused."""
    if line.pred is msgspec.UNSET and line.output_text is msgspec.UNSET:
        hint = "answer, start and end of TVGBench are the reference, not a prediction"
        raise InputError("is missing", path=path, line=number, field="pred", hint=hint)
    video_id = line.path if line.video is None else line.video
    sentence = line.question if line.sentence is None else line.sentence
    if line.qid is None and (video_id is None or sentence is None):
        raise InputError("is missing, expected it or video and sentence", path=path, line=number, field="qid")
    start, end = (None, None) if line.pred is msgspec.UNSET or line.pred is None else line.pred
    moments = [] if start is None or end is None else [(start, end)]
    text = None if line.output_text is msgspec.UNSET else line.output_text
    query_id = None if line.qid is None else str(line.qid)
    return FileRow(number, query_id, video_id, sentence, moments, text, "parsed" if moments else "failed")


FORMAT = Format(
    "time-r1",
    "JSON Lines of Time-R1 and TVGBench (qid, pred, output_text)",
    recognise,
    read,
    videos="files",
    numbers_queries=True,
)
