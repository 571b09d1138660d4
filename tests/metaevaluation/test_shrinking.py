"""Shrinking: smaller, still allowed, still breaking, and the same each time."""

from __future__ import annotations

import numpy as np
import pytest

from truemoment.evaluation.protocols import get_protocol
from truemoment.studies.meta.axioms import cost, shrink, well_formed
from truemoment.studies.meta.minimal_pairs import MinimalPairs, draw_pairs, fulfils, relevance

DEFAULT = get_protocol("default")


def drawn(axiom, seed=0, references=2):
    ranks = np.resize(np.arange(2 if axiom == "INV" else 1, 6), 50)
    return draw_pairs(axiom, ranks, np.random.default_rng(seed), length=5, references=references, protocol=DEFAULT)


def allowed(axiom):
    return lambda pairs: fulfils(axiom, pairs, DEFAULT)


def everything(pairs):
    return np.ones(len(pairs), dtype=bool)


def times_of(pair):
    tables = (pair.duration_s, pair.references, pair.before, pair.changed)
    return np.concatenate([table[~np.isnan(table)] for table in tables])


@pytest.mark.parametrize(("axiom", "n_moments"), [("INV", 2), ("MON", 1)])
def test_what_always_breaks_shrinks_to_the_fewest_moments_and_round_times(axiom, n_moments):
    # INV asks for a better moment ahead (k > 1), MON for none. Two different IoUs need three times, so 0, 10 and 20 s.
    smallest = shrink(drawn(axiom), allowed(axiom), everything)
    assert len(smallest) == 1
    assert smallest.length.tolist() == [n_moments]
    assert (~np.isnan(smallest.references[:, :, 0])).sum() == 1
    assert set(times_of(smallest)) == {0.0, 10.0, 20.0}
    assert fulfils(axiom, smallest, DEFAULT).all()
    assert well_formed(smallest).all()


def test_what_the_breaking_needs_is_kept():
    # Three moments and both references are asked for, and an IoU above 0.9 at the changed rank.
    def breaks(pairs):
        iou = relevance(pairs.changed[:, None], pairs.references, pairs.duration_s, DEFAULT)[:, 0]
        return (pairs.length == 3) & (~np.isnan(pairs.references[:, 1, 0])) & (iou > 0.9) & (iou < 1)

    pairs = drawn("MON", seed=1)
    start = pairs.take(breaks(pairs))
    assert len(start)
    smallest = shrink(start, allowed("MON"), breaks)
    assert breaks(smallest).all()
    assert fulfils("MON", smallest, DEFAULT).all()
    assert cost(smallest)[0] <= cost(start).min()


def test_the_same_pairs_shrink_to_the_same_one():
    one, other = (shrink(drawn("INV", seed=4), allowed("INV"), everything) for _ in range(2))
    np.testing.assert_array_equal(times_of(one), times_of(other))


def test_dropping_a_moment_ahead_moves_the_rank():
    pair = MinimalPairs(
        np.array([20.0]),
        np.array([[[0.0, 10.0]]]),
        np.array([[[10.0, 20.0], [10.0, 20.0], [0.0, 20.0]]]),
        np.array([[0.0, 10.0]]),
        np.array([3]),
    )
    smallest = shrink(pair, allowed("MON"), everything)
    assert smallest.rank.tolist() == [1]
    assert smallest.length.tolist() == [1]


def test_a_pair_may_be_mirrored():
    # Only the pair itself and its mirror image are let pass; that begins earlier.
    def breaks(pairs):
        length = np.diff(pairs.references, axis=2)[:, :, 0]
        gap = pairs.references[:, 1, 0] - pairs.references[:, 0, 1]
        whole = (pairs.before == [0.0, 40.0]).all(axis=(1, 2))
        return (length == 10).all(axis=1) & (gap == 10) & whole & (np.diff(pairs.changed)[:, 0] == 10)

    pair = MinimalPairs(
        np.array([40.0]),
        np.array([[[10.0, 20.0], [30.0, 40.0]]]),
        np.array([[[0.0, 40.0]]]),
        np.array([[30.0, 40.0]]),
        np.array([1]),
    )
    smallest = shrink(pair, allowed("MON"), breaks)
    assert smallest.references.tolist() == [[[0.0, 10.0], [20.0, 30.0]]]
    assert smallest.changed.tolist() == [[0.0, 10.0]]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("references", [[[0.0, 20.0], [20.0, 30.0]]]),  # they touch
        ("references", [[[np.nan, np.nan], [20.0, 30.0]]]),  # the first is missing
        ("references", [[[10.0, 10.0], [20.0, 30.0]]]),  # one is empty
        ("before", [[[-10.0, 10.0]]]),
        ("before", [[[10.0, 50.0]]]),  # past the end of the video
        ("changed", [[20.0, 10.0]]),
    ],
)
def test_pairs_that_are_none(name, value):
    tables = {
        "references": [[[0.0, 10.0], [20.0, 30.0]]],
        "before": [[[0.0, 10.0]]],
        "changed": [[0.0, 20.0]],
    }
    assert well_formed(MinimalPairs(np.array([40.0]), *map(np.array, tables.values()), np.array([1]))).tolist() == [
        True
    ]
    tables[name] = value
    assert well_formed(MinimalPairs(np.array([40.0]), *map(np.array, tables.values()), np.array([1]))).tolist() == [
        False
    ]


def test_cost_prefers_fewer_moments_then_rounder_and_fewer_times():
    def pair(before, changed, duration_s=40.0):
        return MinimalPairs(
            np.array([duration_s]), np.array([[[0.0, 10.0]]]), np.array([before]), np.array([changed]), np.array([1])
        )

    empty = [np.nan, np.nan]
    ordered = [
        pair([[0.0, 40.0], empty], [0.0, 10.0]),
        pair([[0.0, 30.0], empty], [0.0, 20.0]),  # more different times
        pair([[0.0, 35.0], empty], [0.0, 10.0]),  # no round ten
        pair([[0.0, 36.0], empty], [0.0, 10.0]),  # no five either
        pair([[0.0, 40.0], [0.0, 40.0]], [0.0, 10.0]),  # another moment
    ]
    costs = [float(cost(one)[0]) for one in ordered]
    assert costs == sorted(costs)
    assert len(set(costs)) == len(costs)
