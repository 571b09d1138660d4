"""JSON Lines of CONE and RGNet for MAD: ``query_id``, ``video_id`` and ``predicted_times`` on each line.

A moment is [start, end], [start, end, score], or what CONE itself writes: [start, end, proposal score, matching score,
their sum]. By which of the three the list was ranked the file does not say, so its order is the rank then and no score
is read. Sources: houzhijian/CONE, ``cone/inference.py`` and ``standalone_eval/evaluate_mad.py``; Tanveer81/RGNet,
``rgnet/inference.py``.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from truemoment.exceptions import InputError
from truemoment.files import atomic_write
from truemoment.io.base import Format, PredictionRows, flatten, listed
from truemoment.io.entries import read_entries, whole_id
from truemoment.io.head import Head

SCORES_OF_THREE_KINDS = 5
"""Values of a moment with proposal, matching and fused score."""


class Line(msgspec.Struct):
    """A line of the file."""

    query_id: str | int
    predicted_times: list[tuple[float, ...]]
    video_id: str | None = None


def recognise(head: Head) -> str | None:
    """Say why a file looks like CONE's."""
    if {"query_id", "predicted_times"} <= head.line_keys:
        return 'its first line has "predicted_times"'
    return None


def read(path: Path, progress: bool = False) -> PredictionRows:
    """Read the file."""
    numbers: list[int] = []
    ids: list[str | None] = []
    videos: list[str | None] = []
    moments: list[list[tuple[float, ...]]] = []
    for number, line in read_entries(path, Line, progress=progress):
        numbers.append(number)
        ids.append(str(line.query_id))
        videos.append(line.video_id)
        moments.append(ranked(line.predicted_times))
    if not ids:
        raise InputError("is empty, expected a line a query", path=path)
    return PredictionRows(
        path,
        FORMAT.name,
        numbers,
        ids,
        videos,
        [None] * len(ids),
        *flatten(path, numbers, moments, field="predicted_times"),
        moments_field="predicted_times",
    )


def ranked(moments: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """Return the moments without their scores where each has three kinds of them: the order is the rank."""
    if all(len(moment) == SCORES_OF_THREE_KINDS for moment in moments):
        return [moment[:2] for moment in moments]
    return moments


def write(path: Path, rows: PredictionRows) -> None:
    """Write the file, complete or not at all."""
    encoder = msgspec.json.Encoder()
    with atomic_write(path) as stream:
        for query_id, video_id, moments in zip(rows.query_id, rows.video_id, listed(rows), strict=True):
            about = {} if video_id is None else {"video_id": video_id}
            line = {"query_id": whole_id(query_id or ""), **about, "predicted_times": moments}
            stream.write(encoder.encode(line) + b"\n")


FORMAT = Format(
    "cone",
    "JSON Lines of CONE, RGNet and MAD (query_id, predicted_times)",
    recognise,
    read,
    write,
    loses=frozenset({"ratings", "statuses", "ids"}),
)
