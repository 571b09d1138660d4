"""Comparison of methods: means and spreads, pairs, what is corrected, what a group of runs means."""

from __future__ import annotations

import dataclasses
import math
from itertools import product

import numpy as np
import pytest

from truemoment import Predictions
from truemoment.base.errors import UsageError
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.uncertainty import (
    interval95,
    minimum_detectable_difference,
    paired_permutation,
    permutation_tests,
    resample_figures,
    sums_by_video,
)
from truemoment.studies.compare.comparison import compare

nan = float("nan")
VIDEOS = [f"v{i // 2}" for i in range(80)]
TWO = "mIoU; AP@1,IoU=0.5"


@pytest.fixture
def groups(made_scores):
    """Three methods on 40 videos of two queries: one of three runs, one of one, one of two."""
    rng = np.random.default_rng(0)
    common = rng.random((2, 80))

    def run(shift):
        return made_scores(VIDEOS, common + shift + rng.normal(0, 0.2, (2, 80)), measures=TWO)

    return {"ours": [run(0.15) for _ in range(3)], "base": [run(0.0)], "other": [run(0.1) for _ in range(2)]}


def small(groups, **options):
    return compare(groups, np.random.default_rng(5), **({"resamples": 200, "permutations": 300} | options))


def test_means_and_spreads_by_hand(made_scores):
    videos = list("abcd")
    # Figures 1/4, 2/4, 3/4: mean 1/2, sample standard deviation 1/4. One run has none.
    ours = [made_scores(videos, hits) for hits in ([1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0])]
    found = small({"ours": ours, "base": [made_scores(videos, [0, 0, 0, 1])]})
    assert [table.ravel().tolist() for table in found.values] == [[0.25, 0.5, 0.75], [0.25]]
    assert found.mean.ravel().tolist() == [0.5, 0.25]
    assert found.spread.ravel().tolist() == pytest.approx([0.25, nan], nan_ok=True)
    assert found.difference.tolist() == [[0.25]]


def test_all_pairs_or_one_baseline(groups):
    found = small(groups)
    assert found.methods == ("ours", "base", "other")
    assert (found.baseline, found.pairs) == (None, ((0, 1), (0, 2), (1, 2)))
    assert small(groups, baseline="base").pairs == ((0, 1), (2, 1))  # each less the baseline
    for i, (a, b) in enumerate(found.pairs):
        assert np.array_equal(found.difference[i], found.mean[a] - found.mean[b])


def test_it_is_made_of_the_parts_of_uncertainty(groups):
    # Single runs: the same generator gives the same resamples, then the same swaps.
    alone = {name: group[:1] for name, group in groups.items()}
    found = small(alone, baseline="base")
    rng = np.random.default_rng(5)
    figures = resample_figures([group[0] for group in alone.values()], rng, resamples=200)
    state = rng.bit_generator.state
    assert np.array_equal(found.interval, interval95(figures))
    sums = [sums_by_video(group[0]) for group in alone.values()]
    tests = permutation_tests(*map(np.stack, zip(*sums, strict=True)), found.pairs, rng, permutations=300)
    assert np.array_equal(found.difference_interval, tests.interval)
    assert np.array_equal(found.p_corrected, tests.p_corrected)
    for i, (a, b) in enumerate(found.pairs):
        differences = figures[:, a] - figures[:, b]
        level = math.erfc(tests.critical / math.sqrt(2))  # of a normal deviate that is so large on either side
        assert found.resolves[i] == pytest.approx(minimum_detectable_difference(differences, level=level))
        rng.bit_generator.state = state
        runs = list(alone.values())
        assert found.p[i].tolist() == paired_permutation(runs[a][0], runs[b][0], rng, permutations=300).tolist()


def test_the_mean_over_runs_is_resampled(groups):
    found = small(groups)
    runs = [run for group in groups.values() for run in group]
    figures = resample_figures(runs, np.random.default_rng(5), resamples=200)
    mean = np.stack([figures[:, :3].mean(axis=1), figures[:, 3], figures[:, 4:].mean(axis=1)], axis=1)
    assert found.interval == pytest.approx(interval95(mean), rel=1e-14)
    # The mean of three runs that differ by chance varies less than one of them; 200 resamples tell 1.5 times apart.
    width = np.diff(found.interval[0], axis=1) / np.diff(interval95(figures[:, 0]), axis=1)
    assert np.all(width < 1)


