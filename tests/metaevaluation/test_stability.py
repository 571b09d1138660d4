"""Stability: self-agreement on pairs of subsets, against a slow loop and against what must come out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, kendalltau

from truemoment import get_protocol, parse_measures
from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import as_strings
from truemoment.evaluation.scores import Scores
from truemoment.studies.meta import stability as module
from truemoment.studies.meta.stability import default_sizes, running_sums, stability, units_of
from truemoment.studies.meta.systems import Systems

from ..thorough import quick_are

pytestmark = pytest.mark.slow


MEASURES = "R@1,IoU=0.5; R@5,IoU=0.5; AxIoU@5"


def systems_of(
    values: Floats,
    measures: str = MEASURES,
    *,
    weight: Floats | None = None,
    videos: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
) -> Systems:
    """Make systems of numerators (S, M, Q); each query counts once, and has a video of its own, unless told."""
    n_queries, parsed = values.shape[2], parse_measures(measures)
    names = [f"system {number}" for number in range(len(values))] if names is None else names
    videos = range(n_queries) if videos is None else videos
    weight = np.ones_like(values) if weight is None else weight
    return Systems(
        {
            name: Scores(
                measures=parsed,
                protocol=get_protocol("default"),
                query_id=as_strings([f"q{at}" for at in range(n_queries)], "query_id"),
                video_id=as_strings([f"v{at}" for at in videos], "video_id"),
                numerator=values[s],
                weight=weight[s],
                on_threshold=np.full(len(parsed), -1),
            )
            for s, name in enumerate(names)
        }
    )


def drawn(seed: int = 0, *, n_systems: int = 5, n_queries: int = 60, n_measures: int = 3) -> Floats:
    """Draw hits of systems that differ, and fractions for the last measure; (S, M, Q)."""
    rng = np.random.default_rng(seed)
    chance = np.linspace(0.3, 0.6, n_systems)[:, None, None] + rng.normal(0, 0.05, (n_systems, n_measures, 1))
    values = (rng.random((n_systems, n_measures, n_queries)) < chance).astype(np.float64)
    values[:, -1] *= rng.random((n_systems, n_queries))
    return values


@pytest.fixture
def subsets(monkeypatch):
    """Write down which rows every subset took, in the order in which they were taken: side by side, trial by trial."""
    taken: list[tuple[Ints, Ints]] = []

    def spied(table: Floats, rows: Ints, sizes: Ints) -> Floats:
        taken.append((rows.copy(), sizes.copy()))
        return running_sums(table, rows, sizes)

    monkeypatch.setattr(module, "running_sums", spied)
    return taken


def slow_tau(systems: Systems, queries: tuple[list[int], list[int]], m: int) -> float:
    """Tau-b of the rankings by figures summed query by query over two subsets; NaN where one ties all.

    A system without a figure ties with all (rankings.py); where all have one, SciPy's tau-b must be the same.
    """
    rankings = []
    for of in queries:
        figures = []
        for scores in systems.scores.values():
            weight = sum(float(scores.weight[m, q]) for q in of)
            figures.append(round(sum(float(scores.numerator[m, q]) for q in of) / weight, 10) if weight else math.nan)
        rankings.append(figures)
    signs = [[(x > y) - (x < y) for x, y in combinations(figures, 2)] for figures in rankings]
    untied = math.prod(sum(abs(sign) for sign in one) for one in signs)
    tau = sum(a * b for a, b in zip(*signs, strict=True)) / math.sqrt(untied) if untied else math.nan
    if not np.isnan(rankings).any():
        assert tau == pytest.approx(float(kendalltau(*rankings).statistic), abs=1e-12, nan_ok=True)
    return tau


def queries_of(systems: Systems, rows: Ints, unit: str) -> list[int]:
    """Numbers of the queries in some units."""
    if unit == "query":
        return rows.tolist()
    videos = list(dict.fromkeys(systems.first.video_id.tolist()))
    return [q for row in rows for q, video in enumerate(systems.first.video_id) if video == videos[row]]


# ------------------------------------------------------------------------------- against the definition


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("unit", ["query", "video"])
@pytest.mark.parametrize("weighted", [False, True])
def test_is_the_slow_loop_over_the_subsets_it_drew(subsets, overlapping, unit, weighted) -> None:
    """Mean, variance (of a sample) and share undefined of tau-b, from the queries of every subset."""
    rng = np.random.default_rng(5)
    values = drawn(3, n_systems=4, n_queries=24)
    weight = np.ones_like(values)
    if weighted:
        weight[:, 1] = rng.random(24) < 0.4  # as a measure of one class of lengths: the same for all systems
        weight[:, 2] = rng.random((4, 24)) < 0.6  # as where a protocol drops what a system did not answer
        values *= weight
    videos = rng.integers(11, size=24).tolist()
    systems = systems_of(values, "R@1,IoU=0.5; FalseAbstention; AxIoU@5", weight=weight, videos=videos)
    sizes = [1, 3, 5]
    found = stability(systems, np.random.default_rng(1), sizes=sizes, trials=30, unit=unit, overlapping=overlapping)
    assert len(subsets) == 2 * 30
    tau = np.empty((30, 3, 3))
    for trial in range(30):
        sides = subsets[2 * trial], subsets[2 * trial + 1]
        for n, size in enumerate(sizes):
            queries = tuple(queries_of(systems, rows[:size], unit) for rows, _ in sides)
            tau[trial, n] = [slow_tau(systems, queries, m) for m in range(3)]
    counted = np.where(np.isnan(tau), 0, tau)
    np.testing.assert_allclose(found.mean, counted.sum(axis=0) / 30, atol=1e-12)
    deviations = ((counted - counted.mean(axis=0)) ** 2).sum(axis=0) / 29
    np.testing.assert_allclose(found.variance, deviations, atol=1e-12)
    np.testing.assert_allclose(found.undefined, np.isnan(tau).sum(axis=0) / 30, atol=1e-12)
    assert found.sizes.tolist() == sizes
    assert found.trials == 30
    assert (found.unit, found.overlapping, found.n_systems) == (unit, overlapping, 4)
    assert found.measures == systems.measures


def test_two_systems_agree_with_the_square_of_the_chance_to_be_right() -> None:
    """Sign of the summed difference of n queries, drawn from many: right with p, so E[tau] = (2 p - 1)^2.

    Differences are normal with mean d and deviation 1: p = Phi(d sqrt(n)). Of 5,000 queries two subsets of 25 are
    nearly independent; 1,500 trials give a standard error of 0.026 at most.
    """
    rng = np.random.default_rng(8)
    difference = rng.normal(0.2, 1, 5000)
    difference += 0.2 - difference.mean()
    values = np.stack([0.5 + difference, np.full(5000, 0.5)])[:, None]
    found = stability(systems_of(values, "mIoU"), np.random.default_rng(2), sizes=[4, 25], trials=1500)
    for at, n in enumerate((4, 25)):
        p = NormalDist().cdf(0.2 * math.sqrt(n) / float(difference.std()))
        assert found.mean[at, 0] == pytest.approx((2 * p - 1) ** 2, abs=4 * 0.026)
        assert found.variance[at, 0] == pytest.approx(1 - (2 * p - 1) ** 4, abs=0.06)  # tau is 1 or -1


@pytest.mark.parametrize("overlapping", [False, True])
def test_agrees_with_a_simulation_that_draws_each_size_by_itself(overlapping) -> None:
    """Nested sizes must not shift a size's mean: 1,500 trials there, 700 here, 3.5 standard errors."""
    systems = systems_of(drawn(4, n_systems=4, n_queries=40))
    found = stability(systems, np.random.default_rng(0), sizes=[3, 10, 20], trials=1500, overlapping=overlapping)
    rng = np.random.default_rng(99)
    numerator = np.stack([scores.numerator for scores in systems.scores.values()])  # (S, M, Q)
    for n, size in enumerate((3, 10, 20)):
        taus = []
        for _ in range(700):
            if overlapping:
                one, two = rng.choice(40, size, replace=False), rng.choice(40, size, replace=False)
            else:
                both = rng.choice(40, 2 * size, replace=False)
                one, two = both[:size], both[size:]
            signs = [
                np.sign(np.round(np.subtract.outer(of, of), 9))[np.triu_indices(4, 1)]
                for of in (numerator[:, 0, one].sum(axis=1), numerator[:, 0, two].sum(axis=1))
            ]
            norm = math.sqrt(float((signs[0] ** 2).sum() * (signs[1] ** 2).sum()))
            taus.append(float((signs[0] * signs[1]).sum()) / norm if norm else 0.0)
        error = math.sqrt(np.var(taus) / 700 + np.var(taus) / 1500)
        assert found.mean[n, 0] == pytest.approx(np.mean(taus), abs=3.5 * error)
        assert found.variance[n, 0] == pytest.approx(np.var(taus), rel=0.2)


