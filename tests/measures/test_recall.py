"""R@n,IoU=m against Closer Look, eq. 1, moment by moment and in exact numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from truemoment.base.errors import MeasureError
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures.base import LENGTH_CLASSES_S
from truemoment.evaluation.references import REFERENCE_RULES

THRESHOLDS = ["0.1", "0.3", "0.5", "0.7", "0.9", "1"]
RANKS = [1, 2, 5, 100]


# With and without a tolerance the decisions are the exact ones: see conftest.py on quarters.
@pytest.mark.parametrize("tolerance", ["1e-9", "none"])
@pytest.mark.parametrize("comparison", [">", ">="])
@pytest.mark.parametrize("rule", REFERENCE_RULES)
@pytest.mark.parametrize("seed", range(4))
def test_against_equation_1(world, slow, agrees, *, seed, rule, comparison, tolerance):
    w = world(seed)
    measures = [f"R@{n},IoU={m}[ref={rule}]" for n in RANKS for m in THRESHOLDS]
    protocol = f"default,comparison={comparison},tolerance={tolerance}"
    scores = evaluate(w.annotations, w.predictions, "; ".join(measures), protocol)
    for measure in measures:
        n, m = measure.removeprefix("R@").split("[")[0].split(",IoU=")
        expected = {}
        for query_id, references in w.references.items():
            hits = 0
            units = slow.relevances(w.ranked(query_id), references, rule)
            for relevances in units:
                # r(n, m, q): whether at least one of the first n answers has an IoU larger than m.
                hits += any(slow.reaches(iou, m, comparison) for iou in relevances[: int(n)])
            expected[query_id] = (hits, len(units))
        agrees(scores, measure, expected)


@pytest.mark.parametrize("rule", ["nearest", "first", "representative", "rows"])
@pytest.mark.parametrize("length", LENGTH_CLASSES_S)
@pytest.mark.parametrize("seed", range(3))
def test_length_keeps_references_of_a_class(world, slow, agrees, *, seed, length, rule):
    # moment_detr: references longer than the class's first figure and up to its second; answers are not filtered.
    low, high = {"short": (0, 10), "middle": (10, 30), "long": (30, 150)}[length]
    w = world(seed, longest_quarters=200)
    measures = [f"R@{n},IoU={m},length={length}[ref={rule}]" for n in (1, 5) for m in ("0.3", "0.5")]
    scores = evaluate(w.annotations, w.predictions, "; ".join(measures), "default,comparison=>=")
    for measure in measures:
        n, m = measure.removeprefix("R@").split(",length")[0].split(",IoU=")
        expected = {}
        for query_id, references in w.references.items():
            groups = {
                "nearest": [references],
                "first": [references[:1]],
                "representative": [[references[slow.representative(references)]]],
                "rows": [[r] for r in references],
            }[rule]
            numerator = weight = 0
            for group in groups:
                kept = [(start, end) for start, end in group if low < end - start <= high]
                answers = w.ranked(query_id)[: int(n)]
                weight += bool(kept)
                numerator += any(slow.reaches(slow.iou(a, r), m, ">=") for a in answers for r in kept)
            expected[query_id] = (numerator, weight)
        agrees(scores, measure, expected)


def test_length_bounds_by_hand(one_video):
    # A reference of exactly 10 s is short, of exactly 30 s middle, of exactly 150 s long (notes on moment_detr).
    annotations, predictions = one_video(
        {"a": [(0, 10)], "b": [(0, 30)], "c": [(0, 150)], "d": [(0, 151)], "e": [(5, 5)]},
        {query_id: [(0.0, 1.0)] for query_id in "abcde"},
        duration_s=200.0,
    )
    measures = [f"R@1,IoU=0.5,length={length}" for length in LENGTH_CLASSES_S]
    weight = evaluate(annotations, predictions, "; ".join(measures)).weight
    assert weight.tolist() == [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0]]


def test_length_is_in_seconds_whatever_the_unit_of_the_protocol(one_video):
    # The class is of the reference's length in seconds: (0, 20) of 40 s is "middle" when times are normalised too.
    annotations, predictions = one_video({"a": [(0, 20)]}, {"a": [(0.0, 20.0)]})
    scores = evaluate(annotations, predictions, "R@1,IoU=0.5,length=short; R@1,IoU=0.5,length=middle", "closer-look")
    assert scores.weight.tolist() == [[0], [1]]
    assert scores.value("R@1,IoU=0.5,length=middle") == 1.0


@pytest.mark.parametrize("rule", ["merged", "pooled"])
def test_length_is_refused_where_references_are_one_region(one_video, rule):
    # A region or a pool has no single length to class. (Judging it by its first piece alone, as a class with weight
    # 1 and IoU 0, would score this exact answer to the piece (10, 30) a miss.)
    annotations, predictions = one_video({"a": [(0, 2), (10, 30)]}, {"a": [(10.0, 30.0)]})
    with pytest.raises(MeasureError, match="length"):
        evaluate(annotations, predictions, f"R@1,IoU=0.5,length=middle[ref={rule}]")


def test_a_class_without_a_reference_is_undefined(one_video):
    annotations, predictions = one_video({"a": [(0, 5)]}, {"a": [(0.0, 5.0)]})
    scores = evaluate(annotations, predictions, "R@1,IoU=0.5,length=long")
    (figure,) = scores.measured()
    assert (figure.value, figure.why, figure.n_queries) == (None, "no query has a reference that counts", 0)


@pytest.mark.parametrize("comparison", [">", ">="])
def test_silence_is_never_a_hit(one_video, comparison):
    # recall.py: "A query without answers has no hit", at any threshold.
    annotations, predictions = one_video({"a": [(0, 5)], "b": [(0, 5)]}, {"a": []})
    scores = evaluate(annotations, predictions, "R@1,IoU=0; R@5,IoU=0.5", f"default,comparison={comparison}")
    assert scores.numerator.tolist() == [[0, 0], [0, 0]]


# By hand, reference (0, 10): IoUs of (0, 5), (0, 7), (0, 10) are 0.5, 0.7, 1.
@pytest.mark.parametrize(
    ("measure", "comparison", "expected"),
    [
        ("R@1,IoU=0.5", ">", 0),
        ("R@1,IoU=0.5", ">=", 1),
        ("R@2,IoU=0.5", ">", 1),
        ("R@2,IoU=0.7", ">", 0),
        ("R@2,IoU=0.7", ">=", 1),
        ("R@3,IoU=1", ">", 0),
        ("R@3,IoU=1", ">=", 1),
        ("R@3,IoU=0.999", ">", 1),
        ("R@1,IoU=0", ">", 1),
    ],
)
def test_by_hand(one_video, measure, comparison, expected):
    annotations, predictions = one_video({"a": [(0, 10)]}, {"a": [(0.0, 5.0), (0.0, 7.0), (0.0, 10.0)]})
    assert evaluate(annotations, predictions, measure, f"default,comparison={comparison}").value(measure) == expected


def test_the_answer_is_exact_at_a_real_tie(one_video):
    # (0.1, 0.8) against (0.1, 1.1): exactly 7/10, but 0.7000000000000001 / 1.0 in float64.
    assert (0.8 - 0.1) / (1.1 - 0.1) > 0.7
    assert Fraction("0.7") / 1 == Fraction("0.8") - Fraction("0.1")
    annotations, predictions = one_video({"a": [(0.1, 1.1)]}, {"a": [(0.1, 0.8)]})
    assert evaluate(annotations, predictions, "R@1,IoU=0.7").value("R@1,IoU=0.7") == 0.0
    assert evaluate(annotations, predictions, "R@1,IoU=0.7", "default,tolerance=none").value("R@1,IoU=0.7") == 1.0
