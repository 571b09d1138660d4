"""JSON of the ActivityNet challenges, the label in place of the query.

``{"version": ..., "results": {VIDEO: [{"label": SENTENCE, "segment": [start, end], "score": ...}]}, "external_data":
{}}``. The segments of one label in a video are one ranked list. Videos may be named without the ``v_`` of ActivityNet
Captions; ids are written as they are. Source: activitynet/ActivityNet, ``Evaluation/eval_detection.py``.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from truemoment.io.base import Format, PredictionRows
from truemoment.io.entries import read_by_video
from truemoment.io.head import Head
from truemoment.io.rows import by_video, merged_by_label, prediction_rows, write_document


class ChallengeSegment(msgspec.Struct):
    """A predicted segment."""

    label: str
    segment: tuple[float, float]
    score: float | msgspec.UnsetType = msgspec.UNSET

    @property
    def moment(self) -> tuple[float, ...]:
        """The segment, with its score if there is one."""
        return self.segment if self.score is msgspec.UNSET else (*self.segment, self.score)


def recognise(head: Head) -> str | None:
    """Return why a file looks like a submission to ActivityNet's challenge."""
    at = ("results", "*", "[]")
    if head.is_object and head.kind_at(*at, "segment") and head.kind_at(*at, "label"):
        return 'it has "results" with "segment" and "label"'
    return None


def read(path: Path, progress: bool = False) -> PredictionRows:
    """Read the file."""
    del progress  # read in one piece
    segments = read_by_video(path, ChallengeSegment, field="results")
    rows = merged_by_label((video_id, found.label, found.moment) for video_id, found in segments)
    return prediction_rows(path, FORMAT.name, rows, field="segment", within="results")


def write(path: Path, rows: PredictionRows) -> None:
    """Write the file."""
    results = by_video(rows, sentence="label", times="segment", score="score")
    write_document(path, {"version": "VERSION 1.3", "results": results, "external_data": {}})


FORMAT = Format(
    "activitynet-challenge",
    "JSON of the ActivityNet challenges (results: label, segment, score)",
    recognise,
    read,
    write,
    loses=frozenset({"ratings", "statuses", "abstentions", "videos and sentences", "repeated sentences"}),
    videos="without v_",
)
