"""Distances of two sets of locations, against sums over all pairs and loops."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from truemoment.base.errors import UsageError
from truemoment.studies.bias.distances import split_distance
from truemoment.studies.bias.locations import Locations

# Moments between multiples of 5 % of the video: those that share a cell are equal, so gathering them changes nothing.
twentieths = st.tuples(st.integers(0, 19), st.integers(1, 20)).filter(lambda m: m[0] < m[1])
two_sets = st.tuples(*[st.lists(twentieths, min_size=1, max_size=12)] * 2)


def located(moments, video=None):
    number = np.arange(len(moments))
    return Locations(np.array(moments, dtype=float), number, number if video is None else video, number)


def distance(a, b, seed=0, permutations=3):
    return split_distance(a, b, np.random.default_rng(seed), permutations=permutations)


def slow_energy(a, b):
    """2 E|X - Y| - E|X - X'| - E|Y - Y'|, all pairs one by one."""

    def mean(one, other):
        return sum(math.dist(x, y) for x, y in itertools.product(one, other)) / (len(one) * len(other))

    return 2 * mean(a, b) - mean(a, a) - mean(b, b)


def slow_divergence(a, b):
    """Mean of the Kullback-Leibler divergences from the middle; a cell is a moment, as each has one of its own."""
    total = 0.0
    for cell in {*a, *b}:
        p, q = a.count(cell) / len(a), b.count(cell) / len(b)
        total += sum(x * math.log2(2 * x / (p + q)) / 2 for x in (p, q) if x)
    return total


@given(two_sets)
def test_both_figures_equal_loops(pair):
    a, b = ([(start / 20, end / 20) for start, end in moments] for moments in pair)
    found = distance(located(a), located(b))
    assert found.energy == pytest.approx(slow_energy(a, b), abs=1e-12)
    assert found.jensen_shannon_bits == pytest.approx(slow_divergence(*pair), abs=1e-12)
    assert (found.n_a, found.n_b, found.permutations) == (len(a), len(b), 3)


@given(st.integers(0, 1000), st.integers(1, 60), st.integers(1, 60))
def test_figures_are_bounded_symmetric_and_0_for_the_same_set(seed, n_a, n_b):
    rng = np.random.default_rng(seed)
    a, b = (located(np.sort(rng.random((n, 2)), axis=1)) for n in (n_a, n_b))
    one_way, other_way, same = distance(a, b), distance(b, a), distance(a, a)
    assert 0 <= one_way.energy <= 2 * math.sqrt(2)
    assert 0 <= one_way.jensen_shannon_bits <= 1
    assert one_way.energy == pytest.approx(other_way.energy, abs=1e-12)
    assert one_way.jensen_shannon_bits == pytest.approx(other_way.jensen_shannon_bits, abs=1e-12)
    assert same.energy == pytest.approx(0, abs=1e-12)
    assert same.jensen_shannon_bits == pytest.approx(0, abs=1e-12)


def test_gathering_in_cells_moves_the_energy_little():
    # Sum over all pairs of 3,000 and 1,000 moments, by SciPy; spread as wide as can be, so most cells hold few.
    rng = np.random.default_rng(0)
    a, b = np.sort(rng.random((3000, 2)), axis=1), np.sort(rng.random((1000, 2)) ** 1.3, axis=1)
    exact = 2 * cdist(a, b).mean() - cdist(a, a).mean() - cdist(b, b).mean()
    found = distance(located(a), located(b)).energy
    assert exact > 0.005
    assert found == pytest.approx(exact, abs=1e-4)


def test_permutations_are_of_whole_videos():
    # Two videos a side, 50 queries each, all of a video's at one place. Six ways to deal four videos to two sides, of
    # which two look as it is: p is about 1/3 though 100 queries differ from 100 others.
    places = np.array([[0.0, 0.2], [0.0, 0.2], [0.5, 0.9], [0.5, 0.9]])
    a, b = (located(np.repeat(places[side], 50, axis=0), np.repeat([0, 1], 50)) for side in ([0, 1], [2, 3]))
    found = distance(a, b, permutations=600)
    assert found.jensen_shannon_bits == 1
    # Binomial of 600 with 1/3: standard deviation 0.02.
    assert found.energy_p == pytest.approx(1 / 3, abs=0.08)
    assert found.jensen_shannon_p == found.energy_p
    # Of the other four ways each leaves both sides with one video of either place: no distance at all.
    assert found.jensen_shannon_by_chance == pytest.approx(1 / 3, abs=0.08)
    assert found.energy_by_chance == pytest.approx(found.energy * found.jensen_shannon_by_chance, abs=1e-9)


def test_as_many_videos_are_dealt_to_each_side():
    # One video against three: one of four ways is as it is.
    places = np.array([[0.0, 0.2], [0.5, 0.9], [0.5, 0.9], [0.5, 0.9]])
    found = distance(located(places[:1]), located(places[1:]), permutations=600)
    assert found.energy_p == pytest.approx(1 / 4, abs=0.08)


def test_equal_seeds_give_equal_figures():
    rng = np.random.default_rng(0)
    a, b = (located(np.sort(rng.random((20, 2)), axis=1)) for _ in range(2))
    assert distance(a, b, 1, 20) == distance(a, b, 1, 20)
    assert distance(a, b, 1, 20) != distance(a, b, 2, 20)


def test_permutations_must_be_some():
    one = located([[0.0, 0.5]])
    with pytest.raises(UsageError, match="got 0 permutations"):
        distance(one, one, permutations=0)


@pytest.mark.data
def test_published_splits_lie_apart_as_they_are_meant_to(data_dir):
    # Closer Look, section 4.1: test-ood is made to differ from training, val and test-iid are drawn at random.
    from truemoment.data.datasets import load_annotations

    train, iid, ood = (
        Locations.of(load_annotations("charades-cd", split, data_dir=data_dir))
        for split in ("train", "test-iid", "test-ood")
    )
    near, far = (distance(train, other, permutations=200) for other in (iid, ood))
    assert min(near.energy_p, near.jensen_shannon_p) > 0.05
    assert max(far.energy_p, far.jensen_shannon_p) == 1 / 201
    assert far.energy > 10 * near.energy