# ------------------------------------------------------------------------------------ which subsets


def test_disjoint_subsets_share_nothing_and_overlapping_ones_do(subsets) -> None:
    systems = systems_of(drawn(n_queries=30))
    stability(systems, np.random.default_rng(0), sizes=[5, 15], trials=40)
    pairs = list(zip(subsets[::2], subsets[1::2], strict=True))
    assert len(pairs) == 40
    for (one, _), (two, _) in pairs:
        assert len(one) == len(two) == 15
        assert len({*one.tolist(), *two.tolist()}) == 30
    subsets.clear()
    stability(systems, np.random.default_rng(0), sizes=[5, 15], trials=40, overlapping=True)
    shared = []
    for (one, _), (two, _) in zip(subsets[::2], subsets[1::2], strict=True):
        assert len(set(one.tolist())) == len(one) == 15  # without replacement within each
        assert len(set(two.tolist())) == len(two) == 15
        shared.append(len({*one.tolist()} & {*two.tolist()}))
    # Hypergeometric: 15 * 15 / 30 in the mean, deviation 1.4, of 40 trials.
    assert np.mean(shared) == pytest.approx(7.5, abs=4 * 1.4 / math.sqrt(40))


@pytest.mark.parametrize("overlapping", quick_are([True], [False, True]))
def test_every_size_draws_every_query_as_often(subsets, overlapping) -> None:
    """How often each of 12 queries is in the subset of each size, either side: chi-square against evenness.

    Draws without replacement vary less than a multinomial, by (U - n) / (U - 1).
    """
    stability(
        systems_of(drawn(n_queries=12)), np.random.default_rng(6), sizes=[1, 3, 6], trials=2000, overlapping=overlapping
    )
    for side in (0, 1):
        for size in (1, 3, 6):
            counts = np.bincount(np.concatenate([rows[:size] for rows, _ in subsets[side::2]]), minlength=12)
            expected = 2000 * size / 12
            statistic = float(((counts - expected) ** 2).sum() / expected) * 11 / (12 - size)
            assert statistic < chi2.ppf(0.9999, 11)
            assert statistic > chi2.ppf(0.0001, 11)  # no more even than chance makes it


