"""Answers of VLMEvalKit as TSV or CSV: ``index``, ``id``, ``video``, ``question``, ``answer``, ``prediction``.

`prediction` is the model's answer; `answer` is the reference and is not used. `id` is the query's, if present; `index`
only counts rows. If the annotations have none of the ids, rows are matched by video and question. VLMEvalKit writes
XLSX by default; save such a sheet as TSV first. Sources: the card of OMTG Bench (columns id, video, question, answer),
the README of Tangent0308/OMTG, and open-compass/VLMEvalKit, ``vlmeval/inference_video.py`` (column prediction).
"""

from __future__ import annotations

from pathlib import Path

from truemoment.io.base import AnswerRows, Format
from truemoment.io.head import Head
from truemoment.io.rows import FileRow, answer_rows
from truemoment.io.table import Headings, headings, headings_text, read_table

HEADINGS: Headings = {
    "query_id": ("id",),
    "video_id": ("video",),
    "sentence": ("question",),
    "prediction": ("prediction",),
}


def recognise(head: Head) -> str | None:
    """Return why a file looks like VLMEvalKit's."""
    names = {name.strip().lower() for name in headings(head)}
    return f"its headings are {headings_text(head)}" if {"video", "question", "prediction"} <= names else None


def read(path: Path, progress: bool = False) -> AnswerRows:
    """Read the file."""
    del progress  # read in one piece
    rows = [
        FileRow(line, of.get("query_id") or None, of["video_id"], of["sentence"], text=of["prediction"] or None)
        for line, of in read_table(path, HEADINGS, ("video_id", "sentence", "prediction"))
    ]
    return answer_rows(path, FORMAT.name, rows, field="prediction")


FORMAT = Format(
    "vlmevalkit",
    "TSV of VLMEvalKit (id, video, question, prediction)",
    recognise,
    read,
    videos="files",
    numbers_queries=True,
)
