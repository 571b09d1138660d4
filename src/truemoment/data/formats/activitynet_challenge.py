"""JSON of the ActivityNet challenges, the label in place of the query.

``{"version": ..., "results": {VIDEO: [{"label": SENTENCE, "segment": [start, end], "score": ...}]}, "external_data":
{}}``. The segments of one label in a video are one ranked list. Videos may be named without the ``v_`` of ActivityNet
Captions; ids are written as they are. Source: activitynet/ActivityNet, ``Evaluation/eval_detection.py``.
"""

from __future__ import annotations

import msgspec

from truemoment.base.boundary.own_path import AnyPath
from truemoment.data.formats.base import Format
from truemoment.data.formats.entries import read_by_video
from truemoment.data.formats.head import has_paths
from truemoment.data.formats.results_by_video import scored
from truemoment.data.formats.rows import FileRow, by_video_writer, merged_by_label, reader


class ChallengeSegment(msgspec.Struct):
    """A predicted segment."""

    label: str
    segment: tuple[float, float]
    score: float | msgspec.UnsetType = msgspec.UNSET


def _rows(path: AnyPath, _progress: bool) -> list[FileRow]:
    segments = read_by_video(path, ChallengeSegment, field="results")
    return merged_by_label(
        (video_id, segment.label, scored(segment.segment, segment.score)) for video_id, segment in segments
    )


FORMAT = Format(
    "activitynet-challenge",
    "JSON of the ActivityNet challenges (results: label, segment, score)",
    has_paths(
        'it has "results" with "segment" and "label"',
        ("results", "*", "[]", "segment"),
        ("results", "*", "[]", "label"),
    ),
    reader(_rows, field="segment", within="results"),
    by_video_writer(
        "results", sentence="label", times="segment", score="score", version="VERSION 1.3", external_data={}
    ),
    loses=frozenset({"ratings", "statuses", "abstentions", "videos and sentences", "repeated sentences"}),
    needs=frozenset({"results", "label", "segment", "score"}),
)
