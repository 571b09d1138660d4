"""Kendall's tau-b of two rankings: SciPy's, a slow loop, ties, and what no change may change."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from truemoment.studies.meta.rankings import kendall_tau_b, order_of_pairs, pairs_of

nan = float("nan")

TABLES = st.tuples(st.integers(0, 2**32 - 1), st.integers(2, 9), st.integers(1, 6))
"""Seed, systems, and levels that figures take: 1 level ties all."""


def two_tables(seed: int, n_systems: int, levels: int) -> np.ndarray:
    """Two lists of figures with few levels, so that systems tie; levels are thirds, which float64 rounds."""
    return np.random.default_rng(seed).integers(levels, size=(2, n_systems)) / 3


def slow_tau(a: list[float], b: list[float]) -> float:
    """Agresti's tau-b from concordant and discordant pairs and pairs untied in each (the formula of the module)."""
    concordant = discordant = of_a = of_b = 0
    for i, j in combinations(range(len(a)), 2):
        x = 0 if abs(a[i] - a[j]) <= 1e-12 else 1 if a[i] > a[j] else -1
        y = 0 if abs(b[i] - b[j]) <= 1e-12 else 1 if b[i] > b[j] else -1
        concordant += x * y == 1
        discordant += x * y == -1
        of_a += x != 0
        of_b += y != 0
    return (concordant - discordant) / math.sqrt(of_a * of_b) if of_a and of_b else nan


@given(TABLES)
def test_is_scipys_and_undefined_where_scipys_is(drawn) -> None:
    """scipy.stats.kendalltau computes tau-b by default, and NaN where one side ties all."""
    a, b = two_tables(*drawn)
    assert float(kendall_tau_b(order_of_pairs(a), order_of_pairs(b))) == pytest.approx(
        float(kendalltau(a, b).statistic), abs=1e-12, nan_ok=True
    )


@given(TABLES)
def test_is_the_slow_loop(drawn) -> None:
    a, b = two_tables(*drawn)
    found = float(kendall_tau_b(order_of_pairs(a), order_of_pairs(b)))
    assert found == pytest.approx(slow_tau(a.tolist(), b.tolist()), abs=1e-15, nan_ok=True)


def test_many_rankings_at_once_are_each_by_itself() -> None:
    figures = np.random.default_rng(3).integers(4, size=(2, 5, 7, 6)) / 7
    found = kendall_tau_b(order_of_pairs(figures[0]), order_of_pairs(figures[1]))
    assert found.shape == (5, 7)
    for at in np.ndindex(5, 7):
        expected = slow_tau(figures[0][at].tolist(), figures[1][at].tolist())
        assert float(found[at]) == pytest.approx(expected, abs=1e-15, nan_ok=True)


@given(TABLES)
def test_keeps_its_laws(drawn) -> None:
    """Symmetric; 1 with itself, -1 with its reverse; the same whatever the systems' order; from -1 to 1."""
    seed, n_systems, levels = drawn
    a, b = two_tables(seed, n_systems, levels + 1)
    ours, theirs = order_of_pairs(a), order_of_pairs(b)
    tau = kendall_tau_b(ours, theirs)
    np.testing.assert_array_equal(tau, kendall_tau_b(theirs, ours))
    np.testing.assert_array_equal(kendall_tau_b(-ours, theirs), -tau)
    shuffled = np.random.default_rng(seed).permutation(n_systems)
    np.testing.assert_array_equal(tau, kendall_tau_b(order_of_pairs(a[shuffled]), order_of_pairs(b[shuffled])))
    if ours.any():
        assert float(kendall_tau_b(ours, ours)) == 1
        assert float(kendall_tau_b(ours, -ours)) == -1
    assert np.isnan(tau) or -1 <= tau <= 1


def test_equal_within_rounding_ties() -> None:
    """0.1 + 0.2 is not 0.3 in float64; the module says that 1e-12 apart ties, and more does not."""
    assert order_of_pairs(np.array([0.1 + 0.2, 0.3])).tolist() == [0]
    assert order_of_pairs(np.array([0.5, 0.5 + 0.9e-12])).tolist() == [0]
    assert order_of_pairs(np.array([0.5, 0.5 + 1.1e-12])).tolist() == [-1]
    assert order_of_pairs(np.array([0.5 + 1.1e-12, 0.5])).tolist() == [1]


def test_an_undefined_figure_ties_with_all() -> None:
    assert order_of_pairs(np.array([0.5, nan, 0.2])).tolist() == [0, 1, 0]  # pairs 01, 02, 12
    assert order_of_pairs(np.array([nan, nan])).tolist() == [0]


def test_pairs_stand_in_order_each_once() -> None:
    first, second = pairs_of(5)
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == list(combinations(range(5), 2))


def test_signs_are_small() -> None:
    """int8: a study keeps one a trial, size, measure and pair."""
    assert order_of_pairs(np.zeros((3, 4))).dtype == np.int8
    assert order_of_pairs(np.zeros((3, 4))).shape == (3, 6)


def test_many_pairs_do_not_overflow() -> None:
    """300 systems have 44,850 pairs, far more than int8 holds."""
    signs = order_of_pairs(np.arange(300.0))
    assert float(kendall_tau_b(signs, signs)) == 1


def test_the_example_of_four_systems_with_a_tie() -> None:
    """By hand: of 6 pairs ours tells 5 (a tie at 2, 3), theirs 6; 4 agree, 1 does not: 3 / sqrt(30)."""
    ours, theirs = np.array([4.0, 3.0, 3.0, 1.0]), np.array([3.0, 4.0, 2.0, 1.0])
    assert float(kendall_tau_b(order_of_pairs(ours), order_of_pairs(theirs))) == pytest.approx(3 / math.sqrt(30))
