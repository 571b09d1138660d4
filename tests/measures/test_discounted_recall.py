"""dR@n,IoU=m against Closer Look, eq. 2, moment by moment and in exact numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from truemoment.base.errors import MeasureError
from truemoment.evaluation.evaluate import evaluate

RULES = ["nearest", "first", "representative", "merged", "rows"]


def discount(answer, reference, duration):
    """alpha_s * alpha_e of eq. 2, times divided by the video's length, each factor floored at 0."""
    factors = [max(Fraction(0), 1 - abs(p - g) / duration) for p, g in zip(answer, reference, strict=True)]
    return factors[0] * factors[1]


def best_discounted(slow, answers, references, *, duration, m, comparison, rule):
    """Best discounted hit of the answers: one value a unit of judgement."""
    if rule == "merged":
        pieces = [(s, e) for s, e in references if e > s]
        if not pieces:
            return [Fraction(0)]
        hull = (min(s for s, _ in pieces), max(e for _, e in pieces))  # "its first start and last end are taken"
        hits = [a for a in answers if slow.reaches(slow.region_iou(a, references), m, comparison)]
        return [max((discount(a, hull, duration) for a in hits), default=Fraction(0))]
    if rule == "first":
        references = references[:1]
    elif rule == "representative":
        references = [references[slow.representative(references)]]
    groups = [[r] for r in references] if rule == "rows" else [references]
    return [
        max(
            (discount(a, r, duration) for a in answers for r in group if slow.reaches(slow.iou(a, r), m, comparison)),
            default=Fraction(0),
        )
        for group in groups
    ]


@pytest.mark.parametrize("comparison", [">", ">="])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(4))
def test_against_equation_2(world, slow, agrees, *, seed, rule, comparison):
    w = world(seed)
    measures = [f"dR@{n},IoU={m}[ref={rule}]" for n in (1, 3, 100) for m in ("0.1", "0.5", "0.7", "0.9")]
    scores = evaluate(w.annotations, w.predictions, "; ".join(measures), f"default,comparison={comparison}")
    for measure in measures:
        n, m = measure.removeprefix("dR@").split("[")[0].split(",IoU=")
        expected = {}
        for query_id, references in w.references.items():
            answers = w.ranked(query_id)[: int(n)]
            values = best_discounted(
                slow, answers, references, duration=w.duration[query_id], m=m, comparison=comparison, rule=rule
            )
            expected[query_id] = (sum(values), len(values))
        agrees(scores, measure, expected)


# By hand, video of 40 s, reference (10, 20).
@pytest.mark.parametrize(
    ("answers", "measure", "expected"),
    [
        ([(10.0, 20.0)], "dR@1,IoU=0.5", 1.0),
        ([(12.0, 20.0)], "dR@1,IoU=0.5", 0.95),  # IoU 0.8; 1 - 2/40
        ([(12.0, 24.0)], "dR@1,IoU=0.5", 0.95 * 0.9),  # IoU 8/14; (1 - 2/40)(1 - 4/40)
        ([(12.0, 24.0)], "dR@1,IoU=0.6", 0.0),  # no hit, no discount
        ([(30.0, 40.0)], "dR@1,IoU=0.1", 0.0),
        ([(12.0, 24.0), (12.0, 20.0)], "dR@1,IoU=0.5", 0.95 * 0.9),
        ([(12.0, 24.0), (12.0, 20.0)], "dR@2,IoU=0.5", 0.95),  # the best discounted hit, not the first
        ([(12.0, 20.0), (12.0, 24.0)], "dR@2,IoU=0.5", 0.95),  # a later, worse hit takes nothing away
    ],
)
def test_by_hand(one_video, answers, measure, expected):
    annotations, predictions = one_video({"a": [(10, 20)]}, {"a": answers})
    assert evaluate(annotations, predictions, measure).value(measure) == pytest.approx(expected, rel=1e-15)


