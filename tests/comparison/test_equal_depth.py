"""Equal depth: which lists are cut where, and that a cut list scores as a list that is no longer."""

from __future__ import annotations

import numpy as np
import pytest

from truemoment import Predictions, get_protocol, parse_measures
from truemoment.baselines.equal_depth import equal_depths, evaluate_to_depths, protocol_at
from truemoment.evaluation.evaluate import evaluate

MEASURES = "R@1,IoU=0.5; R@5,IoU=0.5; AxIoU@10; mIoU; mAP; F1,IoU=0.5; FalseAbstention; R@5,IoU=0.5[ref=pooled]"


@pytest.mark.parametrize(
    ("longest", "protocol", "depths"),
    [
        ((10, 1), "default", (None, 1, 1, None, 1, None, None, None)),
        ((10, 7), "default", (None, None, 7, None, 7, None, None, None)),  # R@5 looks at 5 answers of both
        ((7, 7), "default", (None,) * 8),
        ((0, 1), "default", (None,) * 8),  # a file without any answer is none that others are cut to
        ((12, 11), "default", (None, None, None, None, 11, None, None, None)),
        ((12, 11), "default,top=10", (None,) * 8),
        ((10, 1), "default,references=pooled", (None, None, None, None, 1, None, None, None)),  # answers as one region
    ],
)
def test_lists_are_cut_where_they_would_reach_further(longest, protocol, depths):
    assert equal_depths(parse_measures(MEASURES), longest, get_protocol(protocol)) == depths


@pytest.mark.parametrize("depth", [1, 3])
def test_a_cut_list_is_a_list_that_is_no_longer(world, depth):
    w = world(2, n_queries=25)
    measures = parse_measures("R@5,IoU=0.3; mAP; mIoU; R@5,IoU=0.5")
    first = Predictions.from_lists(
        {
            query: [(float(s), float(e), float(-rank)) for rank, (s, e) in enumerate(w.ranked(query)[:depth])]
            for query in w.filed
        }
    )
    protocol = get_protocol("default")
    cut = evaluate_to_depths(w.annotations, w.predictions, measures, (depth, depth, None, None), protocol)
    whole, short = (evaluate(w.annotations, answers, measures) for answers in (w.predictions, first))
    assert np.array_equal(cut.numerator[:2], short.numerator[:2])
    assert np.array_equal(cut.numerator[2:], whole.numerator[2:])
    assert not np.array_equal(short.numerator[0], whole.numerator[0])
    assert (cut.measures, cut.protocol, cut.touched) == (whole.measures, whole.protocol, whole.touched)
    assert f"|top:{depth}|" in protocol_at(protocol, depth).signature()
