"""Effectiveness and agreement: tau-b of every pair of measures, with intervals by resampling videos."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from truemoment import get_protocol, parse_measures
from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats
from truemoment.base.records import as_strings
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import interval95, resample_figures
from truemoment.studies.meta.agreement import agreement, mean_with_others, tau_matrix
from truemoment.studies.meta.rankings import kendall_tau_b, order_of_pairs
from truemoment.studies.meta.systems import Systems


def systems_of(values: Floats, measures: str, *, names: Sequence[str] | None = None, per_video: int = 2) -> Systems:
    """Make systems of values (S, M, Q); each query counts once."""
    n_queries = values.shape[2]
    parsed = parse_measures(measures)
    names = [f"system {number}" for number in range(len(values))] if names is None else names
    return Systems(
        {
            name: Scores(
                measures=parsed,
                protocol=get_protocol("default"),
                query_id=as_strings([f"q{at}" for at in range(n_queries)], "query_id"),
                video_id=as_strings([f"v{at // per_video}" for at in range(n_queries)], "video_id"),
                numerator=of_system,
                weight=np.ones_like(of_system),
                on_threshold=np.full(len(parsed), -1),
            )
            for name, of_system in zip(names, values, strict=True)
        }
    )


def drawn(seed: int = 0, *, n_systems: int = 6, n_queries: int = 60) -> Systems:
    """Draw hits of systems that differ, by four measures."""
    rng = np.random.default_rng(seed)
    chance = np.linspace(0.2, 0.6, n_systems)[:, None, None] + rng.normal(0, 0.05, (n_systems, 4, 1))
    hits = (rng.random((n_systems, 4, n_queries)) < chance).astype(np.float64)
    return systems_of(hits, "R@1,IoU=0.5; R@5,IoU=0.5; R@10,IoU=0.5; mIoU")


def test_tau_is_scipys() -> None:
    """The reference is scipy.stats.kendalltau, which computes tau-b by default; hits of 20 queries tie often."""
    systems = drawn(n_systems=9, n_queries=20)
    found = agreement(systems, np.random.default_rng(0), resamples=2)
    for a in range(4):
        for b in range(4):
            expected = kendalltau(systems.figures[:, a], systems.figures[:, b]).statistic
            assert found.tau[a, b] == pytest.approx(expected, abs=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(2, 8), st.integers(1, 5), st.integers(2, 4))
def test_one_product_is_each_pair_of_rankings_by_itself(
    seed: int, n_systems: int, n_measures: int, levels: int
) -> None:
    """`kendall_tau_b` of each two rankings is the slow loop; few levels of figures give ties and undefined taus."""
    figures = np.random.default_rng(seed).integers(levels, size=(3, n_measures, n_systems)).astype(np.float64)
    signs = order_of_pairs(figures)
    found = tau_matrix(signs)
    for sample, a, b in np.ndindex(3, n_measures, n_measures):
        expected = kendall_tau_b(signs[sample, a], signs[sample, b])
        np.testing.assert_allclose(found[sample, a, b], expected, atol=1e-12)


def test_intervals_are_quantiles_of_tau_in_the_same_resamples() -> None:
    """A slow loop over resamples and pairs, with SciPy's tau, from the resamples that the same seed gives."""
    systems = drawn(1)
    found = agreement(systems, np.random.default_rng(7), resamples=40)
    resampled = resample_figures(list(systems.scores.values()), np.random.default_rng(7), resamples=40)
    taus = np.array(
        [
            [[kendalltau(sample[:, a], sample[:, b]).statistic for b in range(4)] for a in range(4)]
            for sample in resampled
        ]
    )
    np.testing.assert_allclose(found.interval, interval95(taus), atol=1e-12)
    np.testing.assert_allclose(found.figure_interval, interval95(resampled))
    of_others = (taus.sum(axis=2) - 1) / 3
    np.testing.assert_allclose(found.mean_interval, interval95(of_others), atol=1e-12)
    best = of_others >= of_others.max(axis=1, keepdims=True) - 1e-12
    np.testing.assert_allclose(found.highest, (best / best.sum(axis=1, keepdims=True)).mean(axis=0))
    assert found.highest.sum() == pytest.approx(1)


