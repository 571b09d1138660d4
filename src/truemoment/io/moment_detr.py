"""moment_detr JSON Lines, also written by lighthouse, UniVTG, R2-Tuning and others.

A line a query: ``qid``, ``query``, ``vid``, ``pred_relevant_windows`` [[start, end, score], ...] in
seconds and, for highlights, ``pred_saliency_scores``, one number a clip. It is also what QVHighlights' server takes,
where a `qid` is a whole number.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from truemoment.files import read_json_lines
from truemoment.io.base import Format, PredictionRows, flatten_lists, listed
from truemoment.io.entries import whole_id
from truemoment.io.head import Head
from truemoment.io.rows import FileRow, all_have, prediction_rows, write_lines


class MomentDetrLine(msgspec.Struct):
    """A line of the file."""

    qid: str | int
    pred_relevant_windows: list[tuple[float, ...]]
    vid: str | None = None
    query: str | None = None
    pred_saliency_scores: list[float] | None = None


def recognise(head: Head) -> str | None:
    """Return why a file looks like moment_detr's."""
    return 'its first line has "pred_relevant_windows"' if "pred_relevant_windows" in head.line_keys else None


def read(path: Path, progress: bool = False) -> PredictionRows:
    """Read the file; either every line has clip ratings or none has."""
    rows: list[FileRow] = []
    ratings: list[list[float] | None] = []
    for number, line in read_json_lines(path, MomentDetrLine, progress=progress):
        rows.append(FileRow(number, str(line.qid), line.vid, line.query, line.pred_relevant_windows))
        ratings.append(line.pred_saliency_scores)
    has = [rating is not None for rating in ratings]
    rated = rows and all_have(has, path, [row.line for row in rows], "pred_saliency_scores")
    offsets, saliency = flatten_lists([rating or [] for rating in ratings]) if rated else (None, None)
    return prediction_rows(
        path, FORMAT.name, rows, field="pred_relevant_windows", saliency_offsets=offsets, saliency=saliency
    )


def write(path: Path, rows: PredictionRows) -> None:
    """Write the file; an id of digits is written as a whole number, as the server expects it."""
    saliency: list[list[float]] | None = None
    if rows.saliency is not None and rows.saliency_offsets is not None:
        saliency = [part.tolist() for part in np.split(rows.saliency, rows.saliency_offsets[1:-1])]
    columns = zip(rows.query_id, rows.sentence, rows.video_id, listed(rows), strict=True)
    write_lines(
        path,
        (
            {
                "qid": whole_id(query_id or ""),
                "query": sentence,
                "vid": video_id,
                "pred_relevant_windows": moments,
                "pred_saliency_scores": None if saliency is None else saliency[at],
            }
            for at, (query_id, sentence, video_id, moments) in enumerate(columns)
        ),
    )


FORMAT = Format(
    "moment-detr",
    "moment_detr JSON Lines (qid, pred_relevant_windows), QVHighlights submissions",
    recognise,
    read,
    write,
    loses=frozenset({"statuses", "ids"}),
    numbers_queries=True,
)