def test_two_subsets_are_drawn_independently_where_they_may_overlap(subsets) -> None:
    """First queries of the two sides: each of 36 pairs of 6 queries as often, chi-square with 35 degrees."""
    stability(systems_of(drawn(n_queries=6)), np.random.default_rng(6), sizes=[1], trials=1800, overlapping=True)
    firsts = [int(one[0]) * 6 + int(two[0]) for (one, _), (two, _) in zip(subsets[::2], subsets[1::2], strict=True)]
    counts = np.bincount(firsts, minlength=36)
    assert float(((counts - 50) ** 2).sum() / 50) < chi2.ppf(0.9999, 35)


def test_trials_differ(subsets) -> None:
    """60 trials are three blocks, each with a generator of its own: no two draw alike."""
    stability(systems_of(drawn()), np.random.default_rng(0), sizes=[20], trials=60)
    assert len({tuple(rows.tolist()) for rows, _ in subsets}) == 120


def test_by_video_draws_whole_videos() -> None:
    """Of each video each system answers one query rightly, not the same: whole videos never tell the two apart."""
    videos = [0, 1, 2, 3, 3, 2, 1, 0, 4, 4, 5, 5]
    values = np.zeros((2, 1, 12))
    values[0, 0, [0, 1, 2, 3, 8, 10]] = 1  # one query of each video right, the other wrong
    values[1, 0, [4, 5, 6, 7, 9, 11]] = 1  # the other way round: equal by every whole video
    systems = systems_of(values, "mIoU", videos=videos)
    found = stability(systems, np.random.default_rng(0), sizes=[1, 3], trials=50, unit="video")
    assert found.undefined.tolist() == [[1.0], [1.0]]
    assert found.mean.tolist() == [[0.0], [0.0]]
    assert found.queries.tolist() == [2.0, 6.0]
    by_query = stability(systems, np.random.default_rng(0), sizes=[1, 3], trials=50, unit="query")
    assert by_query.undefined[0, 0] == 0
    assert by_query.queries.tolist() == [1.0, 3.0]


