"""Answers of VLMEvalKit as TSV or CSV: ``index``, ``id``, ``video``, ``question``, ``answer``, ``prediction``.

`prediction` is the model's answer; `answer` is the reference and is not used. `id` is the query's, if present; `index`
only counts rows. If the annotations have none of the ids, rows are matched by video and question. VLMEvalKit writes
XLSX by default; save such a sheet as TSV first. Sources: the card of OMTG Bench (columns id, video, question, answer),
the README of Tangent0308/OMTG, and open-compass/VLMEvalKit, ``vlmeval/inference_video.py`` (column prediction).
"""

from __future__ import annotations

from truemoment.data.formats.base import Format
from truemoment.data.formats.head import Head
from truemoment.data.formats.rows import reader
from truemoment.data.formats.table import Headings, answers_of, headings, headings_text

HEADINGS: Headings = {
    "query_id": ("id",),
    "video_id": ("video",),
    "sentence": ("question",),
    "prediction": ("prediction",),
}


def _recognise(head: Head) -> str | None:
    names = {name.strip().lower() for name in headings(head)}
    return f"its headings are {headings_text(head)}" if {"video", "question", "prediction"} <= names else None


FORMAT = Format(
    "vlmevalkit",
    "TSV of VLMEvalKit (id, video, question, prediction)",
    _recognise,
    reader(lambda path, _: answers_of(path, HEADINGS, ("video_id", "sentence", "prediction")), text_field="prediction"),
    numbers_queries=True,
)
