"""JSON Lines of CONE and RGNet for MAD: ``query_id``, ``video_id`` and ``predicted_times`` on each line.

A moment is [start, end], [start, end, score], or what CONE itself writes: [start, end, proposal score, matching score,
their sum]. The file does not state which of the three ranked the list, so the order is the rank and no score is read.
Sources: houzhijian/CONE, ``cone/inference.py`` and ``standalone_eval/evaluate_mad.py``; Tanveer81/RGNet,
``rgnet/inference.py``.
"""

from __future__ import annotations

import msgspec

from truemoment.data.formats.base import Format, Moments
from truemoment.data.formats.entries import whole_id
from truemoment.data.formats.head import first_line_has
from truemoment.data.formats.rows import FileRow, each_entry, lines_writer, reader

SCORES_OF_THREE_KINDS = 5
"""Values of a moment with proposal, matching and fused score."""


class ConeLine(msgspec.Struct):
    """A line of the file."""

    query_id: str | int
    predicted_times: list[tuple[float, ...]]
    video_id: str | None = None


def ranked(moments: Moments) -> Moments:
    """Return the moments without their scores if each has three of them: the order is the rank."""
    if all(len(moment) == SCORES_OF_THREE_KINDS for moment in moments):
        return [moment[:2] for moment in moments]
    return moments


def _row(line: ConeLine) -> FileRow:
    return FileRow(str(line.query_id), line.video_id, moments=ranked(line.predicted_times))


def _line(row: FileRow) -> dict[str, object]:
    return {"query_id": whole_id(row.query_id), "video_id": row.video_id, "predicted_times": row.moments}


FORMAT = Format(
    "cone",
    "JSON Lines of CONE, RGNet and MAD (query_id, predicted_times)",
    first_line_has("predicted_times", "query_id"),
    reader(each_entry(ConeLine, _row), field="predicted_times"),
    lines_writer(_line),
    loses=frozenset({"ratings", "statuses", "ids"}),
    needs=frozenset({"query_id", "predicted_times"}),
)
