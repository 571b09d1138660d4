"""Holm's correction: an example by hand, the procedure itself, and the error it promises."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.evaluation.uncertainty import holm

nan = float("nan")


def test_by_hand():
    # In order 0.005, 0.01, 0.03, 0.04, times 4, 3, 2, 1: 0.02, 0.03, 0.06, 0.04, which may not fall: 0.06.
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02], rel=1e-15)


def test_never_above_1():
    assert holm(np.array([0.5, 0.9, 0.6])).tolist() == [1.0, 1.0, 1.0]


def test_one_comparison_needs_no_correction():
    assert holm(np.array([0.03])).tolist() == [0.03]


def test_what_was_not_compared_counts_in_no_family():
    adjusted = holm(np.array([nan, 0.01, nan, 0.04]))
    assert adjusted.tolist() == pytest.approx([nan, 0.02, nan, 0.04], nan_ok=True)
    assert np.isnan(holm(np.array([nan, nan]))).all()
    assert holm(np.array([])).tolist() == []


def test_families_stand_side_by_side():
    p = np.random.default_rng(0).random((4, 3, 2))
    p[1, 2, 0] = nan
    adjusted = holm(p)
    for i in range(3):
        for j in range(2):
            assert np.array_equal(adjusted[:, i, j], holm(p[:, i, j]), equal_nan=True)


def rejected(p, level):
    """Holm 1979, section 2: from the smallest p on, reject while it is at most level / (K - number rejected so far)."""
    out = set()
    for i in sorted(range(len(p)), key=lambda i: p[i]):
        if p[i] * (len(p) - len(out)) > level:
            break
        out.add(i)
    return out


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=8), st.integers(1, 999))
def test_adjusted_values_reject_what_the_procedure_rejects(thousandths, level):
    # Exact: p in thousandths, and a level half a thousandth beside any product of them.
    exact = [Fraction(p, 1000) for p in thousandths]
    bound = Fraction(2 * level + 1, 2000)
    adjusted = holm(np.array(thousandths) / 1000)
    assert {i for i, p in enumerate(adjusted.tolist()) if p <= bound} == rejected(exact, bound)


@given(st.lists(st.floats(1e-6, 1) | st.just(nan), min_size=1, max_size=8), st.randoms())
def test_order_does_not_matter_and_values_only_rise(values, random):
    p = np.array(values)
    adjusted = holm(p)
    assert np.array_equal(np.isnan(adjusted), np.isnan(p))
    known = ~np.isnan(p)
    assert np.all(adjusted[known] >= p[known])
    assert np.all(adjusted[known] <= 1)
    order = random.sample(range(len(p)), len(p))
    assert np.array_equal(holm(p[order]), adjusted[order], equal_nan=True)
    ranked = np.argsort(p[known], kind="stable")
    assert np.all(np.diff(adjusted[known][ranked]) >= 0)


def test_any_false_claim_in_a_family_stays_below_5_percent():
    # Six comparisons without a difference, 4000 times: 5 % of families may hold a claim; five standard deviations.
    p = np.random.default_rng(1).random((6, 4000))
    claimed = (holm(p) <= 0.05).any(axis=0).sum()
    assert claimed <= 4000 * 0.05 + 5 * np.sqrt(4000 * 0.05 * 0.95)
    # Without the correction: 1 - 0.95^6 = 26.5 %.
    assert (p <= 0.05).any(axis=0).sum() > 4000 * 0.2
