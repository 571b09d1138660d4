"""More like a moment: the mean of its rows takes the place of a sentence's vector."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from truemoment.media.features.base import Frames
from truemoment.searching.index import Index
from truemoment.searching.moment_rows import span_of
from truemoment.searching.retrieval import FoundMoment, moment_scores

MOST_FOUND = 10_000


def score_of(index: Index, moment: tuple[str, float, float], vector: Frames, median: float) -> tuple[float, bool]:
    """Return the score of any moment (video, start and end in seconds), and whether it contains a row."""
    first, end, is_whole = span_of(index, *moment)
    spans = np.array([first]), np.array([end])
    return float(moment_scores(index, moment[0], vector, [median], spans=spans)[0, 0]), is_whole


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
