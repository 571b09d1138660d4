"""The paired permutation test: exact numbers, SciPy, what must not matter, and how often it errs."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment import Predictions
from truemoment.base.errors import UsageError
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.uncertainty import paired_permutation, permutation_p_values, smallest_p, sums_by_video

nan = float("nan")


def exact_sums(scores, row):
    """Numerator and weight of each video, exact."""
    sums = {}
    for q, video in enumerate(scores.video_id):
        numerator, weight = sums.get(video, (Fraction(0), Fraction(0)))
        sums[video] = (numerator + Fraction(scores.numerator[row, q]), weight + Fraction(scores.weight[row, q]))
    return sums


def figure(sums):
    """Sum of numerators over sum of weights; None where there is no weight."""
    weight = sum(w for _, w in sums)
    return sum(n for n, _ in sums) / weight if weight else None


def slow_differences(a, b, row, swaps):
    """Difference of the two figures under each swap (a list of true and false, one a video)."""
    sums_a, sums_b = exact_sums(a, row), exact_sums(b, row)
    for swap in swaps:
        first = [sums_b[v] if s else sums_a[v] for v, s in zip(sums_a, swap, strict=True)]
        second = [sums_a[v] if s else sums_b[v] for v, s in zip(sums_a, swap, strict=True)]
        one, other = figure(first), figure(second)
        yield None if one is None or other is None else one - other


def slow_p(a, b, row, swaps, *, drawn):
    """The formula of the docstring, with exact fractions; two differences within 1e-12 are equal, as there."""
    (observed,) = slow_differences(a, b, row, [[False] * len(exact_sums(a, row))])
    permuted = list(slow_differences(a, b, row, swaps))
    if observed is None or None in permuted:
        return nan
    count = sum(abs(d) >= abs(observed) - Fraction(1, 10**12) for d in permuted)
    return (count + drawn) / (len(permuted) + drawn)


MEASURES = "R@1,IoU=0.3; mIoU; R@1,IoU=0.3[ref=rows]; mAP,length=middle"


def pair(world, seed, protocol):
    """Scores of two prediction files on five videos; under missing=drop their weights differ."""
    w = world(seed, n_queries=23)
    moved = {
        q: [(float(s) + 0.75, float(e) + 1.25, score) for s, e, score in m]
        for i, (q, m) in enumerate(w.filed.items())
        if i % 5
    }
    return [evaluate(w.annotations, p, MEASURES, protocol) for p in (w.predictions, Predictions.from_lists(moved))]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("protocol", ["default", "default,missing=drop"])
def test_all_swaps_against_a_slow_loop(world, seed, protocol):
    a, b = pair(world, seed, protocol)
    assert (protocol == "default") == np.array_equal(a.weight, b.weight)
    swaps = list(product([False, True], repeat=5))
    expected = [slow_p(a, b, row, swaps, drawn=False) for row in range(4)]
    assert paired_permutation(a, b, np.random.default_rng(0)).tolist() == pytest.approx(expected, nan_ok=True)
    assert any(p < 1 for p in expected)


@pytest.mark.parametrize("block", [None, 1, 100])
@pytest.mark.parametrize("n_videos", [9, 70])
def test_drawn_swaps_against_a_slow_loop(made_scores, monkeypatch, block, n_videos):
    # All videos differ; weights differ in the second measure. The same coins: 64 a word, the lowest bit first.
    rng = np.random.default_rng(4)
    videos = [f"v{i % n_videos}" for i in range(3 * n_videos)]
    a, b = (
        made_scores(videos, rng.random((2, len(videos))), [np.ones(len(videos)), rng.integers(1, 3, len(videos))], m)
        for m in ["mIoU; AP@1,IoU=0.5"] * 2
    )
    if block is not None:
        monkeypatch.setattr("truemoment.evaluation.uncertainty.BLOCK_DRAWS", block)  # cutting the work changes no coin
    words = np.random.default_rng(7).integers(2**64, size=(200, -(-n_videos // 64)), dtype=np.uint64).tolist()
    swaps = [[bool(row[v // 64] >> v % 64 & 1) for v in range(n_videos)] for row in words]
    expected = [slow_p(a, b, row, swaps, drawn=True) for row in range(2)]
    assert paired_permutation(a, b, np.random.default_rng(7), permutations=200).tolist() == pytest.approx(expected)


def test_by_hand(made_scores):
    # Differences by video: 1, 1, 1, -1. Sums of +-1 over four videos reach 2 in size unless two cancel two: 16 - 6.
    videos = list("abcd")
    a, b = made_scores(videos, [1, 1, 1, 0]), made_scores(videos, [0, 0, 0, 1])
    assert paired_permutation(a, b, np.random.default_rng(0)).tolist() == [10 / 16]


def test_queries_of_a_video_are_swapped_together(made_scores):
    # Ten queries of two videos, all better: 2 of 4 swaps are as far. By query it would be 2 of 1024.
    videos = ["a"] * 5 + ["b"] * 5
    a, b = made_scores(videos, [1] * 10), made_scores(videos, [0] * 10)
    assert paired_permutation(a, b, np.random.default_rng(0)).tolist() == [0.5]
    alone = [dataclasses.replace(s, video_id=s.query_id) for s in (a, b)]
    assert paired_permutation(*alone, np.random.default_rng(0)).tolist() == [2 / 1024]


def test_videos_that_do_not_differ_need_no_drawing(made_scores):
    # 400 videos of which 3 differ, by 1: 2 of 8 swaps are as far, whatever the generator.
    videos = [f"v{i}" for i in range(400)]
    common = np.random.default_rng(0).integers(0, 2, 400)
    common[:3] = 0
    better = common.copy()
    better[:3] = 1
    p = paired_permutation(made_scores(videos, better), made_scores(videos, common), np.random.default_rng(9))
    assert p.tolist() == [0.25]


def test_against_scipy(made_scores):
    # One query a video. SciPy's test of paired samples looks at all 2^10 swaps, as we do.
    from scipy import stats

    rng = np.random.default_rng(6)
    for shift in (0.0, 0.1, 0.4):
        x, y = rng.random(10) + shift, rng.random(10)
        wanted = stats.permutation_test(
            (x, y),
            lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=np.inf,
        )
        videos = [f"v{i}" for i in range(10)]
        (p,) = paired_permutation(made_scores(videos, x), made_scores(videos, y), rng)
        assert p == pytest.approx(wanted.pvalue, rel=1e-12)


def test_drawn_swaps_come_near_the_exact_p(made_scores):
    # 12 videos: 4096 swaps, once all of them and once 4000 drawn. Standard error of a drawn share below 0.008.
    rng = np.random.default_rng(10)
    videos = [f"v{i}" for i in range(12)]
    a, b = made_scores(videos, rng.random(12) + 0.15), made_scores(videos, rng.random(12))
    (exact,) = paired_permutation(a, b, rng, permutations=4096)
    (drawn,) = paired_permutation(a, b, rng, permutations=4000)
    assert 0.02 < exact < 0.98
    assert drawn == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / 4000))
    assert drawn != exact


# ---------------------------------------------------------------------------------- what must not matter

tables = st.integers(1, 8).flatmap(
    lambda n: st.lists(
        st.tuples(*[st.integers(0, 4)] * 2, *[st.integers(1, 3)] * 2, st.integers(0, 4)), min_size=n, max_size=n
    )
)


def two_of(made_scores, rows):
    """Two systems from rows (numerator of a, of b, weight of a, of b, video)."""
    numerator_a, numerator_b, weight_a, weight_b, video = zip(*rows, strict=True)
    videos = [f"v{v}" for v in video]
    return made_scores(videos, numerator_a, weight_a), made_scores(videos, numerator_b, weight_b)


@given(rows=tables, seed=st.integers(0, 100), order=st.randoms())
def test_invariances(made_scores, rows, seed, order):
    a, b = two_of(made_scores, rows)
    p = float(paired_permutation(a, b, np.random.default_rng(seed))[0])
    n_videos = len(set(a.video_id))
    assert smallest_p(n_videos, 10_000) <= p <= 1
    assert float(paired_permutation(b, a, np.random.default_rng(seed))[0]) == p
    scaled = [dataclasses.replace(s, numerator=7 * s.numerator) for s in (a, b)]
    assert float(paired_permutation(*scaled, np.random.default_rng(seed))[0]) == p
    heavier = [dataclasses.replace(s, numerator=3 * s.numerator, weight=3 * s.weight) for s in (a, b)]
    assert float(paired_permutation(*heavier, np.random.default_rng(seed))[0]) == p
    order.shuffle(rows)
    assert float(paired_permutation(*two_of(made_scores, rows), np.random.default_rng(seed))[0]) == p
    assert paired_permutation(a, a, np.random.default_rng(seed)).tolist() == [1.0]


def test_several_pairs_are_each_as_alone(made_scores):
    rng = np.random.default_rng(12)
    videos = [f"v{i}" for i in range(30)]
    systems = [made_scores(videos, rng.random((2, 30)), measures="mIoU; AP@1,IoU=0.5") for _ in range(3)]
    numerator, weight = (np.stack(parts) for parts in zip(*map(sums_by_video, systems), strict=True))
    pairs = [(0, 1), (0, 2), (2, 1)]
    together = permutation_p_values(numerator, weight, pairs, np.random.default_rng(0), permutations=500)
    for (i, j), p in zip(pairs, together, strict=True):
        alone = paired_permutation(systems[i], systems[j], np.random.default_rng(0), permutations=500)
        assert p.tolist() == alone.tolist()


# ------------------------------------------------------------------------------------------ undefined


def test_undefined_is_nan(made_scores):
    videos = list("abc")
    some, none = made_scores(videos, [1, 0, 1]), made_scores(videos, [0, 0, 0], [0, 0, 0])
    assert np.isnan(paired_permutation(some, none, np.random.default_rng(0))).all()
    assert np.isnan(paired_permutation(none, none, np.random.default_rng(0))).all()


def test_a_swap_that_leaves_a_system_without_weight_is_undefined(made_scores):
    # a has weight on video v alone, b on w alone: swapping v leaves the first system none.
    a, b = made_scores(["v", "w"], [1, 0], [1, 0]), made_scores(["v", "w"], [0, 0], [0, 1])
    assert np.isnan(paired_permutation(a, b, np.random.default_rng(0))).all()


@pytest.mark.parametrize("permutations", [-1, 0])
def test_too_few_permutations(made_scores, permutations):
    a = made_scores(["v"], [1])
    with pytest.raises(UsageError) as caught:
        paired_permutation(a, a, np.random.default_rng(0), permutations=permutations)
    assert str(caught.value) == f"got {permutations} permutations, expected 1 or more"


def test_other_queries_are_refused(made_scores):
    a = made_scores(["v"], [1])
    with pytest.raises(UsageError, match="scores 1 have split val, expected all"):
        paired_permutation(a, dataclasses.replace(a, split="val"), np.random.default_rng(0))


def test_smallest_p():
    # No swap and all swapped are as far as what was seen: 2 of 2^V. One video: 2 of 2. Drawn: 1 / (1 + N).
    assert [smallest_p(v, 100) for v in (0, 1, 2, 6, 7, 5000)] == [1.0, 1.0, 0.5, 1 / 32, 1 / 101, 1 / 101]


# -------------------------------------------------------------------------------- how often it errs


def share_within(count, n, chance):
    """Whether a count is within five standard deviations of a binomial."""
    return abs(count - n * chance) < 5 * np.sqrt(n * chance * (1 - chance))


def test_p_is_uniform_where_there_is_no_difference(two_systems):
    rng = np.random.default_rng(31)
    p, by_query = np.empty(400), np.empty(400)
    for i in range(400):
        a, b = two_systems(rng, 40, 0.0)
        p[i] = paired_permutation(a, b, rng, permutations=199)[0]
        alone = [dataclasses.replace(s, video_id=s.query_id) for s in (a, b)]
        by_query[i] = paired_permutation(*alone, rng, permutations=199)[0]
    for level in (0.05, 0.1, 0.25, 0.5, 0.75):  # multiples of 1/200, which p can take
        assert share_within((p <= level).sum(), 400, level)
    # As if queries were independent, the standard error comes out at sqrt(0.02 / 3) against sqrt(0.04 / 3), too small
    # by sqrt(2): a nominal 5 % becomes P(|z| > 1.96 / 1.414) = 16.6 %.
    assert share_within((by_query <= 0.05).sum(), 400, 0.166)
