"""Many comparisons at once: a slow loop, intervals that agree with p values, and how often all of them hold."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest

from truemoment.evaluation.uncertainty import LEVEL, permutation_p_values, permutation_tests, sums_by_video

from ..thorough import quick_are

PAIRS = [(0, 1), (0, 2), (1, 2)]


def made_sums(rng, n_videos, shifts, n_measures=2):
    """Sums by video of systems that share the difficulty of each video: numerators (S, V, M) and weights."""
    weight = np.broadcast_to(rng.integers(1, 4, (1, n_videos, n_measures)), (len(shifts), n_videos, n_measures))
    common = rng.random((1, n_videos, 1))
    own = rng.random((len(shifts), n_videos, n_measures)) + np.array(shifts)[:, None, None]
    return (common + own) * weight, weight.astype(float)


def slow_test(numerator, weight, pairs):
    """All swaps one by one: p values of the largest studentised difference, and all largest ones."""
    n_videos = numerator.shape[1]
    by_video = {
        (pair, m): (numerator[i, :, m] - numerator[j, :, m]) / weight[i, :, m].sum()
        for pair, (i, j) in enumerate(pairs)
        for m in range(numerator.shape[2])
    }
    error = {key: math.sqrt(sum(d * d for d in of)) for key, of in by_video.items()}
    largest = [
        max(abs(sum(s * d for s, d in zip(signs, of, strict=True))) / error[key] for key, of in by_video.items())
        for signs in product([1, -1], repeat=n_videos)
    ]
    t = {key: abs(of.sum()) / error[key] for key, of in by_video.items()}
    p = {key: sum(value >= t[key] - 1e-9 for value in largest) / len(largest) for key in by_video}
    return np.array([[p[pair, m] for m in range(numerator.shape[2])] for pair in range(len(pairs))]), sorted(largest)


def test_all_swaps_against_a_slow_loop():
    numerator, weight = made_sums(np.random.default_rng(3), 9, [0, 0.2, 0.5])
    found = permutation_tests(numerator, weight, PAIRS, np.random.default_rng(0))
    p, largest = slow_test(numerator, weight, PAIRS)
    assert found.p_corrected == pytest.approx(p, abs=1e-12)
    # Of 512 swaps 5 % are 25.6: 25 may be as far, so the 26th largest is the last that is not significant.
    assert found.critical == pytest.approx(largest[-26])
    assert np.all(found.p_corrected >= found.p)
    assert np.any(found.p_corrected > found.p)


def test_intervals_hold_what_the_test_does_not_reject():
    numerator, weight = made_sums(np.random.default_rng(3), 60, [0, 0.1, 0.5])
    found = permutation_tests(numerator, weight, PAIRS, np.random.default_rng(0), permutations=999)
    for (pair, (i, j)), m in product(enumerate(PAIRS), range(2)):
        share = weight[i, :, m] / weight[i, :, m].sum()
        of_video = (numerator[i, :, m] - numerator[j, :, m]) / weight[i, :, m].sum()
        for end in found.interval[pair, m]:  # where the studentised difference from an end is critical
            t = abs(found.difference[pair, m] - end) / math.sqrt(((of_video - end * share) ** 2).sum())
            assert t == pytest.approx(found.critical)


@pytest.mark.parametrize("seed", range(12))
def test_an_interval_contains_0_just_where_the_p_value_is_large(seed):
    rng = np.random.default_rng(seed)
    numerator, weight = made_sums(rng, int(rng.integers(8, 60)), rng.normal(0, 0.15, 4).tolist())
    found = permutation_tests(numerator, weight, list(combinations(range(4), 2)), rng, permutations=499)
    low, high = found.interval[..., 0], found.interval[..., 1]
    assert np.array_equal((low > 0) | (high < 0), found.p_corrected <= LEVEL)


def test_that_seeds_above_meet_both_cases():
    found = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        numerator, weight = made_sums(rng, int(rng.integers(8, 60)), rng.normal(0, 0.15, 4).tolist())
        tests = permutation_tests(numerator, weight, list(combinations(range(4), 2)), rng, permutations=499)
        found += (tests.p_corrected <= LEVEL).ravel().tolist()
    assert 20 < sum(found) < len(found) - 20


def test_one_comparison_needs_no_correction_and_a_repeated_one_costs_nothing():
    numerator, weight = made_sums(np.random.default_rng(1), 30, [0, 0.1], n_measures=1)
    alone = permutation_tests(numerator, weight, [(0, 1)], np.random.default_rng(2), permutations=999)
    assert alone.p_corrected.tolist() == alone.p.tolist()
    repeated = [np.repeat(table, 5, axis=2) for table in (numerator, weight)]
    found = permutation_tests(*repeated, [(0, 1)] * 3, np.random.default_rng(2), permutations=999)
    assert np.all(found.p_corrected == alone.p)
    assert found.interval == pytest.approx(np.broadcast_to(alone.interval, found.interval.shape))


def test_p_values_alone_are_as_they_were():
    numerator, weight = made_sums(np.random.default_rng(1), 30, [0, 0.1, 0.2])
    p = permutation_p_values(numerator, weight, PAIRS, np.random.default_rng(2), permutations=200)
    found = permutation_tests(numerator, weight, PAIRS, np.random.default_rng(2), permutations=200)
    assert p.tolist() == found.p.tolist()


def test_what_is_alike_or_undefined_leaves_the_others_alone():
    numerator, weight = made_sums(np.random.default_rng(1), 30, [0, 0.1], n_measures=1)
    alone = permutation_tests(numerator, weight, [(0, 1)], np.random.default_rng(2), permutations=999)
    nothing = np.zeros_like(numerator)
    same = np.broadcast_to(numerator[:1], numerator.shape)
    tables = [np.concatenate(parts, axis=2) for parts in ((numerator, nothing, same), (weight, nothing, weight))]
    found = permutation_tests(*tables, [(0, 1)], np.random.default_rng(2), permutations=999)
    assert found.p_corrected[0].tolist() == pytest.approx([alone.p[0, 0], math.nan, 1], nan_ok=True)
    assert found.interval[0] == pytest.approx(np.array([alone.interval[0, 0], [math.nan] * 2, [0, 0]]), nan_ok=True)


def test_where_nothing_can_be_significant_intervals_have_no_end():
    numerator, weight = made_sums(np.random.default_rng(1), 4, [0, 5])
    few_videos = permutation_tests(numerator, weight, [(0, 1)], np.random.default_rng(0))  # at best 2 of 16
    numerator, weight = made_sums(np.random.default_rng(1), 40, [0, 5])
    few_swaps = permutation_tests(numerator, weight, [(0, 1)], np.random.default_rng(0), permutations=18)  # 1 of 19
    for found in (few_videos, few_swaps):
        assert np.isnan(found.interval).all()
        assert np.all(found.p_corrected > LEVEL)


@pytest.mark.parametrize("n_videos", quick_are([20], [20, 60]))
def test_all_intervals_of_a_table_hold_together(made_scores, n_videos):
    # Hits with known chances: three methods and two thresholds, so six differences. In 400 worlds 95 % of tables hold
    # all six, to four standard deviations of a binomial.
    rng = np.random.default_rng(n_videos)
    chance = np.array([[0.3, 0.2], [0.4, 0.25], [0.6, 0.4]])
    videos = [f"v{q // 3}" for q in range(3 * n_videos)]
    # With half of the videos easy and half hard the chance of a hit is its mean over both.
    mean = np.mean([np.minimum(chance / scale, 1) for scale in (0.5, 1.5)], axis=0)
    true = np.array([mean[i] - mean[j] for i, j in PAIRS])
    held = 0
    for _ in range(400):
        luck = rng.random((3, 1, len(videos))) * rng.choice([0.5, 1.5], n_videos).repeat(3)
        hits = luck < chance[:, :, None]
        scores = [made_scores(videos, of, measures="R@1,IoU=0.5; R@1,IoU=0.7") for of in hits]
        numerator, weight = (np.stack(parts) for parts in zip(*map(sums_by_video, scores), strict=True))
        interval = permutation_tests(numerator, weight, PAIRS, rng, permutations=399).interval
        held += bool(np.all((interval[..., 0] <= true) & (true <= interval[..., 1])))
    assert held / 400 > 0.95 - 4 * math.sqrt(0.95 * 0.05 / 400)
    assert held / 400 < 0.95 + 4 * math.sqrt(0.95 * 0.05 / 400)