# ------------------------------------------------------------------------------- what must come out


def test_overlapping_at_full_size_is_one() -> None:
    found = stability(
        systems_of(drawn(n_queries=30)), np.random.default_rng(0), sizes=[10, 30], trials=20, overlapping=True
    )
    assert found.mean[1].tolist() == [1.0, 1.0, 1.0]
    assert found.variance[1].tolist() == [0.0, 0.0, 0.0]
    assert (found.mean[0] < 1).all()


def test_equal_systems_tie_and_count_as_zero() -> None:
    values = np.repeat(drawn(n_systems=1), 4, axis=0)
    found = stability(systems_of(values), np.random.default_rng(0), sizes=[5, 30], trials=10)
    assert (found.undefined == 1).all()
    assert (found.mean == 0).all()
    assert (found.variance == 0).all()


def test_systems_that_differ_by_a_constant_always_rank_alike() -> None:
    """The per-query values of system s are (s + 1) times those of the first: every subset gives the same ranking."""
    first = 0.1 + 0.05 * np.random.default_rng(0).random(40)
    values = np.stack([first * (s + 1) for s in range(5)])[:, None]
    found = stability(systems_of(values, "AxIoU@1"), np.random.default_rng(0), sizes=[1, 7, 20], trials=15)
    assert found.mean.ravel().tolist() == [1.0, 1.0, 1.0]
    assert found.variance.ravel().tolist() == [0.0, 0.0, 0.0]


def test_opposite_halves_disagree() -> None:
    """Two videos, on each of which another system is right: on two subsets of one video tau is -1."""
    values = np.zeros((2, 1, 4))
    values[0, 0, :2] = values[1, 0, 2:] = 1
    found = stability(
        systems_of(values, "mIoU", videos=[0, 0, 1, 1]), np.random.default_rng(0), sizes=[1], trials=9, unit="video"
    )
    assert found.mean.tolist() == [[-1.0]]


def test_a_class_that_no_subset_holds_is_undefined() -> None:
    """The second measure has weight on one query of 20: two subsets that share nothing cannot both hold it."""
    values, weight = drawn(n_queries=20), np.ones((5, 3, 20))
    weight[:, 1, 1:] = 0
    found = stability(systems_of(values * weight, weight=weight), np.random.default_rng(0), sizes=[10], trials=10)
    assert found.undefined[0, 1] == 1
    assert found.mean[0, 1] == 0


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.sampled_from(["query", "video"]), st.booleans())
def test_neither_the_order_of_systems_nor_scale_nor_direction_matters(seed, n_systems, unit, overlapping) -> None:
    """Systems in another order, values halved, and a measure turned round with its direction: the same to a bit."""
    rng = np.random.default_rng(seed)
    values = rng.integers(4, size=(n_systems, 2, 18)) / 4
    videos = rng.integers(9, size=18).tolist()

    def found(of: Floats, measures: str) -> list[Floats]:
        of_systems = systems_of(of, measures, videos=videos)
        result = stability(
            of_systems, np.random.default_rng(seed), sizes=[1, 3], trials=6, unit=unit, overlapping=overlapping
        )
        return [result.mean, result.variance, result.undefined]

    if len(set(videos)) < 6:
        return
    as_is = found(values, "mIoU; AxIoU@5")
    for changed in (
        found(values[rng.permutation(n_systems)], "mIoU; AxIoU@5"),
        found(values / 2, "mIoU; AxIoU@5"),
        found(np.stack([values[:, 0], 1 - values[:, 1]], axis=1), "mIoU; FalseAbstention"),
    ):
        for one, other in zip(as_is, changed, strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)  # tau adds integers, their means follow
    mean, variance, undefined = as_is
    assert (np.abs(mean) <= 1).all()
    assert (variance >= 0).all()
    assert ((undefined >= 0) & (undefined <= 1)).all()


@pytest.mark.parametrize("trials", [2, 25, 26, 80])
def test_is_the_same_for_any_number_of_workers(trials) -> None:
    systems = systems_of(drawn(2))
    found = [
        stability(systems, np.random.default_rng(3), sizes=[4, 20], trials=trials, workers=workers)
        for workers in (1, 2, 3, None)
    ]
    for other in found[1:]:
        for name in ("mean", "variance", "undefined", "queries", "sizes"):
            np.testing.assert_array_equal(getattr(found[0], name), getattr(other, name))