def test_hits_count_less_by_the_reference_that_they_hit(one_video):
    # Two references, answer (10, 20). Against (10, 18): IoU 0.8, discount 38/40. Against (9, 20): IoU 10/11, 39/40.
    annotations, predictions = one_video({"a": [(10, 18), (9, 20)]}, {"a": [(10.0, 20.0)]})
    scores = evaluate(annotations, predictions, "dR@1,IoU=0.5; dR@1,IoU=0.5[ref=first]; dR@1,IoU=0.5[ref=rows]")
    assert scores.value("dR@1,IoU=0.5") == pytest.approx(39 / 40, rel=1e-15)
    assert scores.value("dR@1,IoU=0.5[ref=first]") == pytest.approx(38 / 40, rel=1e-15)
    assert scores.value("dR@1,IoU=0.5[ref=rows]") == pytest.approx((38 + 39) / 80, rel=1e-15)


def test_factors_are_floored_at_zero(one_video):
    # Video of 4 s, reference (0, 10) past its end, answer (6, 10): IoU 0.4, start off by 6/4 of the video.
    annotations, predictions = one_video({"a": [(0, 10)]}, {"a": [(6.0, 10.0)]}, duration_s=4.0)
    scores = evaluate(annotations, predictions, "dR@1,IoU=0.3; R@1,IoU=0.3")
    assert (scores.value("dR@1,IoU=0.3"), scores.value("R@1,IoU=0.3")) == (0.0, 1.0)


def test_normalised_and_in_seconds_it_is_the_same(world):
    # Distances are fractions of the duration either way; quotients of quarters differ in the last bits only.
    w = world(7)
    measures = "dR@1,IoU=0.3; dR@5,IoU=0.5"
    seconds, normalised = (
        evaluate(w.annotations, w.predictions, measures, f"default,times={times}")
        for times in ("seconds", "normalised")
    )
    assert normalised.numerator == pytest.approx(seconds.numerator, abs=1e-12)


def test_pooled_answers_have_no_ends(one_video):
    annotations, predictions = one_video({"a": [(0, 10)]}, {"a": [(0.0, 10.0)]})
    with pytest.raises(MeasureError, match=r"dR: answers pooled into one have no start and end"):
        evaluate(annotations, predictions, "dR@1,IoU=0.5[ref=pooled]")


@pytest.mark.parametrize("rule", RULES)
def test_a_query_whose_references_are_all_empty_is_missed(one_video, rule):
    # A zero-length and a swapped reference overlap nothing: no answer hits, under any rule, and nothing is warned.
    annotations, predictions = one_video({"a": [(5, 5), (9, 3)], "b": [(0, 5)]}, {"a": [(3.0, 9.0)], "b": [(0.0, 5.0)]})
    scores = evaluate(annotations, predictions, f"dR@1,IoU=0.1[ref={rule}]")
    assert scores.numerator.tolist() == [[0, 1]]


@pytest.mark.parametrize("comparison", [">", ">="])
def test_silence_is_never_a_hit(one_video, comparison):
    annotations, predictions = one_video({"a": [(0, 5)], "b": [(0, 5)]}, {"a": []})
    scores = evaluate(annotations, predictions, "dR@1,IoU=0", f"default,comparison={comparison}")
    assert scores.numerator.tolist() == [[0, 0]]


def test_threshold_zero_with_several_references(one_video):
    # ">= 0" makes every answer a hit of every reference it is held against; query a has two of them, the others one.
    # By hand, video of 40 s: a, (0, 5) is exact: 1. b the same. c, (0, 5) against (10, 20): (1 - 10/40)(1 - 15/40).
    annotations, predictions = one_video(
        {"a": [(0, 5), (20, 30)], "b": [(0, 5)], "c": [(10, 20)]}, {query_id: [(0.0, 5.0)] for query_id in "abc"}
    )
    scores = evaluate(annotations, predictions, "dR@1,IoU=0", "default,comparison=>=")
    assert scores.numerator.tolist() == [[1, 1, 0.75 * 0.625]]
