"""The strip of a video: for each of many columns, the best score of any candidate moment that covers it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from truemoment.base.intervals import Floats, Ints

COLUMNS = 1200
"""Columns of a strip."""


def best_by_column(
    score: Floats, first: Ints, end: Ints, n_frames: int, columns: int = COLUMNS
) -> npt.NDArray[np.float32]:
    """Return the best score of any moment that covers a column, (C,); NaN where none does.

    A moment is entered as two overlapping parts whose length is a power of two, and the parts are halved until they
    are columns: the result equals painting each moment, at the cost of a few passes over the columns.

    Parameters
    ----------
    score : (P,)
        Scores of the moments.
    first, end : (P,)
        First frame of each moment, and the one after the last.
    n_frames
        Frames of the video, which the columns share.
    columns
        C.

    Examples
    --------
    >>> best_by_column(np.array([0.5, 0.25]), np.array([0, 2]), np.array([4, 8]), 8, 4).tolist()
    [0.5, 0.5, 0.25, 0.25]
    """
    low = first * columns // n_frames
    high = np.minimum(-(-end * columns // n_frames), columns)
    level = np.frexp((high - low).astype(np.float64))[1] - 1  # the largest power of two that fits
    table = np.full((int(level.max(initial=0)) + 1, columns), -np.inf, np.float32)
    np.maximum.at(table, (level, low), score.astype(np.float32))
    np.maximum.at(table, (level, high - (1 << level)), score.astype(np.float32))
    for at in range(len(table) - 1, 0, -1):
        half = 1 << (at - 1)
        np.maximum(table[at - 1], table[at], out=table[at - 1])
        np.maximum(table[at - 1, half:], table[at, :-half], out=table[at - 1, half:])
    return np.where(np.isinf(table[0]), np.float32(np.nan), table[0])
