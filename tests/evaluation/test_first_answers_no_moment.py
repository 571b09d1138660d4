"""Diagnosis where some queries have no moment: each looks at the queries that have one, and says so."""

from __future__ import annotations

import numpy as np
import pytest

from truemoment import Annotations, Predictions
from truemoment.evaluation.error_kinds import error_kinds
from truemoment.evaluation.evaluate import evaluate
from truemoment.studies.audit.shuffled import compare_shuffled
from truemoment.studies.evaluate.curves import recall_curves, success_by_length
from truemoment.studies.evaluate.first_answers import answer_pattern
from truemoment.studies.evaluate.slices import membership, reference_lengths, slices

nan = float("nan")

ROWS = [
    ("a", "v", 40.0, "one", 10.0, 30.0),
    ("b", "v", 40.0, "two", nan, nan),
    ("c", "w", 40.0, "three", 0.0, 4.0),
    ("d", "w", nan, "four", nan, nan),
    ("e", "w", 40.0, "five", nan, nan),
]
ROWS = [row if row[0] != "d" else ("d", "x", *row[2:]) for row in ROWS]  # a video of its own, duration not known
ANSWERS = {"a": [(10.0, 28.0)], "b": [(0.0, 9.0)], "c": [(20.0, 30.0)], "d": [], "e": [(0.0, 9.0)]}


def pair():
    return Annotations.from_rows(ROWS), Predictions.from_lists(ANSWERS)


def without():
    """The same without the queries that have no moment, dropped first."""
    annotations = Annotations.from_rows([row for row in ROWS if row[4] == row[4]])
    return annotations, Predictions.from_lists({q: ANSWERS[q] for q in annotations.query_id})


@pytest.mark.parametrize("protocol", ["default", "sets", "moment-detr,missing=worst", "default,references=merged"])
def test_error_kinds(protocol):
    found, expected = error_kinds(*pair(), 0.5, protocol), error_kinds(*without(), 0.5, protocol)
    assert found.counts.tolist() == [True, False, True, False, False]
    assert [(line.kind, line.n_queries, line.share) for line in found.table] == [
        (line.kind, line.n_queries, line.share) for line in expected.table
    ]
    assert found.figures.tolist() == expected.figures.tolist()
    assert found.kind[found.counts].tolist() == expected.kind.tolist()


def test_answer_pattern():
    assert repr(answer_pattern(*pair())) == repr(answer_pattern(*without()))  # as text, in which NaN equals NaN
    none = Annotations.from_rows([ROWS[1]])
    assert answer_pattern(none, Predictions.from_lists({"b": [(0.0, 9.0)]})).n_queries == 0


def test_curves_follow_the_protocol():
    # Left out they are as if they were not there; under "sets" one of three is abstained from, so 1/5 more is right.
    expected = recall_curves(*without(), thresholds=[0.5]).recall
    assert recall_curves(*pair(), thresholds=[0.5]).recall.tolist() == expected.tolist() == [[1 / 2]]
    assert recall_curves(*pair(), "sets", thresholds=[0.5]).recall.tolist() == [[2 / 5]]


@pytest.mark.parametrize("protocol", ["default", "sets"])
def test_success_by_length(protocol):
    annotations, predictions = pair()
    found = success_by_length(evaluate(annotations, predictions, "R@1,IoU=0.5", protocol), annotations, bins=4)
    assert found.norm.success.tolist() == [0, 1, 0, 0]
    assert found.norm.failure.tolist() == [1, 0, 0, 0]
    assert (found.norm.left_out, found.seconds.left_out) == (3, 3)


def test_shuffled_videos_are_compared_all():
    # References are not looked at.
    annotations, predictions = pair()
    moved = compare_shuffled(annotations, predictions, predictions)
    assert moved.compared.tolist() == [True, True, True, False, True]


def test_classes_by_the_reference_have_one_for_none():
    annotations, predictions = pair()
    assert np.isnan(reference_lengths(annotations).length_s).tolist() == [False, True, False, True, True]
    labels = {m.family: [m.labels[c] for c in m.number] for m in membership(annotations)}
    for family in ("reference length", "reference length (s)", "position", "references", "shared moment"):
        assert [label == "no moment" for label in labels[family]] == [False, True, False, True, True]
    assert "no moment" not in labels["video length"] + labels["sentence length"]
    assert set(labels["references"]) == {"one", "no moment"}
    scores = evaluate(annotations, predictions, "R@1,IoU=0.5", "sets")
    members = membership(annotations, families=["references"])
    found = slices(scores, annotations, np.random.default_rng(0), members, resamples=20)
    assert {s.label: (s.n_queries, s.value.item()) for s in found} == {"one": (2, 1 / 2), "no moment": (3, 1 / 3)}


def test_classes_where_no_query_has_a_moment():
    annotations = Annotations.from_rows([ROWS[1], ROWS[4]])
    for member in membership(annotations, families=["reference length", "position", "references", "shared moment"]):
        assert member.labels == ("no moment",)
