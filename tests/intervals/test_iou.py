"""temporal_iou, iou_with_set and pooled_iou against hand calculation and exact slow loops."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from truemoment.base.intervals import iou_with_set, pooled_iou, temporal_iou

nan = float("nan")

# Each quotient by hand from Closer Look, section 3.2: intersection over union.
BY_HAND = [
    ((0, 10), (0, 10), 1.0),  # the same
    ((0, 10), (5, 10), 0.5),  # 5 / 10
    ((0, 10), (5, 15), 1 / 3),  # 5 / 15
    ((2, 4), (0, 10), 0.2),  # inside: 2 / 10
    ((0, 10), (10, 20), 0.0),  # touching
    ((0, 10), (12, 20), 0.0),  # apart
    ((5, 5), (0, 10), 0.0),  # zero length, inside the other
    ((5, 5), (5, 5), 0.0),  # zero length, both: no overlap, though the quotient is 0 / 0
    ((10, 0), (0, 10), 0.0),  # one swapped
    ((10, 0), (10, 0), 0.0),  # both swapped alike: negative over negative would be 1
    ((10, 0), (20, 30), 0.0),  # lengths cancel: the sum of lengths is 0
]


@pytest.mark.parametrize("denominator", ["hull", "union"])
@pytest.mark.parametrize(("a", "b", "expected"), BY_HAND)
def test_by_hand(a, b, expected, denominator):
    a_start, a_end, b_start, b_end = (np.array([float(t)]) for t in (*a, *b))
    for first, second in (((a_start, a_end), (b_start, b_end)), ((b_start, b_end), (a_start, a_end))):
        assert temporal_iou(*first, *second, denominator=denominator).tolist() == [expected]


@pytest.mark.parametrize("denominator", ["hull", "union"])
def test_rounded_exact_quotient_on_a_grid(slow, denominator):
    # Quarters are exact in float64, so the quotient must be the exact one, rounded once.
    rng = np.random.default_rng(0)
    quarters = rng.integers(0, 40, size=(4, 2000))
    a = [(Fraction(int(s), 4), Fraction(int(e), 4)) for s, e in quarters[:2].T]
    b = [(Fraction(int(s), 4), Fraction(int(e), 4)) for s, e in quarters[2:].T]
    expected = [float(slow.iou(x, y)) for x, y in zip(a, b, strict=True)]
    assert temporal_iou(*(quarters / 4), denominator=denominator).tolist() == expected
    assert sum(value > 0 for value in expected) > 200  # the draw is not all misses


def test_the_two_denominators_differ_in_the_last_bit():
    # (0.1, 0.4) and (0.2, 0.7), exactly 0.2 / 0.6 = 1/3. In float64:
    # hull  0.7 - 0.1 = 0.6; union (0.4 - 0.1) + (0.7 - 0.2) - 0.2 = 0.6000000000000001 (0.4 - 0.1 is above 0.3).
    times = [np.array([t]) for t in (0.1, 0.4, 0.2, 0.7)]
    overlap = 0.4 - 0.2
    hull = temporal_iou(*times, denominator="hull")[0]
    union = temporal_iou(*times, denominator="union")[0]
    assert hull == overlap / (0.7 - 0.1)
    assert union == overlap / ((0.4 - 0.1) + (0.7 - 0.2) - overlap)
    assert hull != union
    assert hull == pytest.approx(union, rel=1e-15)


@pytest.mark.parametrize("denominator", ["hull", "union"])
def test_epsilon_is_added_to_the_denominator(denominator):
    # By hand: overlap 5, union 15, hence 5 / (15 + 0.5); a miss stays 0.
    value = temporal_iou(
        np.array([0.0, 0.0]), np.array([10.0, 1.0]), np.array(5.0), np.array(15.0), denominator=denominator, epsilon=0.5
    )
    assert value.tolist() == [5 / 15.5, 0.0]


def test_missing_reference_overlaps_nothing():
    value = temporal_iou(np.array([0.0, 0.0]), np.array([9.0, 9.0]), np.array([nan, 0.0]), np.array([nan, 9.0]))
    assert value.tolist() == [0.0, 1.0]


def test_shapes_broadcast_and_the_type_is_kept():
    answers = np.zeros((3, 5), np.float32), np.ones((3, 5), np.float32)
    reference = np.zeros((3, 1), np.float32), np.full((3, 1), 2, np.float32)
    value = temporal_iou(*answers, *reference, epsilon=1e-4)
    assert value.shape == (3, 5)
    assert value.dtype == np.float32
    # One float32 addition and one float32 division: 1 / (2 + 1e-4).
    assert np.all(value == np.float32(1) / (np.float32(2) + np.float32(1e-4)))


def test_iou_with_set_is_the_iou_of_sets_of_points(slow):
    rng = np.random.default_rng(1)
    for _ in range(200):
        # A random disjoint set: distinct rising cuts, taken in pairs.
        cuts = np.sort(rng.choice(40, size=6, replace=False))
        region = [(Fraction(int(cuts[i]), 4), Fraction(int(cuts[i + 1]), 4)) for i in (0, 2, 4)]
        n_kept = int(rng.integers(0, 4))
        answers = [(Fraction(int(s), 4), Fraction(int(e), 4)) for s, e in rng.integers(0, 40, size=(5, 2))]
        starts = np.array([[float(s) for s, _ in region[:n_kept]] + [nan] * (3 - n_kept)])
        ends = np.array([[float(e) for _, e in region[:n_kept]] + [nan] * (3 - n_kept)])
        value = iou_with_set(
            np.array([[float(s) for s, _ in answers]]), np.array([[float(e) for _, e in answers]]), starts, ends
        )
        # A swapped answer covers no point: write it as empty for the slow loop.
        points = [(s, max(s, e)) for s, e in answers]
        assert value.tolist() == [[float(slow.region_iou(a, region[:n_kept])) for a in points]]


def test_iou_with_set_by_hand():
    # Region (0, 2) and (4, 6), answer (1, 5): overlap 1 + 1 = 2, union 4 + 4 - 2 = 6; with epsilon 1: 2 / 7.
    args = np.array([[1.0]]), np.array([[5.0]]), np.array([[0.0, 4.0]]), np.array([[2.0, 6.0]])
    assert iou_with_set(*args).tolist() == [[2 / 6]]
    assert iou_with_set(*args, epsilon=1.0).tolist() == [[2 / 7]]


def test_pooled_iou_against_all_pairs(slow):
    rng = np.random.default_rng(2)
    for _ in range(300):
        answers = [(Fraction(int(s), 4), Fraction(int(e), 4)) for s, e in rng.integers(0, 30, size=(3, 2))]
        references = [(Fraction(int(s), 4), Fraction(int(e), 4)) for s, e in rng.integers(0, 30, size=(2, 2))]
        value = pooled_iou(
            np.array([[float(s) for s, _ in answers] + [0.0]]),
            np.array([[float(e) for _, e in answers] + [0.0]]),
            np.array([[float(s) for s, _ in references] + [nan]]),
            np.array([[float(e) for _, e in references] + [nan]]),
        )
        assert value.tolist() == [float(slow.pooled(answers, references))]


def test_pooled_iou_counts_overlapping_answers_twice():
    # Two copies of the right answer: overlaps 20, lengths 20 + 10, hence 20 / (30 - 20) = 2.
    value = pooled_iou(np.array([[0.0, 0.0]]), np.array([[10.0, 10.0]]), np.array([[0.0]]), np.array([[10.0]]))
    assert value.tolist() == [2.0]
