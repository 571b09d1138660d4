"""More like a moment: the mean of its rows takes the place of a sentence's vector."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.media.features.base import Frames
from truemoment.media.video.frames import SAME_TIME_S
from truemoment.searching.index import Index
from truemoment.searching.outstanding import Background
from truemoment.searching.retrieval import FoundMoment, moment_scores

MOST_FOUND = 10_000


def span_of(index: Index, video_id: str, start_s: float, end_s: float) -> tuple[int, int, bool]:
    """Return the first row of a moment, the one after the last, and whether the moment contains a row.

    Rows are those of the frames shown at a time in the moment. A moment between two frames has none; the row shown at
    its start is returned then.

    Raises
    ------
    UsageError
        If the moment lies outside the video.
    """
    n_rows, fps = len(index.rows(video_id)), index.settings.fps
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
    first, end, _ = span_of(index, video_id, start_s, end_s)
    return np.asarray(index.rows(video_id)[first:end].mean(axis=0, dtype=np.float64), dtype=np.float32)


def score_of(
    index: Index, moment: tuple[str, float, float], vector: Frames, background: Background
) -> tuple[float, bool]:
    """Return the score of any moment (video, start and end in seconds), and whether it contains a row."""
    first, end, is_whole = span_of(index, *moment)
    spans = np.array([first]), np.array([end])
    return float(moment_scores(index, moment[0], vector, [background], spans=spans)[0, 0]), is_whole


def others(find: Callable[[int], list[FoundMoment]], moment: tuple[str, float, float], top: int) -> list[FoundMoment]:
    """Return the best moments without one, and without those that overlap it.

    Parameters
    ----------
    find
        Returns the given number of best moments.
    moment
        Video, start and end in seconds.
    top
        Number of moments.
    """
    video_id, start_s, end_s = moment
    n = top + 4
    while True:
        moments = find(min(n, MOST_FOUND))
        distinct = [
            candidate
            for candidate in moments
            if candidate.video_id != video_id or candidate.end_s <= start_s or candidate.start_s >= end_s
        ]
        if len(distinct) >= top or len(moments) < n:
            return distinct[:top]
        n *= 2
