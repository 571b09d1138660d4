"""AP@K,IoU=m (AxIoU paper, eq. 12) and mAP (QVHighlights) against slow loops in exact numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures.average_precision import MAP_THRESHOLDS
from truemoment.evaluation.references import REFERENCE_RULES


@pytest.mark.parametrize("comparison", [">", ">="])
@pytest.mark.parametrize("rule", REFERENCE_RULES)
@pytest.mark.parametrize("seed", range(3))
def test_ap_against_equation_12(world, slow, agrees, *, seed, rule, comparison):
    w = world(seed)
    measures = [f"AP@{k},IoU={m}[ref={rule}]" for k in (1, 3, 12) for m in ("0.1", "0.5", "0.7")]
    scores = evaluate(w.annotations, w.predictions, "; ".join(measures), f"default,comparison={comparison}")
    for measure in measures:
        big_k, m = measure.removeprefix("AP@").split("[")[0].split(",IoU=")
        expected = {}
        for query_id, references in w.references.items():
            units = slow.relevances(w.ranked(query_id), references, rule)
            value = Fraction(0)
            for relevances in units:
                for k in range(1, int(big_k) + 1):
                    hits = sum(slow.reaches(iou, m, comparison) for iou in relevances[:k])
                    value += Fraction(hits, k) / int(big_k)
            expected[query_id] = (value, len(units))
        agrees(scores, measure, expected)


def test_ap_by_hand(one_video):
    # Hits at ranks 1 and 3 of 3: precisions 1, 1/2, 2/3; over ranks 1..4 the fourth is 2/4 (beyond the list: no hit).
    annotations, predictions = one_video({"a": [(0, 10)]}, {"a": [(0.0, 9.0), (20.0, 30.0), (0.0, 8.0)]})
    scores = evaluate(annotations, predictions, "AP@1,IoU=0.5; AP@3,IoU=0.5; AP@4,IoU=0.5")
    expected = [1, (1 + 1 / 2 + 2 / 3) / 3, (1 + 1 / 2 + 2 / 3 + 2 / 4) / 4]
    assert scores.numerator[:, 0] == pytest.approx(expected, rel=1e-15)


def test_ap_counts_no_hits_beyond_a_list(one_video):
    # At threshold 0 with ">=" every answer is a hit, but ranks beyond the list's end are none: (1/1 + 1/2) / 2.
    annotations, predictions = one_video({"a": [(0, 10)], "b": [(0, 10)]}, {"a": [(20.0, 30.0)], "b": []})
    scores = evaluate(annotations, predictions, "AP@2,IoU=0", "default,comparison=>=")
    assert scores.numerator.tolist() == [[0.75, 0]]


def average_precision(slow, answers, references, m, comparison):
    """The interpolated average precision of average_precision.py; `answers` by falling score, `m` decimal text."""
    free = list(range(len(references)))
    right = []
    for answer in answers:
        # The free reference of largest IoU that is reached; of equal ones the later.
        ious = {i: slow.iou(answer, references[i]) for i in free}
        reached = [i for i in free if slow.reaches(ious[i], m, comparison)]
        right.append(bool(reached))
        if reached:
            free.remove(max(reached, key=lambda i: (ious[i], i)))
    precision = [Fraction(sum(right[: k + 1]), k + 1) for k in range(len(right))]
    # Each right answer is a step of 1 / |references| in recall, at the best precision from there on.
    return sum((max(precision[k:]) for k, hit in enumerate(right) if hit), Fraction(0)) / len(references)


def slow_map(slow, w, query_id, *, thresholds, comparison, length=None):
    answers = [(s, e) for s, e, _ in sorted(w.filed.get(query_id, []), key=lambda answer: -answer[2])]
    references = w.references[query_id]
    if length is not None:
        low, high = {"short": (0, 10), "middle": (10, 30), "long": (30, 150)}[length]
        references = [(s, e) for s, e in references if low < e - s <= high]
    if not references:
        return Fraction(0), 0
    values = [average_precision(slow, answers, references, m, comparison) for m in thresholds]
    return sum(values) / len(values), 1


TEN = ["0.5", "0.55", "0.6", "0.65", "0.7", "0.75", "0.8", "0.85", "0.9", "0.95"]


def test_the_ten_thresholds():
    assert [float(m) for m in TEN] == list(MAP_THRESHOLDS)


@pytest.mark.parametrize("comparison", [">", ">="])
@pytest.mark.parametrize("length", [None, "short", "middle", "long"])
@pytest.mark.parametrize("seed", range(5))
def test_map_against_a_slow_loop(world, slow, agrees, *, seed, length, comparison):
    w = world(seed, longest_quarters=200 if length else 16)  # a small grid makes equal IoUs common
    suffix = "" if length is None else f",length={length}"
    cases = {f"mAP{suffix}": TEN, f"mAP,IoU=0.5{suffix}": ["0.5"], f"mAP,IoU=0.1{suffix}": ["0.1"]}
    scores = evaluate(w.annotations, w.predictions, "; ".join(cases), f"default,comparison={comparison}")
    for measure, thresholds in cases.items():
        expected = {
            query_id: slow_map(slow, w, query_id, thresholds=thresholds, comparison=comparison, length=length)
            for query_id in w.references
        }
        agrees(scores, measure, expected)


# By hand, references (0, 10) and (20, 30); answers in order of score.
@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([(0.0, 10.0), (20.0, 30.0)], 1.0),
        ([(20.0, 30.0), (0.0, 10.0)], 1.0),
        ([(0.0, 10.0)], 0.5),  # half the recall at precision 1
        ([(0.0, 10.0), (0.0, 10.0)], 0.5),  # the second copy finds its reference taken
        ([(0.0, 10.0), (0.0, 10.0), (20.0, 30.0)], 5 / 6),  # 1/2 at precision 1, 1/2 at 2/3
        ([(12.0, 18.0), (0.0, 10.0), (20.0, 30.0)], 2 / 3),  # precisions 0, 1/2, 2/3: both steps at 2/3
        ([(12.0, 18.0)], 0.0),
        ([], 0.0),
    ],
)
def test_map_by_hand(one_video, answers, expected):
    annotations, predictions = one_video({"a": [(0, 10), (20, 30)]}, {"a": answers})
    assert evaluate(annotations, predictions, "mAP").value("mAP") == pytest.approx(expected, rel=1e-15)


def test_a_taken_reference_gives_way_to_the_next(one_video):
    # (0, 10) overlaps both references enough for m = 0.5: the first copy takes the better (0, 9), the second (0, 8).
    annotations, predictions = one_video({"a": [(0, 8), (0, 9)]}, {"a": [(0.0, 10.0), (0.0, 10.0)]})
    assert evaluate(annotations, predictions, "mAP,IoU=0.5").value("mAP,IoU=0.5") == 1.0


def test_of_equal_references_the_later_is_taken(one_video):
    # (5, 15) overlaps (0, 10) and (10, 20) by 1/3 each and takes the later; then only (0, 10) is left for the exact
    # answer to it: both right. Taking the earlier would leave the second answer without a reference.
    annotations, predictions = one_video({"a": [(0, 10), (10, 20)]}, {"a": [(5.0, 15.0), (0.0, 10.0)]})
    assert evaluate(annotations, predictions, "mAP,IoU=0.3").value("mAP,IoU=0.3") == 1.0


def test_map_sorts_by_score_and_cuts_in_file_order(one_video):
    # moment-detr: the first ten of the file count, sorted by score; the eleventh, with the best score, does not.
    misses = [(30.0, 31.0, 0.1)] * 8
    filed = [*misses, (0.0, 5.0, 0.2), (0.0, 10.0, 0.9), (20.0, 30.0, 1.0)]
    annotations, predictions = one_video({"a": [(0, 10), (20, 30)]}, {"a": filed})
    # By hand: (0, 10) first: 1/2 of the recall at precision 1. Without the cut it would be 1.
    assert evaluate(annotations, predictions, "mAP,IoU=0.75", "moment-detr").value("mAP,IoU=0.75") == 0.5
    uncut = evaluate(annotations, predictions, "mAP,IoU=0.75", "moment-detr,top=none")
    assert uncut.value("mAP,IoU=0.75") == 1.0


def test_empty_places_stay_behind_answers_with_negative_scores(one_video):
    # Query a has one answer of score -5; b fills two places. By hand: a finds its reference at rank 1, b at rank 2.
    annotations, predictions = one_video(
        {"a": [(0, 10)], "b": [(0, 10)]}, {"a": [(0.0, 10.0, -5.0)], "b": [(20.0, 30.0, -1.0), (0.0, 10.0, -2.0)]}
    )
    assert evaluate(annotations, predictions, "mAP").numerator.tolist() == [[1.0, 0.5]]


def test_map_of_silence_is_zero_at_any_threshold(one_video):
    annotations, predictions = one_video({"a": [(0, 10)], "b": [(0, 10)]}, {"a": []})
    scores = evaluate(annotations, predictions, "mAP; mAP,IoU=0", "default,comparison=>=")
    assert scores.numerator.tolist() == [[0, 0], [0, 0]]


def test_map_classes_are_in_seconds_whatever_the_unit_of_the_protocol(one_video):
    # (0, 20) of a video of 40 s is of class "middle", when times are normalised too.
    annotations, predictions = one_video({"a": [(0, 20)]}, {"a": [(0.0, 20.0)]})
    scores = evaluate(annotations, predictions, "mAP,length=short; mAP,length=middle", "default,times=normalised")
    assert scores.weight.tolist() == [[0], [1]]
