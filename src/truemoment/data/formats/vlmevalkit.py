"""Answers of VLMEvalKit as TSV, CSV or JSON: ``index``, ``id``, ``video``, ``question``, ``answer``, ``prediction``.

`prediction` is the model's answer; `answer` is the reference and is not used. `id` is the query's, if present;
`index` only counts rows. If the annotations have none of the ids, rows are matched by video and question. VLMEvalKit
writes XLSX by default; save such a sheet as TSV first, or set its variable ``PRED_FORMAT`` to tsv or json. Sources:
the card of OMTG Bench (columns id, video, question, answer), the README of Tangent0308/OMTG, and
open-compass/VLMEvalKit, ``vlmeval/inference_video.py`` (column prediction).
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from truemoment.base.boundary.own_path import AnyPath
from truemoment.data.formats.base import Format
from truemoment.data.formats.entries import first_line
from truemoment.data.formats.head import Head
from truemoment.data.formats.rows import FileRow, as_id, each_entry, reader
from truemoment.data.formats.table import Headings, answers_of, headings, headings_text

HEADINGS: Headings = {
    "query_id": ("id",),
    "video_id": ("video",),
    "sentence": ("question",),
    "prediction": ("prediction",),
}


class VlmEvalKitEntry(msgspec.Struct):
    """An entry of JSON."""

    video: str
    question: str
    prediction: str | None
    id: str | int | None = None


def _recognise(head: Head) -> str | None:
    needed = {"video", "question", "prediction"}
    if needed <= head.entry_keys:
        return 'its entries have "question" and "prediction"'
    names = {name.strip().lower() for name in headings(head)}
    return f"its headings are {headings_text(head)}" if needed <= names else None


def _rows(path: AnyPath, progress: bool) -> Iterable[FileRow]:
    if first_line(path).startswith((b"[", b"{")):
        return each_entry(VlmEvalKitEntry, _row)(path, progress)
    return answers_of(path, HEADINGS, ("video_id", "sentence", "prediction"))


def _row(entry: VlmEvalKitEntry) -> FileRow:
    return FileRow(as_id(entry.id), entry.video, entry.question, text=entry.prediction)


FORMAT = Format(
    "vlmevalkit",
    "TSV or JSON of VLMEvalKit (id, video, question, prediction)",
    _recognise,
    reader(_rows, text_field="prediction"),
    numbers_queries=True,
    needs=frozenset({"index", "video", "question", "prediction"}),
)
