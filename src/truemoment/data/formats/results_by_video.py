"""results-by-video JSON of Hao et al. 2022 and QAVE: one answer per sentence, listed under its video.

``{"version": ..., "results": {VIDEO: [{"sentence": ..., "timestamp": [start, end], "score": ...,
"gt_timestamp": ..., "video_duration": ...}]}}``. The reference in the file is not used.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from truemoment.base.boundary.own_path import AnyPath
from truemoment.data.formats.base import Format
from truemoment.data.formats.entries import read_by_video
from truemoment.data.formats.head import has_paths
from truemoment.data.formats.rows import FileRow, by_video_writer, reader


class ResultByVideo(msgspec.Struct):
    """An answer to one sentence."""

    sentence: str
    timestamp: tuple[float, float]
    score: float | msgspec.UnsetType = msgspec.UNSET


def _rows(path: AnyPath, _progress: bool) -> Iterator[FileRow]:
    for video_id, answer in read_by_video(path, ResultByVideo, field="results"):
        yield FileRow(None, video_id, answer.sentence, [scored(answer.timestamp, answer.score)])


def scored(times: tuple[float, float], score: float | msgspec.UnsetType) -> tuple[float, ...]:
    """Return a moment, with its score if there is one."""
    return times if score is msgspec.UNSET else (*times, score)


FORMAT = Format(
    "results-by-video",
    "JSON of results by video (sentence, timestamp, score)",
    has_paths('it has "results" with "timestamp"', ("results", "*", "[]", "timestamp")),
    reader(_rows, within="results"),
    by_video_writer("results", sentence="sentence", times="timestamp", score="score", version="1.0"),
    loses=frozenset({"ratings", "statuses", "abstentions", "several moments", "videos and sentences"}),
    needs=frozenset({"results", "sentence", "timestamp"}),
)
