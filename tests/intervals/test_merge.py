"""merge: the union of the intervals of a row."""

from __future__ import annotations

import numpy as np
import pytest

from truemoment.base.intervals import merge

nan = float("nan")


def merged(intervals):
    """Call merge on one row and return what it holds as a list of pairs."""
    table = np.array(intervals, dtype=float).reshape(-1, 2)
    start, end = merge(table[None, :, 0], table[None, :, 1])
    kept = ~np.isnan(start[0])
    assert np.array_equal(kept, ~np.isnan(end[0]))
    assert np.array_equal(kept, np.arange(len(kept)) < kept.sum())  # the gaps are behind the last
    return list(zip(start[0][kept].tolist(), end[0][kept].tolist(), strict=True))


# By hand: the union of the intervals as sets of points, touching ones joined.
@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        ([(0, 2), (4, 6)], [(0, 2), (4, 6)]),
        ([(4, 6), (0, 2)], [(0, 2), (4, 6)]),  # order of time
        ([(0, 2), (2, 4)], [(0, 4)]),  # touching
        ([(0, 9), (1, 2), (3, 4)], [(0, 9)]),  # contained; the furthest end is not the last one
        ([(0, 9), (1, 2), (8, 10), (12, 13)], [(0, 10), (12, 13)]),
        ([(5, 5), (1, 2)], [(1, 2)]),  # zero length vanishes
        ([(9, 0), (1, 2)], [(1, 2)]),  # swapped vanishes
        ([(5, 5)], []),
        ([(nan, nan), (1, 2)], [(1, 2)]),
        ([(nan, nan)], []),
    ],
)
def test_by_hand(intervals, expected):
    assert merged(intervals) == expected


def test_equals_the_set_of_points():
    # A slow loop: whole seconds as cells; the merged intervals are the runs of covered cells.
    rng = np.random.default_rng(3)
    for _ in range(300):
        intervals = rng.integers(0, 20, size=(int(rng.integers(1, 6)), 2))
        covered = [any(s <= cell < e for s, e in intervals) for cell in range(21)]
        runs = []
        for cell, inside in enumerate(covered):
            if inside and (cell == 0 or not covered[cell - 1]):
                runs.append([cell, cell + 1])
            elif inside:
                runs[-1][1] = cell + 1
        assert merged(intervals) == [(float(s), float(e)) for s, e in runs]


def test_rows_do_not_mix():
    start, end = merge(np.array([[0.0, 1.0], [5.0, nan]]), np.array([[2.0, 3.0], [6.0, nan]]))
    assert np.array_equal(start, [[0.0, nan], [5.0, nan]], equal_nan=True)
    assert np.array_equal(end, [[3.0, nan], [6.0, nan]], equal_nan=True)