def test_methods_are_swapped_by_video(made_scores):
    # Four videos, one query each. All 16 swaps by a slow loop.
    # Runs of both, which differ, would be tested over trainings: here they are equal.
    rng = np.random.default_rng(1)
    ours, base = [rng.random(4)], [rng.random(4)]
    videos = list("abcd")
    found = small({"ours": [made_scores(videos, x) for x in ours], "base": [made_scores(videos, x) for x in base]})
    difference = np.mean(ours, axis=0) - np.mean(base, axis=0)
    permuted = [abs(np.mean(difference * signs)) for signs in product([1, -1], repeat=4)]
    assert found.p.tolist() == [[sum(d >= abs(difference.mean()) - 1e-12 for d in permuted) / 16]]


def test_the_order_of_methods_only_turns_signs(groups):
    found, turned = small(groups), small(dict(reversed(groups.items())))
    for i, (a, b) in enumerate(found.pairs):
        j = turned.pairs.index((2 - b, 2 - a))
        assert turned.difference[j] == pytest.approx(-found.difference[i], rel=1e-12)
        assert turned.difference_interval[j] == pytest.approx(-found.difference_interval[i][:, ::-1], rel=1e-9)
        assert turned.p[j].tolist() == found.p[i].tolist()
        assert turned.resolves[j] == pytest.approx(found.resolves[i], rel=1e-9)
        assert turned.verdict[j].tolist() == (-found.verdict[i]).tolist()


def test_a_verdict_needs_the_corrected_p(groups):
    found = small(groups)
    assert found.verdict.tolist() == np.where(found.p_corrected <= 0.05, np.sign(found.difference), 0).tolist()
    assert found.verdict[0].tolist() == [1, 1]  # 0.15 above base, see the fixture
    borderline = dataclasses.replace(found, p_corrected=np.array([[0.05, 0.0501], [nan, 1.0], [0.04, 0.04]]))
    assert borderline.verdict[:2].tolist() == [[1, 0], [0, 0]]


def test_a_correction_over_more_comparisons_asks_for_more(groups):
    one, all_pairs = small(groups, baseline="base"), small(groups)
    assert (one.family, all_pairs.family) == (4, 6)  # two and three pairs in two measures
    # Bonferroni's level is the least that it can come to, and 0.05 is that of one comparison.
    assert 0.05 / 6 < all_pairs.resolved_level < one.resolved_level < 0.05
    assert np.all(all_pairs.resolves[0] > one.resolves[0])


def test_measures_are_corrected_for_one_another(made_scores):
    # p of one comparison is 0.03125 (all six videos better: 2 of 64). Among 21 differences of other videos it is more.
    rng = np.random.default_rng(3)
    alone = np.array([[1] * 6 + [0] * 34])
    others = np.cumsum(np.ones(20))[:, None] / 20
    measures = "; ".join(f"AP@1,IoU={i / 100}" for i in range(1, 21))
    videos = [f"v{i}" for i in range(40)]
    base = made_scores(videos, np.zeros((21, 40)), measures=f"mIoU; {measures}")
    noise = made_scores(
        videos, np.concatenate([alone, others * rng.normal(size=(20, 40))]), measures=f"mIoU; {measures}"
    )
    single = compare({"a": [noise.only(noise.measures[:1])], "b": [base.only(base.measures[:1])]}, rng)
    assert (single.p[0, 0], single.p_corrected[0, 0], single.verdict[0, 0]) == (0.03125, 0.03125, 1)
    found = compare({"a": [noise], "b": [base]}, rng, permutations=2000)
    assert found.family == 21
    assert found.p_corrected[0, 0] > 0.05
    assert found.verdict[0, 0] == 0
    assert found.difference_interval[0, 0, 0] < 0 < found.difference_interval[0, 0, 1]


def test_methods_that_hardly_differ_resolve_nothing(made_scores):
    # On 9 videos of 40 they differ in mIoU, on 10 in AP: below 10 nothing is said.
    rng = np.random.default_rng(2)
    values = rng.random((2, 80))
    other = values.copy()
    other[0, 0:18:2] += 0.1
    other[1, 0:20:2] += 0.1
    systems = {name: [made_scores(VIDEOS, table, measures=TWO)] for name, table in (("a", values), ("b", other))}
    found = small(systems)
    assert found.n_differing.tolist() == [[9, 10]]
    assert np.isnan(found.resolves).tolist() == [[True, False]]
    same = small({"a": systems["a"], "b": systems["a"]})
    assert same.difference.tolist() == [[0, 0]]
    assert same.p.tolist() == [[1, 1]]
    assert np.isnan(same.resolves).all()


