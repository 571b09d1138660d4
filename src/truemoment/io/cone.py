"""JSON Lines of CONE and RGNet for MAD: ``query_id``, ``video_id`` and ``predicted_times`` on each line.

A moment is [start, end], [start, end, score], or what CONE itself writes: [start, end, proposal score, matching score,
their sum]. By which of the three the list was ranked the file does not say, so its order is the rank then and no score
is read. Sources: houzhijian/CONE, ``cone/inference.py`` and ``standalone_eval/evaluate_mad.py``; Tanveer81/RGNet,
``rgnet/inference.py``.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from truemoment.io.base import Format, PredictionRows, listed
from truemoment.io.entries import read_entries, whole_id
from truemoment.io.head import Head
from truemoment.io.rows import FileRow, Moments, prediction_rows, write_lines

SCORES_OF_THREE_KINDS = 5
"""Values of a moment with proposal, matching and fused score."""


class ConeLine(msgspec.Struct):
    """A line of the file."""

    query_id: str | int
    predicted_times: list[tuple[float, ...]]
    video_id: str | None = None


def recognise(head: Head) -> str | None:
    """Return why a file looks like CONE's."""
    if {"query_id", "predicted_times"} <= head.line_keys:
        return 'its first line has "predicted_times"'
    return None


def read(path: Path, progress: bool = False) -> PredictionRows:
    """Read the file."""
    rows = [
        FileRow(number, str(line.query_id), line.video_id, moments=ranked(line.predicted_times))
        for number, line in read_entries(path, ConeLine, progress=progress)
    ]
    return prediction_rows(path, FORMAT.name, rows, field="predicted_times")


def ranked(moments: Moments) -> Moments:
    """Return the moments without their scores if each has three of them: the order is the rank."""
    if all(len(moment) == SCORES_OF_THREE_KINDS for moment in moments):
        return [moment[:2] for moment in moments]
    return moments


def write(path: Path, rows: PredictionRows) -> None:
    """Write the file."""
    columns = zip(rows.query_id, rows.video_id, listed(rows), strict=True)
    write_lines(
        path,
        (
            {"query_id": whole_id(query_id or ""), "video_id": video_id, "predicted_times": moments}
            for query_id, video_id, moments in columns
        ),
    )


FORMAT = Format(
    "cone",
    "JSON Lines of CONE, RGNet and MAD (query_id, predicted_times)",
    recognise,
    read,
    write,
    loses=frozenset({"ratings", "statuses", "ids"}),
)