def test_blocks_of_resamples_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = agreement(drawn(), np.random.default_rng(3), resamples=30)
    monkeypatch.setattr("truemoment.studies.meta.agreement._BLOCK", 100)
    in_blocks = agreement(drawn(), np.random.default_rng(3), resamples=30)
    np.testing.assert_array_equal(whole.interval, in_blocks.interval)


def test_a_measure_of_which_less_is_better_ranks_the_other_way() -> None:
    """By FalseAbstention the system that abstains least wrongly is best, which mIoU says too: tau is 1, not -1."""
    values = np.stack([np.array([[level] * 4, [1 - level] * 4]) for level in (0.2, 0.5, 0.9)])
    systems = systems_of(values, "mIoU; FalseAbstention")
    assert systems.direction.tolist() == [1, -1]
    found = agreement(systems, np.random.default_rng(0), resamples=5)
    assert found.tau[0, 1] == 1
    np.testing.assert_array_equal(found.interval[0, 1], [1, 1])


def test_a_measure_that_ties_all_systems_has_no_tau() -> None:
    """Tau-b divides by the number of pairs a ranking tells apart, which is 0."""
    values = np.random.default_rng(0).random((4, 3, 10))
    values[:, 2] = 1.0
    found = agreement(systems_of(values, "mIoU; R@1,IoU=0.5; R@10,IoU=0.3"), np.random.default_rng(0), resamples=20)
    assert np.isnan(found.tau[2]).all()
    assert np.isnan(found.tau[:, 2]).all()
    assert np.isnan(found.mean[2])
    assert np.isnan(found.mean_interval[2]).all()
    assert found.mean[0] == found.tau[0, 1]  # the only other one there is
    assert found.highest[2] == 0


def test_a_single_measure_has_nobody_to_agree_with() -> None:
    found = agreement(systems_of(np.random.default_rng(0).random((3, 1, 8)), "mIoU"), np.random.default_rng(0))
    assert found.tau.tolist() == [[1.0]]
    assert np.isnan(found.mean).all()
    assert found.highest.tolist() == [0.0]


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_tau_is_symmetric_and_within_its_range(seed: int) -> None:
    """Tau-b is symmetric, between -1 and 1, and 1 of a ranking with itself."""
    found = agreement(drawn(seed, n_queries=12), np.random.default_rng(seed), resamples=5)
    np.testing.assert_array_equal(found.tau, found.tau.T)
    defined = ~np.isnan(found.tau)
    assert (np.abs(found.tau[defined]) <= 1 + 1e-12).all()
    diagonal = np.diag(found.tau)
    np.testing.assert_allclose(diagonal[~np.isnan(diagonal)], 1)


def test_the_order_of_systems_changes_no_tau() -> None:
    """A pair counts the same whichever of its systems stands first."""
    systems = drawn(2)
    turned = Systems(dict(reversed(systems.scores.items())))
    ours, theirs = (agreement(one, np.random.default_rng(5), resamples=20) for one in (systems, turned))
    np.testing.assert_array_equal(ours.tau, theirs.tau)
    np.testing.assert_array_equal(ours.interval, theirs.interval)


def test_means_leave_out_the_measure_itself_and_what_is_undefined() -> None:
    tau = np.array([[1.0, 0.5, np.nan], [0.5, 1.0, np.nan], [np.nan, np.nan, np.nan]])
    np.testing.assert_array_equal(mean_with_others(tau), [0.5, 0.5, np.nan])


def test_too_few_resamples_are_refused() -> None:
    with pytest.raises(UsageError, match="got 1 resamples, expected 2 or more"):
        agreement(drawn(), np.random.default_rng(0), resamples=1)


@pytest.mark.parametrize("n_systems", [25])
def test_many_systems_take_a_few_seconds(n_systems: int) -> None:
    """25 systems x 4 measures x 1,000 resamples: a loop over resamples and pairs of measures would take a minute."""
    systems = drawn(n_systems=n_systems, n_queries=200)
    began = time.perf_counter()
    agreement(systems, np.random.default_rng(0))
    assert time.perf_counter() - began < 10
