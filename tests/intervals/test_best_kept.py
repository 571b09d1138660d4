"""best_kept: non-maximum suppression of very many moments that looks at few; and ranked, which it stands on."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from truemoment.base.intervals import best_kept, ranked, suppress, temporal_iou

THRESHOLDS = st.sampled_from([0.0, 0.25, 0.3, 0.5, 0.7, 1.0])


def by_suppression(score, start, end, threshold, top):
    """The definition: rank everything, suppress everything, cut."""
    order = np.argsort(-score, kind="stable")
    kept = suppress(start[order][None], end[order][None], np.array([len(order)]), threshold=threshold)[0]
    return order[kept][:top].tolist()


@given(
    moments=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 30), st.integers(-1, 12)), max_size=60),
    threshold=THRESHOLDS,
    top=st.integers(1, 20),
)
def test_against_suppression_of_everything(moments, threshold, top):
    # Few scores and whole times, so that ties of score, of IoU and with the threshold, and empty moments, all occur.
    score, start, length = np.array(moments, dtype=float).reshape(-1, 3).T
    found = best_kept(score, start, start + length, threshold=threshold, top=top)
    assert found.tolist() == by_suppression(score, start, start + length, threshold, top)


@pytest.mark.parametrize("top", [1, 5, 100, 300])
@pytest.mark.parametrize("spread", [40, 400, 40_000])
@pytest.mark.slow
def test_many_moments_against_a_plain_loop(top, spread):
    # Beyond the first block that is ranked; where moments crowd, thousands have to be looked at for one more.
    rng = np.random.default_rng(spread + top)
    n = 20_000
    start = rng.integers(0, spread, n)
    end = start + rng.integers(1, 60, n)
    score = rng.choice(rng.normal(size=3000), n)
    chosen: list[int] = []
    for number in np.argsort(-score, kind="stable"):
        if all(temporal_iou(start[number], end[number], start[k], end[k]) <= 0.3 for k in chosen[::-1]):
            chosen.append(int(number))
            if len(chosen) == min(top, 12):  # the loop is slow
                break
    found = best_kept(score, start, end, threshold=0.3, top=top)
    assert found[: len(chosen)].tolist() == chosen[:top]
    # All that the definition asks of a greedy list, checked on the whole of it.
    iou = temporal_iou(start[found][:, None], end[found][:, None], start[found], end[found])
    assert np.all((iou <= 0.3) | np.eye(len(found), dtype=bool))
    assert np.all(np.diff(score[found]) <= 0)
    if len(found) < top:  # then everything else overlaps one of them
        overlaps = temporal_iou(start[found][:, None], end[found][:, None], start, end) > 0.3
        assert np.all(overlaps.any(axis=0) | np.isin(np.arange(n), found))
    else:  # whatever ranks above the last one and is not there overlaps one that ranks above it
        before = score > score[found[-1]]
        held = (temporal_iou(start[found][:, None], end[found][:, None], start, end) > 0.3) & (
            score[found][:, None] >= score
        )
        assert np.all(held.any(axis=0)[before] | np.isin(np.flatnonzero(before), found))


def test_most_moments_are_never_compared(monkeypatch):
    from truemoment.base import intervals

    seen = []

    def counted(a_start, *others, **options):
        seen.append(np.size(a_start))
        return temporal_iou(a_start, *others, **options)

    monkeypatch.setattr(intervals, "temporal_iou", counted)
    rng = np.random.default_rng(0)
    start = rng.integers(0, 30_000, 300_000)
    assert len(best_kept(rng.random(300_000), start, start + 20, threshold=0.3, top=100)) == 100
    assert max(seen) <= 1024


def test_all_scores_equal_come_by_number():
    start = np.arange(10_000) // 2 * 10
    found = best_kept(np.zeros(10_000), start, start + 10, threshold=0.3, top=3000)
    assert found.tolist() == list(range(0, 6000, 2))


def test_scores_that_are_no_number_are_left_out():
    score, start = np.array([np.nan, 0.1, np.nan, -np.inf, np.inf]), np.arange(5) * 10
    assert best_kept(score, start, start + 5, threshold=0.3, top=9).tolist() == [4, 1, 3]
    assert best_kept(np.full(3, np.nan), start[:3], start[:3] + 5, threshold=0.3, top=9).tolist() == []


def test_nothing_to_keep():
    none = np.zeros(0)
    assert best_kept(none, none, none, threshold=0.3, top=5).tolist() == []


def test_an_iou_on_the_threshold_stays():
    # (0, 10) and (7, 10): IoU 3 / 10, which is no larger than 0.3 (MAD: suppressed if larger).
    start, end = np.array([0, 7]), np.array([10, 10])
    assert best_kept(np.array([2.0, 1.0]), start, end, threshold=0.3, top=5).tolist() == [0, 1]
    assert best_kept(np.array([2.0, 1.0]), start, end, threshold=0.29, top=5).tolist() == [0]


@given(score=arrays(np.float64, st.integers(0, 40), elements=st.integers(-3, 3)), top=st.integers(1, 50))
def test_ranked_is_a_stable_sort_cut_short(score, top):
    assert ranked(score, top).tolist() == np.argsort(-score, kind="stable")[:top].tolist()


@pytest.mark.slow
def test_memory_does_not_grow_with_what_is_kept():
    """Of 30,000 moments apart the first 3,000 are kept: all pairs would be 720 MB, those of a block of 64 are 15."""
    n = 30_000
    score, start = np.linspace(1, 0, n), np.arange(n, dtype=np.float64)
    tracemalloc.start()
    kept = best_kept(score, start, start + 0.5, threshold=0.3, top=3_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert kept.tolist() == list(range(3_000))
    assert peak < 150e6


def test_none_of_the_best():
    assert ranked(np.array([0.5, 0.7]), 0).tolist() == []
