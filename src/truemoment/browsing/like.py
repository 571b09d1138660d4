"""More like a moment: the mean of its rows takes the place of a sentence's vector."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from truemoment.exceptions import UsageError
from truemoment.features.base import Frames
from truemoment.searching.index import Index
from truemoment.searching.layout import Rows
from truemoment.searching.retrieval import DECIMALS, FoundMoment
from truemoment.searching.scoring import EPSILON
from truemoment.video.frames import SAME_TIME_S

MOST_FOUND = 10_000


def rows_of(index: Index, video_id: str, start_s: float, end_s: float) -> tuple[Rows, bool]:
    """Return the rows of a moment (R, D), those of the frames shown at a time in it, and whether there are any.

    A moment between two frames has none; the row shown at its start is returned then.

    Raises
    ------
    UsageError
        If the moment lies outside the video.
    """
    rows, fps = index.rows(video_id), index.settings.fps
    if not 0 <= start_s < end_s or start_s * fps >= len(rows):
        raise UsageError(f"got a moment from {start_s:g} to {end_s:g} s, expected one within the video")
    first = math.ceil(start_s * fps - SAME_TIME_S)
    end = min(math.ceil(end_s * fps - SAME_TIME_S), len(rows))
    if first < end:
        return rows[first:end], True
    at = min(int(start_s * fps), len(rows) - 1)
    return rows[at : at + 1], False


def vector_of(index: Index, video_id: str, start_s: float, end_s: float) -> Frames:
    """Return the mean row of a moment, (D,)."""
    rows, _ = rows_of(index, video_id, start_s, end_s)
    return np.asarray(rows.mean(axis=0, dtype=np.float64), dtype=np.float32)


def score_of(index: Index, video_id: str, start_s: float, end_s: float, vector: Frames) -> tuple[float, bool]:
    """Return the score of any moment of a video, and whether it is as long as a row; that of search for a candidate."""
    rows, is_whole = rows_of(index, video_id, start_s, end_s)
    mean = rows.mean(axis=0, dtype=np.float64)
    sentence = np.asarray(vector, dtype=np.float64).ravel()
    denominator = max(float(np.linalg.norm(mean) * np.linalg.norm(sentence)), EPSILON)
    return round(float(mean @ sentence) / denominator, DECIMALS), is_whole


def others(find: Callable[[int], list[FoundMoment]], moment: tuple[str, float, float], top: int) -> list[FoundMoment]:
    """Return the best moments without one, and without those that overlap it.

    Parameters
    ----------
    find
        Returns so many of the best moments.
    moment
        Video, start and end in seconds.
    top
        Number of moments.
    """
    video_id, start_s, end_s = moment
    wanted = top + 4
    while True:
        found = find(min(wanted, MOST_FOUND))
        left = [of for of in found if of.video_id != video_id or of.end_s <= start_s or of.start_s >= end_s]
        if len(left) >= top or len(found) < wanted:
            return left[:top]
        wanted *= 2
