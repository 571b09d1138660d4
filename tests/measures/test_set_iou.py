"""SetIoU against its definition as sets of points in time, counted piece by piece in exact numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures.set_iou import iou_of_unions

nan = float("nan")


def jaccard(answers, references):
    """Length of the points in both unions over that in either: cut at every end, look at each piece's middle."""
    cuts = sorted({t for moment in [*answers, *references] for t in moment})
    both = either = Fraction(0)
    for low, high in pairwise(cuts):
        middle = (low + high) / 2
        inside = [any(start < middle < end for start, end in moments) for moments in (answers, references)]
        both += (high - low) * all(inside)
        either += (high - low) * any(inside)
    return both / either if either else Fraction(0)


@pytest.mark.parametrize("seed", range(4))
def test_against_a_slow_loop(world, agrees, seed):
    w = world(seed, longest_quarters=24)  # short videos: answers overlap each other, and references too
    scores = evaluate(w.annotations, w.predictions, "SetIoU")
    agrees(scores, "SetIoU", {q: (jaccard(w.ranked(q), references), 1) for q, references in w.references.items()})


@pytest.mark.parametrize("top", [1, 2])
def test_the_protocol_cuts_the_list(world, agrees, top):
    w = world(9)
    scores = evaluate(w.annotations, w.predictions, "SetIoU", f"default,top={top}")
    agrees(scores, "SetIoU", {q: (jaccard(w.ranked(q)[:top], refs), 1) for q, refs in w.references.items()})


# By hand, references (0, 10) and (20, 30).
@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([(0.0, 10.0), (20.0, 30.0)], 1.0),
        ([(20.0, 30.0), (0.0, 10.0), (2.0, 5.0)], 1.0),  # in any order, and nothing counts twice
        ([(0.0, 5.0), (5.0, 10.0), (20.0, 30.0)], 1.0),  # touching answers are one
        ([(0.0, 30.0)], 20 / 30),
        ([(0.0, 10.0)], 10 / 20),
        ([(0.0, 6.0), (4.0, 12.0)], 10 / 22),
        ([(12.0, 18.0)], 0.0),
        ([(10.0, 20.0)], 0.0),  # touching is no overlap
        ([(0.0, 10.0), (9.0, 9.0), (30.0, 20.0)], 10 / 20),  # an empty and a swapped one cover nothing
        ([(5.0, 5.0)], 0.0),
        ([], 0.0),
    ],
)
def test_by_hand(one_video, answers, expected):
    annotations, predictions = one_video({"a": [(0, 10), (20, 30)]}, {"a": answers})
    assert evaluate(annotations, predictions, "SetIoU").value("SetIoU") == pytest.approx(expected, rel=1e-15)


def test_overlapping_references_count_once(one_video):
    # (0, 10) and (5, 15) cover 15 s; the answer covers 6 of them and nothing else.
    annotations, predictions = one_video({"a": [(0, 10), (5, 15)]}, {"a": [(2.0, 8.0)]})
    assert evaluate(annotations, predictions, "SetIoU").value("SetIoU") == pytest.approx(6 / 15, rel=1e-15)


def test_epsilon_is_added_to_the_denominator(one_video):
    annotations, predictions = one_video({"a": [(0, 10)]}, {"a": [(0.0, 5.0)]})
    assert evaluate(annotations, predictions, "SetIoU", "default,epsilon=1e-3").value("SetIoU") == 5 / 10.001


def test_a_region_with_itself_is_one_to_the_last_bit():
    # Thirds and sevenths, whose sums round: without a bound some come out above 1.
    rng = np.random.default_rng(0)
    ends = np.cumsum(rng.random((500, 14)) / 3 + 1 / 7, axis=1)
    start, end = ends[:, ::2], ends[:, 1::2]
    shuffled = rng.permuted(np.tile(np.arange(7), (500, 1)), axis=1)
    again = (np.take_along_axis(times, shuffled, axis=1) for times in (start, end))
    value = iou_of_unions(start, end, *again)
    assert np.all(value <= 1)
    assert value == pytest.approx(np.ones(500), abs=1e-14)
