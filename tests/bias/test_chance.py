"""p values, entropies and divergences against loops and an independent implementation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from truemoment.base.errors import UsageError
from truemoment.studies.bias.chance import check_draws, entropy_bits, jensen_shannon_bits, p_value

counts = st.lists(st.integers(0, 20), min_size=2, max_size=9).filter(any)
two_counts = st.integers(2, 9).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 20), min_size=n, max_size=n).filter(any)] * 2)
)


def test_the_observed_one_counts_among_the_draws():
    assert p_value(5.0, np.array([1.0, 2.0, 3.0])) == 1 / 4
    assert p_value(2.0, np.array([1.0, 2.0 - 1e-14, 3.0])) == 3 / 4  # equal but for rounding
    assert p_value(0.0, np.array([1.0, 2.0, 3.0])) == 1


@given(counts)
def test_entropy_equals_a_loop(numbers):
    total = sum(numbers)
    expected = -sum(n / total * math.log2(n / total) for n in numbers if n)
    found = float(entropy_bits(np.array(numbers, dtype=float)))
    assert found == pytest.approx(expected, abs=1e-12)
    assert 0 <= found <= math.log2(len(numbers)) + 1e-12


@given(two_counts)
def test_divergence_equals_scipy_and_is_symmetric(pair):
    a, b = (np.array(numbers, dtype=float) for numbers in pair)
    found = float(jensen_shannon_bits(a, b))
    # SciPy gives the root, which turns rounding of 1e-16 into 1e-8.
    assert found == pytest.approx(jensenshannon(a, b, base=2) ** 2, abs=1e-12)
    assert found == float(jensen_shannon_bits(b, a))
    assert 0 <= found <= 1
    assert float(jensen_shannon_bits(a, 3 * a)) == pytest.approx(0, abs=1e-12)


def test_many_lists_at_once():
    tables = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    assert entropy_bits(tables).tolist() == [1.0, 0.0]
    assert jensen_shannon_bits(tables, tables[1]).tolist() == [1.0, 0.0]


def test_no_draws_are_refused():
    with pytest.raises(UsageError, match="got 0 draws, expected 1 or more"):
        check_draws(0, "draws")