def test_undefined_stays_undefined(made_scores):
    weight = [[1] * 80, [0] * 80]
    made = {name: [made_scores(VIDEOS, np.full((2, 80), 0.5), weight, TWO)] for name in "abc"}
    found = small(made)
    for table in (found.mean, found.difference, found.p, found.p_corrected):
        assert np.isnan(table).any(axis=0).tolist() == [False, True]
    assert np.isnan(found.interval[:, 1]).all()
    assert found.verdict.tolist() == [[0, 0]] * 3
    assert found.counts.sum(axis=1).tolist() == [80, 0]


def test_methods_measured_on_different_queries(world):
    w = world(3, n_queries=25)
    fewer = {q: [(float(s), float(e), score) for s, e, score in m] for q, m in list(w.filed.items())[::2]}
    for protocol, differ in (("default", False), ("default,missing=drop", True)):
        systems = [evaluate(w.annotations, p, "mIoU", protocol) for p in (w.predictions, Predictions.from_lists(fewer))]
        found = small({"all": systems[:1], "half": systems[1:]})
        assert found.weights_differ is differ
        assert found.difference[0, 0] == systems[0].value("mIoU") - systems[1].value("mIoU")
        both = (systems[0].weight > 0) & (systems[1].weight > 0)
        assert np.array_equal(found.counts, both)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda _: {}, "got 0 methods (none), expected two or more"),
        (lambda g: {"ours": g["ours"]}, "got 1 methods (ours), expected two or more"),
        (lambda g: g | {"base": []}, "method 'base' has no run, expected one or more"),
    ],
)
def test_impossible_groups(groups, change, said):
    with pytest.raises(UsageError) as caught:
        small(change(groups))
    assert str(caught.value) == said


def test_impossible_options(groups):
    with pytest.raises(UsageError, match="got baseline 'x', expected one of ours, base, other"):
        small(groups, baseline="x")
    with pytest.raises(UsageError, match="got 1 resamples"):
        small(groups, resamples=1)
    with pytest.raises(UsageError, match="got 0 permutations"):
        small(groups, permutations=0)
    (base,) = groups["base"]
    with pytest.raises(UsageError, match="scores 3 have split val, expected test as in scores 0"):
        small(groups | {"base": [dataclasses.replace(base, split="val")]})


@pytest.mark.slow
def test_three_runs_against_one_err_no_more_often(made_scores):
    # Runs of one method, hits with a chance of their own a video: three of them against one more. Not exactly
    # exchangeable (the mean of three varies less), so the promise of 5 % is checked: 200 worlds, five standard
    # deviations of a binomial.
    rng = np.random.default_rng(17)
    claims = 0
    for _ in range(200):
        chance = np.repeat(rng.beta(0.5, 0.5, 50), 2)
        videos = [f"v{i // 2}" for i in range(100)]
        runs = [made_scores(videos, rng.random(100) < chance) for _ in range(4)]
        found = compare({"three": runs[:3], "one": runs[3:]}, rng, resamples=2, permutations=199)
        claims += int(found.p[0, 0] <= 0.05)
    assert abs(claims - 10) < 5 * math.sqrt(200 * 0.05 * 0.95)


@pytest.mark.parametrize(("margin", "runs", "verdict"), [(0.0, 1, 1), (0.3, 1, 1), (0.4, 1, 0), (0.4, 2, 1)])
def test_one_run_is_above_a_blind_method_only_by_more_than_its_spread(made_scores, margin, runs, verdict):
    # By hand: 30 of 40 videos against 10, +50 points; the interval of the difference begins between 30 and 40 points.
    # A method with several runs has its luck in the interval.
    videos = [f"v{i}" for i in range(40)]
    own = [made_scores(videos, [1.0] * 30 + [0.0] * 10)] * runs
    blind = made_scores(videos, [0.0] * 10 + [1.0] * 10 + [0.0] * 20)
    found = compare({"own": own, "net": [blind]}, np.random.default_rng(0), blind={"net": margin}, permutations=2000)
    if runs == 1:
        assert 0.3 < found.difference_interval[0, 0, 0] < 0.4
    assert found.above("own", "net").tolist() == [verdict]
    assert found.above("net", "own").tolist() == [-verdict]
