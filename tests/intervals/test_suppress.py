"""suppress: greedy non-maximum suppression, and running_best."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from truemoment.base.intervals import first_kept, running_best, suppress


@pytest.mark.parametrize("threshold", ["0", "0.3", "0.5", "0.7", "1"])
@pytest.mark.parametrize("denominator", ["hull", "union"])
def test_against_a_slow_loop(slow, threshold, denominator):
    # Hidden Challenges, section 4: from the best down, drop what overlaps a kept one by more than the threshold.
    rng = np.random.default_rng(4)
    n_lists, n_ranks = 150, 8
    quarters = rng.integers(0, 24, size=(2, n_lists, n_ranks))
    length = rng.integers(0, n_ranks + 1, size=n_lists)
    kept = suppress(*(quarters / 4), length, threshold=float(threshold), denominator=denominator)
    for i in range(n_lists):
        moments = [(Fraction(int(s), 4), Fraction(int(e), 4)) for s, e in quarters[:, i, : length[i]].T]
        chosen: list[int] = []
        for k, moment in enumerate(moments):
            if all(slow.iou(moment, moments[j]) <= Fraction(threshold) for j in chosen):
                chosen.append(k)
        assert np.flatnonzero(kept[i]).tolist() == chosen


def test_what_a_suppressed_moment_would_suppress_stays():
    # By hand, threshold 0.5: second against first 8/12 goes; third against second 8/12, against first 6/14: stays.
    start, end = np.array([[0.0, 2.0, 4.0]]), np.array([[10.0, 12.0, 14.0]])
    assert suppress(start, end, np.array([3]), threshold=0.5).tolist() == [[True, False, True]]


def test_an_iou_on_the_threshold_stays():
    # IoU of (0, 10) and (5, 10) is exactly 0.5: not larger than 0.5.
    start, end = np.array([[0.0, 5.0]]), np.array([[10.0, 10.0]])
    assert suppress(start, end, np.array([2]), threshold=0.5).tolist() == [[True, True]]
    assert suppress(start, end, np.array([2]), threshold=0.49).tolist() == [[True, False]]


def test_places_behind_a_list_are_never_kept():
    start, end = np.zeros((3, 2)), np.ones((3, 2))
    kept = suppress(start, end, np.array([0, 1, 2]), threshold=0.5)
    assert kept.tolist() == [[False, False], [True, False], [True, False]]


def test_running_best_against_a_slow_loop():
    # AxIoU paper, eq. 3.
    values = np.random.default_rng(5).random((20, 7))
    expected = [[max(row[: k + 1]) for k in range(len(row))] for row in values.tolist()]
    before = values.copy()
    assert running_best(values).tolist() == expected
    assert np.array_equal(values, before)  # the table handed over is not changed


@pytest.mark.parametrize("top", [1, 4, 30])
def test_first_kept_is_suppression_cut_after_the_first(top):
    """Against suppress, which holds every moment against every other."""
    rng = np.random.default_rng(3)
    ends = np.sort(rng.random((40, 30, 2)), axis=2)
    start, end = ends[..., 0], ends[..., 1]
    whole = suppress(start, end, np.full(40, 30), threshold=0.4)
    expected = whole & (np.cumsum(whole, axis=1) <= top)
    assert np.array_equal(first_kept(start, end, threshold=0.4, top=top), expected)
