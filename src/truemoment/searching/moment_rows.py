"""The rows of an index in a moment, and their mean."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.media.features.base import Frames
from truemoment.media.video.frames import SAME_TIME_S
from truemoment.searching.index import Index


def span_of(index: Index, video_id: str, start_s: float, end_s: float) -> tuple[int, int, bool]:
    """Return the first row of a moment, the one after the last, and whether the moment contains a row.

    Rows are those of the frames shown at a time in the moment. A moment between two frames has none; the row shown at
    its start is returned then.

    Raises
    ------
    UsageError
        If the moment lies outside the video.
    """
    n_rows, fps = index.about(video_id).n_frames, index.settings.fps
    if not 0 <= start_s < end_s or start_s * fps >= n_rows:
        raise UsageError(f"got a moment from {start_s:g} to {end_s:g} s, expected one within the video")
    first = math.ceil(start_s * fps - SAME_TIME_S)
    end = min(math.ceil(end_s * fps - SAME_TIME_S), n_rows)
    if first < end:
        return first, end, True
    at = min(int(start_s * fps), n_rows - 1)
    return at, at + 1, False


def vector_of(index: Index, video_id: str, start_s: float, end_s: float) -> Frames:
    """Return the mean row of a moment, (D,)."""
    return np.asarray(vectors_of(index, [(video_id, start_s, end_s)])[0])


def vectors_of(index: Index, moments: Sequence[tuple[str, float, float]]) -> Frames:
    """Return the mean row of each moment (video, start and end in seconds), (M, D); each video is opened once."""
    vectors = np.empty((len(moments), index.n_dimensions), dtype=np.float32)
    by_video: dict[str, list[int]] = {}
    for number, (video_id, _, _) in enumerate(moments):
        by_video.setdefault(video_id, []).append(number)
    for video_id, numbers in by_video.items():
        rows = np.asarray(index.rows(video_id))
        for number in numbers:
            first, end, _ = span_of(index, *moments[number])
            vectors[number] = rows[first:end].mean(axis=0, dtype=np.float64)
    return vectors
