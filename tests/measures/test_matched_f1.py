"""F1,IoU=m against brute force over all one-to-one matchings."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures.matched_f1 import largest_matching


def most_pairs(possible):
    """Size of the largest matching by trying every way to give answers to references."""
    n_answers = len(possible)
    n_references = len(possible[0]) if n_answers else 0
    # Every assignment of distinct answers (or nobody) to the references.
    takers = [*range(n_answers), *[None] * n_references]
    return max(
        (
            sum(k is not None and possible[k][r] for r, k in enumerate(chosen))
            for chosen in set(permutations(takers, n_references))
        ),
        default=0,
    )


@pytest.mark.parametrize("comparison", [">", ">="])
@pytest.mark.parametrize("seed", range(3))
def test_against_brute_force(world, slow, agrees, seed, comparison):
    w = world(seed, n_queries=10, longest_quarters=20)
    measures = ["F1,IoU=0.1", "F1,IoU=0.3", "F1,IoU=0.5"]
    scores = evaluate(w.annotations, w.predictions, "; ".join(measures), f"default,comparison={comparison}")
    for measure in measures:
        m = measure.removeprefix("F1,IoU=")
        expected = {}
        for query_id, references in w.references.items():
            answers = w.ranked(query_id)
            possible = [[slow.reaches(slow.iou(a, r), m, comparison) for r in references] for a in answers]
            expected[query_id] = (Fraction(2 * most_pairs(possible), len(answers) + len(references)), 1)
        agrees(scores, measure, expected)


def test_largest_matching_on_random_tables():
    rng = np.random.default_rng(6)
    for n_answers, n_references in [(1, 1), (1, 3), (3, 1), (4, 4), (5, 3)]:
        reaches = rng.random((40, n_answers, n_references)) < 0.4
        assert largest_matching(reaches).tolist() == [most_pairs(table) for table in reaches.tolist()]


# By hand, references (0, 10) and (4, 14), m = 0.3. IoUs: (0, 12) 10/12 and 8/14; (0, 8) 8/10 and 4/14.
@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([(0.0, 10.0), (4.0, 14.0)], 1.0),
        ([(0.0, 12.0), (0.0, 8.0)], 1.0),  # the first must leave its better reference to the second
        ([(0.0, 10.0)], 2 / 3),
        ([(0.0, 10.0), (30.0, 31.0)], 2 / 4),
        ([(0.0, 8.0), (0.0, 8.0)], 2 / 4),  # both want the same reference
        ([(5.0, 5.0)], 0.0),
        ([], 0.0),
    ],
)
def test_by_hand(one_video, answers, expected):
    annotations, predictions = one_video({"a": [(0, 10), (4, 14)]}, {"a": answers})
    assert evaluate(annotations, predictions, "F1,IoU=0.3").value("F1,IoU=0.3") == pytest.approx(expected, rel=1e-15)


def test_empty_places_pair_with_nothing(one_video):
    # Threshold 0 with ">=": the one answer pairs with one reference, places behind the list with none: 2 x 1 / (1 + 2).
    annotations, predictions = one_video(
        {"a": [(0, 10), (4, 14)], "b": [(0, 10)]}, {"a": [(20.0, 30.0)], "b": [(0.0, 1.0), (2.0, 3.0)]}
    )
    scores = evaluate(annotations, predictions, "F1,IoU=0", "default,comparison=>=")
    assert scores.numerator == pytest.approx(np.array([[2 / 3, 2 / 3]]), rel=1e-15)
