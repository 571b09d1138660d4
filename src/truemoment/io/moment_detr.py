"""moment_detr JSON Lines, also written by lighthouse, UniVTG, R2-Tuning and others.

A line a query: ``qid``, ``query``, ``vid``, ``pred_relevant_windows`` [[start, end, score], ...] in
seconds and, for highlights, ``pred_saliency_scores``, one number a clip. It is also what QVHighlights' server takes,
where a `qid` is a whole number.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from truemoment.exceptions import InputError
from truemoment.files import atomic_write, read_json_lines
from truemoment.io.base import Format, PredictionRows, flatten, flatten_lists, listed
from truemoment.io.entries import whole_id
from truemoment.io.head import Head


class Line(msgspec.Struct):
    """A line of the file."""

    qid: str | int
    pred_relevant_windows: list[tuple[float, ...]]
    vid: str | None = None
    query: str | None = None
    pred_saliency_scores: list[float] | None = None


def recognise(head: Head) -> str | None:
    """Say why a file looks like moment_detr's."""
    return 'its first line has "pred_relevant_windows"' if "pred_relevant_windows" in head.line_keys else None


def read(path: Path, progress: bool = False) -> PredictionRows:
    """Read the file; either every line has clip ratings or none has."""
    numbers: list[int] = []
    lines: list[Line] = []
    for number, line in read_json_lines(path, Line, progress=progress):
        numbers.append(number)
        lines.append(line)
    if not lines:
        raise InputError("is empty, expected a line a query", path=path)
    saliency_offsets = saliency = None
    rated = [line.pred_saliency_scores for line in lines if line.pred_saliency_scores is not None]
    if len(rated) == len(lines):
        saliency_offsets, saliency = flatten_lists(rated)
    elif rated:
        first = next(n for n, line in zip(numbers, lines, strict=True) if line.pred_saliency_scores is None)
        raise InputError(
            f"is missing, and {len(rated)} other lines have it; expected all or none",
            path=path,
            line=first,
            field="pred_saliency_scores",
        )
    return PredictionRows(
        path,
        FORMAT.name,
        numbers,
        [str(line.qid) for line in lines],
        [line.vid for line in lines],
        [line.query for line in lines],
        *flatten(path, numbers, [line.pred_relevant_windows for line in lines], field="pred_relevant_windows"),
        saliency_offsets=saliency_offsets,
        saliency=saliency,
        moments_field="pred_relevant_windows",
    )


def write(path: Path, rows: PredictionRows) -> None:
    """Write the file, complete or not at all; an id of digits is written as a whole number, as the server wants it."""
    encoder = msgspec.json.Encoder()
    ratings = None if rows.saliency is None else rows.saliency.tolist()
    clips = None if rows.saliency_offsets is None else rows.saliency_offsets.tolist()
    with atomic_write(path) as stream:
        columns = zip(rows.query_id, rows.sentence, rows.video_id, listed(rows), strict=True)
        for at, (query_id, sentence, video_id, moments) in enumerate(columns):
            line: dict[str, object] = {"qid": whole_id(query_id or ""), "query": sentence, "vid": video_id}
            line = {name: value for name, value in line.items() if value is not None}
            line["pred_relevant_windows"] = moments
            if ratings is not None and clips is not None:
                line["pred_saliency_scores"] = ratings[clips[at] : clips[at + 1]]
            stream.write(encoder.encode(line) + b"\n")


FORMAT = Format(
    "moment-detr",
    "moment_detr JSON Lines (qid, pred_relevant_windows), QVHighlights submissions",
    recognise,
    read,
    write,
    loses=frozenset({"statuses", "ids"}),
    numbers_queries=True,
)