def test_seeds_draw_differently_and_the_same_seed_alike() -> None:
    systems = systems_of(drawn(2))
    means = [stability(systems, np.random.default_rng(seed), sizes=[20], trials=40).mean for seed in (1, 1, 2)]
    np.testing.assert_array_equal(means[0], means[1])
    assert (means[0] != means[2]).any()


# ------------------------------------------------------------------------------------ sums and sizes


@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(1, 5))
def test_running_sums_are_sums_of_the_first_rows(seed, n_rows, n_columns) -> None:
    rng = np.random.default_rng(seed)
    table = rng.random((n_rows, n_columns))
    rows = rng.permutation(n_rows)
    sizes = np.unique(rng.integers(1, n_rows + 1, size=4))
    expected = [[math.fsum(table[row, c] for row in rows[:size]) for c in range(n_columns)] for size in sizes]
    np.testing.assert_allclose(running_sums(table, rows, sizes), expected, atol=1e-12)


def test_default_sizes_double_up_to_half() -> None:
    """From 50 in ten equal steps of the logarithm to half of the units; to all where subsets may overlap."""
    sizes = default_sizes(10_000)
    assert (len(sizes), sizes[0], sizes[-1]) == (10, 50, 5000)
    np.testing.assert_allclose(np.diff(np.log(sizes)), math.log(100) / 9, atol=0.02)
    assert default_sizes(10_000, overlapping=True)[-1] == 10_000


@pytest.mark.parametrize("n_units", [2, 3, 20, 99, 100, 101, 120])
@pytest.mark.parametrize("overlapping", [False, True])
def test_default_sizes_of_few_units_can_be_drawn(n_units, overlapping) -> None:
    sizes = default_sizes(n_units, overlapping=overlapping)
    assert sizes[-1] == (n_units if overlapping else n_units // 2)
    assert sizes[0] >= 1
    assert (np.diff(sizes) > 0).all()
    found = stability(systems_of(drawn(n_queries=n_units)), np.random.default_rng(0), trials=2, overlapping=overlapping)
    assert found.sizes.tolist() == sizes.tolist()


def test_sizes_are_put_in_order_each_once() -> None:
    found = stability(systems_of(drawn()), np.random.default_rng(0), sizes=[20, 5, 20, 10], trials=3)
    assert found.sizes.tolist() == [5, 10, 20]


@pytest.mark.parametrize(
    ("sizes", "overlapping", "said"),
    [
        ([0], False, r"a subset of 0, expected 1 to 30 \(in units of one query; .*disjoint"),
        ([-2, 5], False, "a subset of -2, expected 1 to 30"),
        ([31], False, "a subset of 31, expected 1 to 30"),
        ([61], True, r"a subset of 61, expected 1 to 60 \(in units of one query; of the data\)"),
        ([], False, "no size, expected 1 to 30"),
    ],
)
def test_refuses_sizes_that_cannot_be_drawn(sizes, overlapping, said) -> None:
    with pytest.raises(UsageError, match=said):
        stability(systems_of(drawn()), np.random.default_rng(0), sizes=sizes, trials=2, overlapping=overlapping)


def test_refuses_one_unit_and_one_trial() -> None:
    systems = systems_of(drawn(n_queries=4), videos=[0, 0, 0, 0])
    with pytest.raises(UsageError, match="got 1 video, expected 2 or more"):
        stability(systems, np.random.default_rng(0), unit="video")
    with pytest.raises(UsageError, match="got 1 trials, expected 2 or more"):
        stability(systems, np.random.default_rng(0), trials=1)


def test_units_that_hold_some_queries() -> None:
    """60 queries of 20 videos: 3 each, so that 30 queries are 10 videos; 1 query is a video at least."""
    systems = systems_of(drawn(), videos=[at // 3 for at in range(60)])
    assert units_of([30, 8, 6, 1], systems, "video").tolist() == [1, 2, 3, 10]  # 8 are nearly 3
    assert units_of([30, 6], systems, "query").tolist() == [6, 30]
    with pytest.raises(UsageError, match="a subset of 61 queries, expected at most the 60"):
        units_of([61], systems, "video")
