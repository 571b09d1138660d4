"""Minimal pairs: every pair fulfils the conditions of its axiom, in exact arithmetic and by a slow loop."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truemoment.base.errors import UsageError
from truemoment.evaluation.protocols import PROTOCOLS, get_protocol
from truemoment.studies.meta import minimal_pairs
from truemoment.studies.meta.minimal_pairs import GAP, MinimalPairs, draw_pairs, fulfils, relevance

DEFAULT = get_protocol("default")


def exact_iou(moment, references):
    """IoU with the nearest reference as a fraction; times are whole."""
    best = Fraction(0)
    for reference in references:
        (a, b), (c, d) = (tuple(map(int, ends)) for ends in (moment, reference))
        overlap = max(0, min(b, d) - max(a, c))
        best = max(best, Fraction(overlap, (b - a) + (d - c) - overlap))
    return best


def rows_of(table):
    """The moments of a table (N, 2) that are there."""
    return [tuple(row) for row in table if not np.isnan(row[0])]


def keeps_conditions(axiom, references, before, after, rank):
    """A.1 and A.2, or A.1 and A.3, of AxIoU (2022), appendix A.1, rank by rank in exact arithmetic."""
    r_before = [exact_iou(moment, references) for moment in before]
    r_after = [exact_iou(moment, references) for moment in after]
    if any(before[j] != after[j] for j in range(len(before)) if j != rank - 1):
        return False
    if not r_before[rank - 1] < r_after[rank - 1]:  # A.1
        return False
    ahead = r_after[: rank - 1]
    if axiom == "INV":
        return rank > 1 and r_after[rank - 1] <= max(ahead)  # A.2
    return rank == 1 or r_after[rank - 1] > max(ahead)  # A.3


def drawn(axiom, *, n=300, length=5, references=1, protocol=DEFAULT, seed=0):
    ranks = np.resize(np.arange(2 if axiom == "INV" else 1, length + 1), n)
    return draw_pairs(
        axiom, ranks, np.random.default_rng(seed), length=length, references=references, protocol=protocol
    )


@pytest.mark.parametrize("axiom", ["INV", "MON"])
@pytest.mark.parametrize("references", [1, 2, 4])
@settings(max_examples=8)
@given(length=st.integers(2, 12), seed=st.integers(0, 2**32 - 1), protocol=st.sampled_from(sorted(PROTOCOLS)))
def test_every_pair_fulfils_its_conditions(axiom, references, length, seed, protocol):
    pairs = drawn(axiom, n=60, length=length, references=references, protocol=get_protocol(protocol), seed=seed)
    for duration_s, regions, before, after, rank in zip(
        pairs.duration_s, pairs.references, pairs.before, pairs.after, pairs.rank, strict=True
    ):
        refs, old, new = rows_of(regions), rows_of(before), rows_of(after)
        assert keeps_conditions(axiom, refs, old, new, int(rank))
        changed = exact_iou(new[rank - 1], refs) - exact_iou(old[rank - 1], refs)
        assert changed >= Fraction(1, 1000) - Fraction(1, 10**6)  # GAP, but for the rounding of float32
        for moment in (*refs, *old, *new):
            assert all(float(time).is_integer() for time in moment)
            assert 0 <= moment[0] < moment[1] <= duration_s
        assert len(refs) == references
        assert all(refs[r][1] < refs[r + 1][0] for r in range(references - 1))  # disjoint, in order of time
        assert rank <= len(old) == len(new) <= length


def test_ranks_are_those_asked_for_and_lists_end_anywhere_behind_them():
    pairs = drawn("INV", n=400, length=5)
    assert pairs.rank.tolist() == [2, 3, 4, 5] * 100
    assert {(k, n) for k, n in zip(pairs.rank, pairs.length, strict=True)} == {
        (k, n) for k in range(2, 6) for n in range(k, 6)
    }


@pytest.mark.parametrize("axiom", ["INV", "MON"])
def test_moments_of_every_kind_occur(axiom):
    # What the measures must be tried on: perfect, near, disjoint and repeated answers.
    pairs = drawn(axiom, n=1000)
    iou = relevance(pairs.before, pairs.references, pairs.duration_s, DEFAULT)[~np.isnan(pairs.before[:, :, 0])]
    assert (iou == 0).mean() > 0.1
    assert ((iou > 0) & (iou < 0.5)).mean() > 0.1
    assert ((iou > 0.5) & (iou < 1)).mean() > 0.1
    assert (iou == 1).mean() > 0.01
    copies = [len(rows) > len(set(rows)) for rows in map(rows_of, pairs.before)]
    assert np.mean(copies) > 0.1


def test_a_redundant_moment_may_be_as_good_as_the_best_before_it():
    # A.2 says "at most": r(sigma'(k)) <= max.
    pairs = drawn("INV", n=1000)
    new = relevance(pairs.changed[:, None], pairs.references, pairs.duration_s, DEFAULT)[:, 0]
    iou = relevance(pairs.before, pairs.references, pairs.duration_s, DEFAULT)
    best = np.where(np.arange(5) < pairs.rank[:, None] - 1, iou, -1).max(axis=1)
    assert (new == best).sum() > 10
    assert (new < best).sum() > 100


def any_pair(rng, n):
    """Lists of three moments of a video of 20 s, whatever they fulfil; IoUs that differ do so by 1/400 or more."""
    start = rng.integers(0, 20, (n, 5))
    ends = np.stack([start, rng.integers(start + 1, 21)], axis=2).astype(float)
    before = ends[:, 1:4].copy()
    before[np.arange(n) % 2 == 0, 2] = np.nan  # every other list is shorter
    rank = rng.integers(1, np.where(np.isnan(before[:, 2, 0]), 3, 4))
    return MinimalPairs(np.full(n, 20.0), ends[:, :1], before, ends[:, 4], rank)


@pytest.mark.parametrize("axiom", ["INV", "MON"])
def test_conditions_are_judged_as_by_a_slow_loop(axiom):
    pairs = any_pair(np.random.default_rng(3), 2000)
    found = fulfils(axiom, pairs, DEFAULT)
    slow = [
        keeps_conditions(axiom, rows_of(refs), rows_of(before), rows_of(after), int(rank))
        for refs, before, after, rank in zip(pairs.references, pairs.before, pairs.after, pairs.rank, strict=True)
    ]
    assert found.tolist() == slow
    assert 100 < sum(slow) < 1900


def test_relevances_that_differ_by_less_than_the_gap_are_no_pair():
    # IoU with 0-1000 s: 0.5 and 0.5005, by hand.
    pair = MinimalPairs(
        np.array([2000.0]),
        np.array([[[0.0, 1000.0]]]),
        np.array([[[0.0, 500.0]]]),
        np.array([[0.0, 500.5]]),
        np.array([1]),
    )
    assert not fulfils("MON", pair, DEFAULT)[0]
    far = MinimalPairs(pair.duration_s, pair.references, pair.before, np.array([[0.0, 501.5]]), pair.rank)
    assert fulfils("MON", far, DEFAULT)[0]
    assert GAP == 1e-3


def test_relevance_is_the_iou_with_the_nearest_reference():
    # By hand: 0-10 has IoU 0.5 with 0-20 and 0 with 30-40; 25-40 has 10/15 with the second. The third place is empty.
    moments = np.array([[[0.0, 10.0], [25.0, 40.0], [np.nan, np.nan]]])
    references = np.array([[[0.0, 20.0], [30.0, 40.0]]])
    for name in ("default", "closer-look"):  # seconds, and shares of the video
        found = relevance(moments, references, np.array([50.0]), get_protocol(name))
        np.testing.assert_allclose(found, [[0.5, 2 / 3, 0.0]])


@pytest.mark.parametrize("axiom", ["INV", "MON"])
def test_deep_ranks_are_found_too(axiom):
    rank = np.full(20, 100)
    pairs = draw_pairs(axiom, rank, np.random.default_rng(0), length=100, references=1, protocol=DEFAULT)
    assert fulfils(axiom, pairs, DEFAULT).all()


def test_the_same_generator_gives_the_same_pairs():
    one, other = drawn("MON", seed=5), drawn("MON", seed=5)
    np.testing.assert_array_equal(one.before, other.before)
    np.testing.assert_array_equal(one.changed, other.changed)
    assert not np.array_equal(one.changed, drawn("MON", seed=6).changed)


def test_a_convention_without_differences_is_refused(monkeypatch):
    # A million seconds added to every denominator leave no IoU above 120 / 1e6.
    monkeypatch.setattr(minimal_pairs, "ROUNDS", 3)
    with pytest.raises(
        UsageError, match=r"got 0 of 300 pairs of lists in 3 draws: with protocol default,epsilon=1e\+06"
    ):
        drawn("MON", protocol=get_protocol("default,epsilon=1e6"))
