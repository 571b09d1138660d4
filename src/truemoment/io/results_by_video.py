"""results-by-video JSON of Hao et al. 2022 and QAVE: one answer a sentence, listed under its video.

``{"version": ..., "results": {VIDEO: [{"sentence": ..., "timestamp": [start, end], "score": ...,
"gt_timestamp": ..., "video_duration": ...}]}}``. The reference inside the file is not used: the
annotations' are.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from truemoment.io.base import Format, PredictionRows
from truemoment.io.entries import read_by_video
from truemoment.io.head import Head
from truemoment.io.rows import FileRow, by_video, prediction_rows, write_document


class ResultByVideo(msgspec.Struct):
    """An answer to one sentence."""

    sentence: str
    timestamp: tuple[float, float]
    score: float | msgspec.UnsetType = msgspec.UNSET

    @property
    def moment(self) -> tuple[float, ...]:
        """The moment, with its score if there is one."""
        return self.timestamp if self.score is msgspec.UNSET else (*self.timestamp, self.score)


def recognise(head: Head) -> str | None:
    """Return why a file looks like results by video."""
    if head.is_object and head.kind_at("results", "*", "[]", "timestamp"):
        return 'it has "results" with "timestamp"'
    return None


def read(path: Path, progress: bool = False) -> PredictionRows:
    """Read the file."""
    del progress  # read in one piece
    rows = [
        FileRow(video_id=video_id, sentence=answer.sentence, moments=[answer.moment])
        for video_id, answer in read_by_video(path, ResultByVideo, field="results")
    ]
    return prediction_rows(path, FORMAT.name, rows, field="moments", within="results")


def write(path: Path, rows: PredictionRows) -> None:
    """Write the file."""
    results = by_video(rows, sentence="sentence", times="timestamp", score="score")
    write_document(path, {"version": "1.0", "results": results})


FORMAT = Format(
    "results-by-video",
    "JSON of results by video (sentence, timestamp, score)",
    recognise,
    read,
    write,
    loses=frozenset({"ratings", "statuses", "abstentions", "several moments", "videos and sentences"}),
)
