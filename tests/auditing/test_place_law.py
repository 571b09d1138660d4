"""The law of places: a law that is known comes back, whatever places are compared."""

from __future__ import annotations

import math

import numpy as np
import pytest

from truemoment.studies.audit.place_law import MOST_PLACES, PlaceLaw, places_of

SIZE_OF = {4: 0.02, 30: 0.05}
"""Largest loss of likelihood to the true law that the fit may have on new sentences, by the number of sentences."""


def sentences(size, n, seed):
    """The place of a sentence whose moment starts after a share F of the others, which are independent: binomial."""
    rng = np.random.default_rng(seed)
    earlier = rng.uniform(0.05, 0.95, n)
    return earlier, rng.binomial(size - 1, earlier), np.full(n, size), rng


def terms(earlier):
    return np.stack([np.ones_like(earlier), np.log(earlier / (1 - earlier))], axis=1)


@pytest.mark.parametrize("size", SIZE_OF)
def test_the_binomial_law_comes_back(size):
    earlier, place, sizes, rng = sentences(size, 2000, 1)
    law = PlaceLaw.fit(terms(earlier), places_of(place, sizes, rng), sizes)
    earlier, place, sizes, rng = sentences(size, 2000, 2)
    compared = places_of(place, sizes, rng)
    log_p = law.log_probabilities(terms(earlier), compared, sizes)
    assert np.exp(log_p).sum(axis=1) == pytest.approx(1)
    ways = np.array([math.log(math.comb(size - 1, k)) for k in range(size)])
    true = ways[compared] + compared * np.log(earlier / (1 - earlier))[:, None]
    true -= np.log(np.exp(true).sum(axis=1, keepdims=True))  # among the places that are compared
    loss = (true - log_p)[:, 0].mean()
    assert -0.01 < loss < SIZE_OF[size]
    assert PlaceLaw.unpacked(law.packed()).log_probabilities(terms(earlier), compared, sizes) == pytest.approx(log_p)


def test_places_that_are_compared_are_distinct_and_start_with_the_own_one():
    size = np.array([1, 3, 50, 21])
    place = np.array([0, 2, 40, 20])
    compared = places_of(place, size, np.random.default_rng(0))
    assert compared.shape == (4, MOST_PLACES)
    assert compared[:, 0].tolist() == place.tolist()
    for row, n in zip(compared.tolist(), size.tolist(), strict=True):
        present = [k for k in row if k >= 0]
        assert len(set(present)) == len(present) == min(n, MOST_PLACES)
        assert max(present) < n
