"""Answers of VLMEvalKit as TSV or CSV: ``index``, ``id``, ``video``, ``question``, ``answer``, ``prediction``.

`prediction` is what the model said; `answer` is the reference and is not used. `id` is the query's where it stands;
`index` only counts rows. Where the annotations know none of the ids, rows go by video and question. VLMEvalKit writes
XLSX unless told otherwise; such a sheet is saved as TSV first. Sources: the card of OMTG Bench (columns id, video,
question, answer), the README of Tangent0308/OMTG, and open-compass/VLMEvalKit, ``vlmeval/inference_video.py``
(column prediction).
"""

from __future__ import annotations

from pathlib import Path

from truemoment.exceptions import InputError
from truemoment.io.base import AnswerRows, Format
from truemoment.io.head import Head
from truemoment.io.table import Headings, headings, read_table, said_headings

HEADINGS: Headings = {
    "query_id": ("id",),
    "video_id": ("video",),
    "sentence": ("question",),
    "prediction": ("prediction",),
}


def recognise(head: Head) -> str | None:
    """Say why a file looks like VLMEvalKit's."""
    names = {name.strip().lower() for name in headings(head)}
    return f"its headings are {said_headings(head)}" if {"video", "question", "prediction"} <= names else None


def read(path: Path, progress: bool = False) -> AnswerRows:
    """Read the file."""
    del progress  # read in one piece
    rows = list(read_table(path, HEADINGS, ("video_id", "sentence", "prediction")))
    if not rows:
        raise InputError("holds no row below its headings", path=path)
    return AnswerRows(
        path,
        FORMAT.name,
        [line for line, _ in rows],
        [fields.get("query_id") or None for _, fields in rows],
        [fields["video_id"] for _, fields in rows],
        [fields["sentence"] for _, fields in rows],
        [fields["prediction"] or None for _, fields in rows],
        text_field="prediction",
    )


FORMAT = Format(
    "vlmevalkit",
    "TSV of VLMEvalKit (id, video, question, prediction)",
    recognise,
    read,
    videos="files",
    numbers_queries=True,
)
