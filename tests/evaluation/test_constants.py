"""evaluate_constants: the same figures as evaluate() of the same answers; asked_measures, chosen_protocol."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from truemoment import Annotations, Predictions, get_protocol, parse_measure, parse_measures
from truemoment.base.errors import InputError, MeasureError, ProtocolError
from truemoment.base.records import Saliency
from truemoment.evaluation.evaluate import evaluate, evaluate_constants, resolve_measures, resolve_protocol
from truemoment.evaluation.protocols import PROTOCOLS

nan = float("nan")

MEASURES = [
    "R@1,IoU=0.3", "R@1,IoU=0.5", "R@5,IoU=0.5", "R@1,IoU=0", "dR@1,IoU=0.3", "dR@3,IoU=0.1", "mIoU", "AxIoU@1",
    "AxIoU@10", "NCxIoU@3,p=weights(1,2,3)", "AP@10,IoU=0.3", "mAP", "mAP,IoU=0.5", "DCG@10", "F1,IoU=0.5",
    "R@1,IoU=0.3[ref=first]", "mIoU[ref=representative]", "mIoU[ref=merged]", "mIoU[ref=rows]", "mIoU[ref=pooled]",
    "dR@1,IoU=0.1[ref=rows]",
]  # fmt: skip
CLASSES = ["R@1,IoU=0.3,length=short", "mAP,length=short", "R@1,IoU=0.3,length=middle"]
CHANGED = [
    "default,clip_references=yes,clip_predictions=yes",
    "default,times=normalised,precision=float32",
    "default,references=rows",
    "default,missing=refuse,nms_threshold=0.5,top=1",
    "default,epsilon=0.5,denominator=union",
]
# Also swapped, and wholly or partly past the end.
CONSTANTS = np.array(
    [[0.0, 1.0], [0.0, 0.25], [0.3, 0.6], [0.45, 0.5], [0.75, 1.0], [0.5, 0.25], [0.5, 1.2], [1.1, 1.3]]
)


def by_evaluate(annotations, start_norm, end_norm, measures, protocol):
    """Figures of one constant, the long way."""
    queries = annotations.queries
    lists = {
        query_id: [(start_norm * duration_s, end_norm * duration_s, 0.0)]
        for query_id, duration_s in zip(queries.query_id, queries.duration_s, strict=True)
    }
    scores = evaluate(annotations, Predictions.from_lists(lists), measures, protocol)
    return [scores.value(measure) for measure in measures]


@pytest.mark.parametrize("protocol", [*PROTOCOLS, *CHANGED])
def test_equals_evaluate(world, protocol):
    # These worlds hold several references a query, swapped and empty ones, and such that lie past the end.
    annotations = world(21).annotations
    pooled = get_protocol(protocol).references == "pooled"  # for which neither dR nor length classes are defined
    measures = [
        m for m in MEASURES + CLASSES if not (pooled and ("length=" in m or m.startswith("dR@")) and "[" not in m)
    ]
    found = evaluate_constants(annotations, *CONSTANTS.T, measures, protocol)
    expected = [by_evaluate(annotations, start, end, measures, protocol) for start, end in CONSTANTS]
    # Both add the same per-query numbers, in another order.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
    assert len(np.unique(found[:, measures.index("mIoU")])) > 4


def test_equals_evaluate_where_a_measure_is_undefined(one_video):
    annotations, _ = one_video({"a": [(0, 35)], "b": [(3, 38)]}, {})
    found = evaluate_constants(annotations, *CONSTANTS[:2].T, ["R@1,IoU=0.5,length=short", "mIoU"])
    assert np.isnan(found[:, 0]).all()
    # By hand: 35 / 40 twice; (0, 10) against (0, 35) and (3, 38): 10 / 35 and 7 / 38.
    assert found[:, 1].tolist() == pytest.approx([35 / 40, (10 / 35 + 7 / 38) / 2], abs=1e-15)


def test_many_blocks(one_video):
    # More queries than are laid out at a time under "rows"; figures by hand: every answer's IoU is 10 / (10 + k % 3).
    n = 3000
    references = {f"q{k}": [(0.0, 10.0 + k % 3)] * (1 + k % 2) for k in range(n)}
    annotations, _ = one_video(references, {})
    import truemoment.evaluation.evaluate

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(truemoment.evaluation.evaluate, "BLOCK_MOMENTS", 64)
        found = evaluate_constants(annotations, np.array([0.0]), np.array([0.25]), ["mIoU", "mIoU[ref=rows]"])
    iou = np.array([10 / (10 + k % 3) for k in range(n)])
    rows = 1 + np.arange(n) % 2
    assert found[0].tolist() == pytest.approx([iou.mean(), (iou * rows).sum() / rows.sum()], rel=1e-13)


def test_measures_as_words_and_as_values(world):
    annotations = world(22).annotations
    words = evaluate_constants(annotations, *CONSTANTS.T, ["mIoU", "R@1,IoU=0.5"])
    values = evaluate_constants(annotations, *CONSTANTS.T, [parse_measure("mIoU"), parse_measure("R@1,IoU=0.5")])
    assert words.shape == (len(CONSTANTS), 2)
    assert np.array_equal(words, values)


def test_a_column_for_each_measure_asked_for(world):
    # The docstring: shape (C, M), for M measures; a caller lines columns up with what it asked for.
    found = evaluate_constants(world(22).annotations, *CONSTANTS.T, ["mIoU", "R@1,IoU=0.5", "mIoU"])
    assert found.shape == (len(CONSTANTS), 3)


def test_no_constant(world):
    assert evaluate_constants(world(22).annotations, np.zeros(0), np.zeros(0), ["mIoU"]).shape == (0, 1)


@pytest.fixture
def like_qvhighlights():
    """Two queries of videos of 20 s with rated clips, one of them with two moments."""
    rows = [("1", "v", 20.0, "s", 0.0, 8.0), ("1", "v", 20.0, "s", 14.0, 20.0), ("2", "w", 20.0, "t", 4.0, 6.0)]
    annotations = Annotations.from_rows(rows, dataset="qvhighlights", split="val")
    saliency = Saliency(np.array([0, 2, 3]), np.array([0, 7, 2]), np.array([[4, 3, 4], [2, 2, 1], [3, 3, 3]]), 2.0)
    return dataclasses.replace(annotations, saliency=saliency)


def test_qvhighlights_goes_by_its_own_protocol(like_qvhighlights):
    measures = parse_measures("R@1,IoU=0.5; R@1,IoU=0.7; mAP; mAP,IoU=0.5; mAP,length=short")
    found = evaluate_constants(like_qvhighlights, *CONSTANTS.T, measures)
    expected = [by_evaluate(like_qvhighlights, s, e, measures, "moment-detr") for s, e in CONSTANTS]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
    # By hand, the constant (0, 0.25) of 20 s, (0, 5): IoU 5/8 with the first query, 1/7 with the second.
    assert found[1, :2].tolist() == [0.5, 0.0]


# ---- Refusals


def test_clip_ratings_are_refused(like_qvhighlights):
    for measures in (["HL-mAP,min=Good"], ["mIoU", "HIT@1,min=VeryGood"]):
        with pytest.raises(MeasureError) as caught:
            evaluate_constants(like_qvhighlights, *CONSTANTS.T, measures)
        assert str(caught.value) == "a constant answer rates no clips; ask for measures of moments"


@pytest.mark.parametrize("duration_s", [nan, 0.0, -3.0])
def test_an_unknown_duration_is_refused(duration_s):
    annotations = Annotations.from_rows([("a", "v", 10.0, "s", 0.0, 5.0), ("b", "w", duration_s, "s", 0.0, 5.0)])
    with pytest.raises(MeasureError, match="a constant share of the video needs every video's duration"):
        evaluate_constants(annotations, *CONSTANTS.T, ["mIoU"])


def test_what_evaluate_refuses_is_refused(world):
    annotations = world(22).annotations
    with pytest.raises(ProtocolError, match="unknown protocol 'nobody'"):
        evaluate_constants(annotations, *CONSTANTS.T, ["mIoU"], "nobody")
    with pytest.raises(MeasureError, match="mIou"):
        evaluate_constants(annotations, *CONSTANTS.T, ["mIou"])
    with pytest.raises(MeasureError, match="got no measure"):
        evaluate_constants(annotations, *CONSTANTS.T, [])
    with pytest.raises(MeasureError, match="pooled"):
        evaluate_constants(annotations, *CONSTANTS.T, ["dR@1,IoU=0.5[ref=pooled]"])


def test_no_query_is_refused_as_by_evaluate():
    nothing = Annotations.from_rows([], dataset="tacos", split="val")
    with pytest.raises((InputError, MeasureError)):
        evaluate_constants(nothing, *CONSTANTS.T, ["mIoU"])


# ---- What is asked for


def test_asked_measures(like_qvhighlights):
    protocol = get_protocol("moment-detr")
    queries = like_qvhighlights.queries
    silent = Predictions.from_lists({query_id: [] for query_id in queries.query_id})
    rating = Predictions(
        queries.query_id, np.zeros(3, int), np.zeros(0), np.zeros(0), np.zeros(0),
        saliency_offsets=np.array([0, 10, 20]), saliency=np.zeros(20),
    )  # fmt: skip
    plain = dataclasses.replace(like_qvhighlights, saliency=None)
    every = parse_measures(protocol.measures)
    of_moments = tuple(measure for measure in every if measure.needs != "saliency")
    assert of_moments != every
    # By default what the protocol lists, without clip ratings where one side has none.
    assert resolve_measures(None, protocol, like_qvhighlights, rating) == every
    assert resolve_measures(None, protocol, like_qvhighlights, silent) == of_moments
    assert resolve_measures(None, protocol, plain, rating) == of_moments
    # What is asked for is given, in order, each once.
    asked = resolve_measures(["mIoU", "R@1,IoU=0.50", parse_measure("R@1,IoU=0.5")], protocol, plain, silent)
    assert [str(measure) for measure in asked] == ["mIoU", "R@1,IoU=0.5"]
    assert resolve_measures("mIoU; R@1,IoU=0.5", protocol, plain, silent) == asked
    assert resolve_measures(["HIT@1,min=Good"], protocol, plain, silent) == parse_measures("HIT@1,min=Good")
    for nothing in ([], ()):
        with pytest.raises(MeasureError, match="got no measure, expected at least one"):
            resolve_measures(nothing, protocol, plain, silent)


def test_chosen_protocol(like_qvhighlights):
    own = Annotations.from_rows([("a", "v", 10.0, "s", 0.0, 5.0)])
    assert resolve_protocol(None, own) is PROTOCOLS["default"]
    assert resolve_protocol(None, like_qvhighlights) is PROTOCOLS["moment-detr"]
    assert resolve_protocol("default", like_qvhighlights) is PROTOCOLS["default"]
    changed = get_protocol("default,comparison=>=")
    assert resolve_protocol(changed, own) is changed
    assert resolve_protocol("default,comparison=>=", own) == changed
    with pytest.raises(ProtocolError, match="unknown protocol"):
        resolve_protocol("nobody", own)
