"""Queries without a moment, abstentions, and answers that could not be read: what protocols make of them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from truemoment import Annotations, Predictions, Scores
from truemoment.base.errors import MeasureError, ProtocolError
from truemoment.base.records import Saliency
from truemoment.evaluation.evaluate import evaluate, evaluate_constants
from truemoment.evaluation.protocols import PROTOCOLS
from truemoment.evaluation.references import REFERENCE_RULES

nan = float("nan")
RANKED = [
    *("R@1,IoU=0.5", "R@3,IoU=0", "dR@2,IoU=0.3", "mIoU", "AxIoU@3", "NCxIoU@3,p=geometric(0.5)"),
    "AP@2,IoU=0.5",
]
SETS = ["mAP", "mAP,IoU=0.5", "F1,IoU=0.5", "SetIoU"]
BY_LENGTH = "R@1,IoU=0.5,length=short; mAP,length=short"


def ruled(rule):
    """Measures of moments under a reference rule; of pooled ones, those that there are."""
    return [f"{m}[ref={rule}]" for m in RANKED if rule != "pooled" or not m.startswith("dR")]


# Queries: a has a moment; the others have none and are abstained from, answered, not there, and not to be read.
STATUS = {"a": "parsed", "abstains": "no answer", "answers": "parsed", "unread": "failed"}


def world(duration_s=40.0):
    rows = [("a", "v", 40.0, "s a", 0.0, 10.0)]
    rows += [(q, "w", duration_s, f"s {q}", nan, nan) for q in ("abstains", "answers", "absent", "unread")]
    lengths = [status == "parsed" for status in STATUS.values()]
    predictions = Predictions(
        list(STATUS),
        np.concatenate([[0], np.cumsum(lengths)]),
        np.zeros(2),
        np.array([10.0, 45.0]),
        np.zeros(2),
        status=np.array([*STATUS.values()], dtype=object),
    )
    return Annotations.from_rows(rows), predictions


@pytest.mark.parametrize("rule", REFERENCE_RULES)
@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_protocol_leaves_them_out_or_asks_for_an_abstention(name, rule):
    # Warnings are errors here, so this also says that no measure divides by nothing.
    measures = "; ".join([*ruled(rule), *SETS])
    changes = {"references": rule, "missing": "worst", "empty": "drop"}
    drop = evaluate(*world(), measures, PROTOCOLS[name].changed(**changes))
    assert drop.weight.tolist() == [[1, 0, 0, 0, 0]] * len(drop.measures)
    assert not drop.numerator[:, 1:].any()
    abstain = evaluate(*world(), measures, PROTOCOLS[name].changed(**changes | {"empty": "abstain"}))
    assert abstain.weight.tolist() == [[1, 1, 1, 1, 1]] * len(drop.measures)
    assert abstain.numerator[:, 1:].tolist() == [[1, 0, 0, 0]] * len(drop.measures)
    assert np.array_equal(abstain.numerator[:, 0], drop.numerator[:, 0])
    assert np.all(np.isfinite(abstain.numerator))
    assert np.array_equal(drop.on_threshold, abstain.on_threshold)


def test_a_block_of_nothing_but_such_queries(monkeypatch):
    monkeypatch.setattr("truemoment.evaluation.evaluate.BLOCK_MOMENTS", 1)  # a query a block
    for rule in REFERENCE_RULES:
        scores = evaluate(*world(), ruled(rule), "default,empty=abstain")
        assert scores.numerator[:, 1:].tolist() == [[1, 0, 0, 0]] * len(scores.measures)


def test_a_length_class_asks_only_for_its_own_references():
    scores = evaluate(*world(), BY_LENGTH, "default,empty=abstain")
    assert scores.weight.tolist() == [[1, 0, 0, 0, 0]] * 2
    assert scores.numerator.tolist() == [[1, 0, 0, 0, 0]] * 2


def test_they_stand_on_no_threshold():
    # With ">=", the IoU 0 of an answer to nothing would stand on the threshold 0, as it does for query b.
    rows = [("a", "v", 40.0, "s", nan, nan), ("b", "v", 40.0, "t", 20.0, 30.0)]
    answers = Predictions.from_lists({"a": [(0, 10)], "b": [(0, 10)]})
    for empty in ("drop", "abstain"):
        for precision in ("float64", "float32"):
            protocol = f"default,comparison=>=,empty={empty},precision={precision}"
            scores = evaluate(
                Annotations.from_rows(rows), answers, "R@1,IoU=0; dR@1,IoU=0; R@1,IoU=0[ref=rows]", protocol
            )
            assert scores.on_threshold.tolist() == [1, 1, 1]
            assert scores.numerator[:, 0].tolist() == [0, 0, 0]  # answering is wrong, whatever the threshold


# ---- What is counted aloud


def test_what_is_touched():
    assert evaluate(*world(), "mIoU").touched == {"no reference moment (left out)": 4}
    assert evaluate(*world(), "mIoU; F1,IoU=0.5", "sets").touched == {
        "no reference moment (right if abstained)": 4,
        "no reference moment and an abstention (right)": 1,
        "no answer (worst value)": 1,
        "no answer that could be read (worst value)": 1,
    }
    # What clips references has none to clip here.
    assert evaluate(*world(), "mIoU", "2d-tan").touched == {
        "no reference moment (left out)": 4,
        "a clipped reference": 0,
    }


def test_abstentions_where_a_moment_is_are_as_missing_as_ever():
    rows = [(q, "v", 40.0, f"s {q}", 0.0, 10.0) for q in "abc"]
    predictions = Predictions(
        ["a", "b"], [0, 0, 0], [0.0] * 0, [0.0] * 0, [0.0] * 0, status=np.array(["no answer", "refused"], dtype=object)
    )
    annotations = Annotations.from_rows(rows)
    worst = evaluate(annotations, predictions, "mIoU")
    assert worst.touched == {"no answer (worst value)": 2, "no answer that could be read (worst value)": 1}
    assert worst.weight.tolist() == [[1, 1, 1]]
    assert evaluate(annotations, predictions, "mIoU", "default,missing=drop").weight.tolist() == [[0, 1, 0]]
    dropped = evaluate(annotations, predictions, "mIoU", "default,unreadable=drop")
    assert dropped.weight.tolist() == [[1, 0, 1]]
    assert dropped.touched == {"no answer (worst value)": 2, "no answer that could be read (left out)": 1}


def test_refusals():
    annotations, predictions = world()
    with pytest.raises(ProtocolError) as caught:
        evaluate(annotations, predictions, "mIoU", "sets,unreadable=refuse")
    assert str(caught.value) == (
        "protocol sets,unreadable=refuse refuses predictions with an answer that could not be read for 1 of 5 queries "
        "(unread, ...); add unreadable=worst to score them 0: --protocol sets,unreadable=refuse,unreadable=worst"
    )
    with pytest.raises(ProtocolError, match=r"without an answer for 1 of 5 queries \(absent"):
        evaluate(annotations, predictions, "mIoU", "sets,missing=refuse")
    # Where they are left out, nothing is asked of them, so nothing is refused.
    assert evaluate(annotations, predictions, "mIoU", "cone,unreadable=refuse").value("mIoU") == 1


def test_missing_and_unreadable_may_be_dropped_where_no_moment_is():
    scores = evaluate(*world(), "mIoU; SetIoU", "sets,missing=drop")
    assert scores.weight.tolist() == [[1, 1, 1, 0, 1]] * 2
    scores = evaluate(*world(), "mIoU; SetIoU", "sets,unreadable=drop")
    assert scores.weight.tolist() == [[1, 1, 1, 1, 0]] * 2


# ---- The protocol of ours


def test_the_protocol_sets():
    scores = evaluate(*world(), None, "sets")
    assert [str(m) for m in scores.measures] == [
        *("SetIoU", "F1,IoU=0.3", "F1,IoU=0.5", "F1,IoU=0.7"),
        *("CorrectAbstention", "FalseAbstention"),
    ]
    # a is right, one of the four others too.
    assert [scores.value(m) for m in scores.measures] == [2 / 5] * 4 + [1 / 4, 0]
    assert "|empty:abstain|" in scores.signature()


def test_saved_scores_keep_the_protocol(tmp_path):
    scores = evaluate(*world(), None, "sets,unreadable=drop")
    scores.save(tmp_path / "scores.npz")
    read = Scores.load(tmp_path / "scores.npz")
    assert read.signature() == scores.signature()
    assert read.measures == scores.measures
    assert read.touched == scores.touched


# ---- Durations, clip ratings, constants


@pytest.mark.parametrize("duration_s", [nan, 0.0, -1.0])
@pytest.mark.parametrize("protocol", ["closer-look", "2d-tan", "default", "mmaction2", "closer-look,empty=abstain"])
def test_a_duration_is_of_no_matter_where_no_moment_is(protocol, duration_s):
    known, unknown = (evaluate(*world(d), "dR@1,IoU=0.3; mIoU; SetIoU", protocol) for d in (40.0, duration_s))
    assert unknown.numerator.tolist() == known.numerator.tolist()
    assert unknown.weight.tolist() == known.weight.tolist()


def rated(duration_s=10.0):
    """Two queries of five clips of 2 s; the second has no moment, and no clip is rated there."""
    annotations = Annotations.from_rows([("a", "v", 10.0, "s", 0.0, 4.0), ("b", "w", duration_s, "t", nan, nan)])
    saliency = Saliency(np.array([0, 2, 2]), np.array([0, 1]), np.full((2, 3), 4), 2.0)
    predictions = Predictions(
        ["a", "b"],
        [0, 1, 1],
        [0.0],
        [4.0],
        [1.0],
        saliency_offsets=np.array([0, 5, 10]),
        saliency=np.array([5.0, 4, 3, 2, 1] * 2),
    )
    return dataclasses.replace(annotations, saliency=saliency), predictions


@pytest.mark.parametrize("empty", ["drop", "abstain"])
def test_without_a_moment_no_clip_is_to_be_found(empty):
    scores = evaluate(*rated(), "HL-mAP,min=Good; HIT@1,min=Good; mIoU", f"default,empty={empty}")
    assert scores.weight.tolist() == [[1, 0], [1, 0], [1, float(empty == "abstain")]]
    assert [scores.value(m) for m in scores.measures] == [1, 1, 1]
    with pytest.raises(MeasureError, match="HL-mAP,min=Good needs every video's duration"):
        evaluate(*rated(nan), "HL-mAP,min=Good")


def test_no_ratings_where_no_moment_is_are_not_missing():
    annotations, predictions = rated()
    predictions = dataclasses.replace(
        predictions, saliency_offsets=np.array([0, 5, 5]), saliency=np.array([5.0, 4, 3, 2, 1])
    )
    assert evaluate(annotations, predictions, "HIT@1,min=Good", "moment-detr").value("HIT@1,min=Good") == 1


@pytest.mark.parametrize("duration_s", [40.0, nan])
def test_a_constant_never_abstains(duration_s):
    annotations, _ = world(duration_s)
    measures = ["mIoU", "SetIoU", "CorrectAbstention", "FalseAbstention"]
    figures = evaluate_constants(annotations, np.array([0.0]), np.array([0.25]), measures)
    assert figures.tolist() == [[1, 1, 0, 0]]
    figures = evaluate_constants(annotations, np.array([0.0]), np.array([0.25]), measures, "sets")
    assert figures.tolist() == [[1 / 5, 1 / 5, 0, 0]]


@pytest.mark.parametrize("empty", ["drop", "abstain"])
def test_gain_leaves_them_out_under_every_protocol(empty):
    # measures/gain.py: DCG has no largest value, so no value of an abstention would be fair beside a perfect list's.
    nan = float("nan")
    annotations = Annotations.from_rows([("a", "v", 9.0, "s", 0.0, 3.0), ("none", "v", 9.0, "t", nan, nan)])
    predictions = Predictions.from_lists({"a": [(0.0, 3.0)], "none": []})
    scores = evaluate(annotations, predictions, "DCG@2", f"default,empty={empty}")
    assert scores.weight.tolist() == [[1.0, 0.0]]
    assert scores.value("DCG@2") == 1.0  # IoU 1 at rank 1: 1 / log2(2)
