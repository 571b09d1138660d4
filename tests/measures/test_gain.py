"""DCG@K against the AxIoU paper, eq. 15."""

from __future__ import annotations

import math

import pytest

from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.references import REFERENCE_RULES


@pytest.mark.parametrize("rule", REFERENCE_RULES)
@pytest.mark.parametrize("seed", range(4))
def test_against_equation_15(world, slow, agrees, seed, rule):
    w = world(seed)
    measures = [f"DCG@{k}[ref={rule}]" for k in (1, 3, 20)]
    scores = evaluate(w.annotations, w.predictions, "; ".join(measures))
    for measure in measures:
        k = int(measure.removeprefix("DCG@").split("[")[0])
        expected = {}
        for query_id, references in w.references.items():
            units = slow.relevances(w.ranked(query_id), references, rule)
            # Sum over ranks of g(r(rank)) / d(rank) with g(r) = r and d(k) = log2(k + 1).
            value = sum(float(iou) / math.log2(rank + 1) for r in units for rank, iou in enumerate(r[:k], start=1))
            expected[query_id] = (value, len(units))
        agrees(scores, measure, expected)


def test_by_hand(one_video):
    # IoUs 1, 0.5, 1: 1 / log2(2) + 0.5 / log2(3) + 1 / log2(4).
    annotations, predictions = one_video({"a": [(0, 10)]}, {"a": [(0.0, 10.0), (0.0, 5.0), (0.0, 10.0)]})
    scores = evaluate(annotations, predictions, "DCG@1; DCG@2; DCG@3; DCG@9")
    expected = [1, 1 + 0.5 / math.log2(3), 1.5 + 0.5 / math.log2(3), 1.5 + 0.5 / math.log2(3)]
    assert scores.numerator[:, 0] == pytest.approx(expected, rel=1e-15)
