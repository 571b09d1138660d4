"""mIoU, AxIoU@K and NCxIoU@K against the AxIoU paper, eq. 4 and 5, in exact numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from truemoment.base.errors import MeasureError
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures.max_iou import stopping_distribution
from truemoment.evaluation.references import REFERENCE_RULES


@pytest.mark.parametrize("rule", REFERENCE_RULES)
@pytest.mark.parametrize("seed", range(4))
def test_against_equations_4_and_5(world, slow, agrees, seed, rule):
    w = world(seed)
    # P_A(k), k = 1..K, as fractions; the geometric one is normalised over the K ranks.
    half = [Fraction(1, 2 ** (k + 1)) for k in range(5)]
    distributions = {
        f"mIoU[ref={rule}]": [Fraction(1)],
        f"AxIoU@1[ref={rule}]": [Fraction(1)],
        f"AxIoU@4[ref={rule}]": [Fraction(1, 4)] * 4,
        f"AxIoU@25[ref={rule}]": [Fraction(1, 25)] * 25,
        f"NCxIoU@4,p=uniform[ref={rule}]": [Fraction(1, 4)] * 4,
        f"NCxIoU@5,p=geometric(0.5)[ref={rule}]": [share / sum(half) for share in half],
        f"NCxIoU@3,p=geometric(1)[ref={rule}]": [Fraction(1), Fraction(0), Fraction(0)],
        f"NCxIoU@3,p=weights(1,0,3)[ref={rule}]": [Fraction(1, 4), Fraction(0), Fraction(3, 4)],
    }
    scores = evaluate(w.annotations, w.predictions, "; ".join(distributions))
    for measure, stops in distributions.items():
        expected = {}
        for query_id, references in w.references.items():
            units = slow.relevances(w.ranked(query_id), references, rule)
            # Sum over k of P_A(k) times the best relevance among the first k.
            value = sum(p * slow.best(r, k) for r in units for k, p in enumerate(stops, start=1))
            expected[query_id] = (value, len(units))
        agrees(scores, measure, expected)


# By hand, reference (0, 10): answers of IoU 0.2, 0.6, 0.4.
@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("mIoU", 0.2),
        ("AxIoU@1", 0.2),
        ("AxIoU@2", 0.4),  # (0.2 + 0.6) / 2
        ("AxIoU@3", 1.4 / 3),  # (0.2 + 0.6 + 0.6) / 3
        ("AxIoU@10", 0.56),  # (0.2 + 9 x 0.6) / 10: a short list keeps its last best
        ("NCxIoU@10,p=uniform", 0.56),
        ("NCxIoU@2,p=geometric(0.5)", 0.2 * 2 / 3 + 0.6 / 3),  # 1/2 and 1/4 over their sum
        ("NCxIoU@4,p=weights(0,0,0,1)", 0.6),
        ("NCxIoU@2,p=weights(3,1)", 0.3),  # 0.2 x 3/4 + 0.6 / 4
    ],
)
def test_by_hand(one_video, measure, expected):
    annotations, predictions = one_video({"a": [(0, 10)]}, {"a": [(0.0, 2.0), (0.0, 6.0), (6.0, 10.0)]})
    assert evaluate(annotations, predictions, measure).value(measure) == pytest.approx(expected, rel=1e-15)


def test_silence_scores_zero_and_counts(one_video):
    # By hand: IoU 1 for one query, none for two others.
    annotations, predictions = one_video(
        {"a": [(0, 10)], "b": [(0, 10)], "c": [(0, 10)]}, {"a": [(0.0, 10.0)], "b": []}
    )
    scores = evaluate(annotations, predictions, "mIoU; AxIoU@5; NCxIoU@5,p=geometric(0.3)")
    assert scores.numerator == pytest.approx(np.array([[1, 0, 0]] * 3), rel=1e-15)
    assert scores.weight.tolist() == [[1, 1, 1]] * 3


@pytest.mark.parametrize(
    ("p", "k", "expected"),
    [
        (("uniform",), 4, [0.25, 0.25, 0.25, 0.25]),
        (("geometric", 0.5), 2, [2 / 3, 1 / 3]),  # 1/2 and 1/4 over 3/4
        (("geometric", 1.0), 3, [1, 0, 0]),
        (("weights", 1.0, 0.0, 1.0), 3, [0.5, 0, 0.5]),
    ],
)
def test_stopping_distribution(p, k, expected):
    assert stopping_distribution(p, k) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    "p",
    [
        ("uniform", 1.0),
        ("geometric",),
        ("geometric", 0.0),
        ("geometric", 1.5),
        ("geometric", float("nan")),
        ("weights",),
        ("weights", 1.0),
        ("weights", 0.0, 0.0),
        ("weights", -1.0, 2.0),
        ("weights", float("inf"), 1.0),
        ("weights", 1e308, 1e308),  # their sum is beyond float64
        ("poisson", 2.0),
    ],
)
def test_impossible_distributions(p):
    with pytest.raises(MeasureError, match=r"NCxIoU@2,p=.*expected p=uniform, p=geometric\(s\) with 0 < s <= 1"):
        stopping_distribution(p, 2)
