"""What must hold for sets of moments, for queries without a moment, and for methods that abstain."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment import Annotations, Predictions
from truemoment.base.records import UNREADABLE_STATUSES
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.references import REFERENCE_RULES

pytestmark = pytest.mark.slow

nan = float("nan")

# Times in quarters of a second: exact in float64, so exact statements can be tested exactly.
quarters = st.integers(0, 60)
moments = st.tuples(quarters, quarters)  # swapped and zero-length ones included
proper = st.tuples(st.integers(0, 40), st.integers(1, 20)).map(lambda pair: (pair[0], pair[0] + pair[1]))
sets = st.lists(moments, max_size=6)
# An answer: a list of moments, why there is none ("no answer" abstains), or None where the query has no row.
answers = st.none() | st.sampled_from(["no answer", *UNREADABLE_STATUSES]) | st.lists(moments, min_size=1, max_size=5)
queries = st.tuples(sets, answers)
worlds = st.lists(queries, min_size=1, max_size=6)

OF_MOMENTS = (
    "R@1,IoU=0.5; R@3,IoU=0.3; dR@1,IoU=0.3; mIoU; AxIoU@5; NCxIoU@4,p=geometric(0.5); AP@3,IoU=0.3; mAP; "
    "F1,IoU=0.3; SetIoU"
)
PAIR = "CorrectAbstention; FalseAbstention"
RULES = st.sampled_from(REFERENCE_RULES)


def build(world):
    rows = [
        (f"q{q}", f"v{q % 3}", 20.0, f"s{q}", start / 4, end / 4)
        for q, (references, _) in enumerate(world)
        for start, end in references or [(nan, nan)]
    ]
    rated = {f"q{q}": answer for q, (_, answer) in enumerate(world) if answer is not None}
    lists = [[] if isinstance(answer, str) else answer for answer in rated.values()]
    flat = np.array([moment for answer in lists for moment in answer], dtype=float).reshape(-1, 2) / 4
    predictions = Predictions(
        list(rated),
        np.concatenate([[0], np.cumsum([len(answer) for answer in lists])]).astype(int),
        flat[:, 0],
        flat[:, 1],
        -np.arange(len(flat), dtype=float),
        status=np.array([answer if isinstance(answer, str) else "parsed" for answer in rated.values()], dtype=object),
    )
    return Annotations.from_rows(rows), predictions


def measures_under(rule):
    """Measures of moments that there are under a reference rule."""
    return "; ".join(m for m in OF_MOMENTS.split("; ") if rule != "pooled" or not m.startswith("dR"))


# ---- SetIoU


def covered(moments):
    """The quarters of a second that a set of moments covers."""
    return {quarter for start, end in moments for quarter in range(start, end)}


@given(sets, sets)
def test_set_iou_counts_the_points_of_both_unions(references, answered):
    # The formula, quarter by quarter: all ends lie on quarters.
    answer = answered or "no answer"
    value = evaluate(*build([(references, answer)]), "SetIoU", "default,empty=abstain").value("SetIoU")
    one, other = covered(references), covered(answered)
    expected = (
        Fraction(len(one & other), len(one | other)) if one | other else Fraction(not references and not answered)
    )
    assert value == pytest.approx(float(expected), rel=1e-15)


@given(sets, sets)
def test_set_iou_is_symmetric_and_bounded(one, other):
    there = evaluate(*build([(one, other or "no answer")]), "SetIoU", "sets").value("SetIoU")
    back = evaluate(*build([(other, one or "no answer")]), "SetIoU", "sets").value("SetIoU")
    assert there == back
    assert 0 <= there <= 1


@given(moments, moments, st.sampled_from(["hull", "union"]))
def test_set_iou_of_one_answer_and_one_reference_is_their_iou(reference, answer, denominator):
    scores = evaluate(*build([([reference], [answer])]), "SetIoU; mIoU", f"default,denominator={denominator}")
    assert scores.value("SetIoU") == scores.value("mIoU")


@given(sets.filter(len), st.lists(moments, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_set_iou_ignores_order_and_repeats(references, answer, random):
    again = [*answer, random.choice(answer)]
    random.shuffle(again)
    plain, other = (evaluate(*build([(references, a)]), "SetIoU").value("SetIoU") for a in (answer, again))
    assert other == plain


@given(st.lists(proper, min_size=1, max_size=5))
def test_the_references_as_answers_are_right(references):
    scores = evaluate(*build([(references, references)]), "SetIoU; F1,IoU=0.7", "default,comparison=>=")
    assert scores.value("SetIoU") == 1
    assert scores.value("F1,IoU=0.7") == 1


# ---- Without a moment


@given(worlds, RULES)
def test_leaving_them_out_is_dropping_them_first(world, rule):
    protocol = f"default,references={rule},missing=drop,unreadable=drop"
    annotations, predictions = build(world)
    with_them = evaluate(annotations, predictions, measures_under(rule), protocol)
    kept = np.array([bool(references) for references, _ in world])
    assert not with_them.weight[:, ~kept].any()
    assert not with_them.numerator[:, ~kept].any()
    if kept.any():
        without = evaluate(annotations.with_moments(), predictions, measures_under(rule), protocol, on_unknown="ignore")
        assert np.array_equal(with_them.numerator[:, kept], without.numerator)
        assert np.array_equal(with_them.weight[:, kept], without.weight)
        assert np.array_equal(with_them.on_threshold, without.on_threshold)


@given(worlds, RULES)
def test_a_query_with_a_moment_scores_as_ever(world, rule):
    # Whether the others are left out or judged changes nothing for it.
    pair = build(world)
    kept = np.array([bool(references) for references, _ in world])
    drop, abstain = (
        evaluate(*pair, measures_under(rule), f"default,references={rule},empty={empty}")
        for empty in ("drop", "abstain")
    )
    assert np.array_equal(drop.numerator[:, kept], abstain.numerator[:, kept])
    assert np.array_equal(drop.weight[:, kept], abstain.weight[:, kept])


@given(worlds, RULES)
def test_only_an_abstention_is_right_where_no_moment_is(world, rule):
    scores = evaluate(*build(world), f"{measures_under(rule)}; {PAIR}", f"sets,references={rule}")
    for q, (references, answer) in enumerate(world):
        if not references:
            assert set(scores.numerator[:-1, q]) == {float(answer == "no answer")}
            assert set(scores.weight[:-1, q]) == {1.0}
            assert (scores.numerator[-1, q], scores.weight[-1, q]) == (0, 0)
        else:
            assert scores.numerator[-1, q] == float(answer == "no answer")
            assert scores.weight[-2, q] == 0


@given(st.lists(sets, min_size=1, max_size=6), RULES)
def test_who_always_abstains_is_right_exactly_where_no_moment_is(references, rule):
    world = [(of_query, "no answer") for of_query in references]
    scores = evaluate(*build(world), f"{measures_under(rule)}; {PAIR}", f"sets,references={rule}")
    expected = [float(not of_query) for of_query in references]
    assert scores.numerator[:-2].tolist() == [expected] * (len(scores.measures) - 2)
    for measure in PAIR.split("; "):  # both are 1, or undefined where there is no such query
        assert scores.value(measure) == 1 or np.isnan(scores.value(measure))


@given(worlds, st.sampled_from(["worst", "drop"]), st.sampled_from(["drop", "abstain"]))
def test_unreadable_never_counts_as_an_abstention(world, unreadable, empty):
    protocol = f"sets,empty={empty},unreadable={unreadable}"
    scores = evaluate(*build(world), PAIR, protocol)
    for q, (_, answer) in enumerate(world):
        if answer in UNREADABLE_STATUSES:
            assert not scores.numerator[:, q].any()
            assert scores.weight[:, q].sum() == float(unreadable == "worst")


@given(worlds)
def test_f1_and_set_iou_stay_between_zero_and_one(world):
    for empty in ("drop", "abstain"):
        scores = evaluate(*build(world), "F1,IoU=0.3; F1,IoU=0; SetIoU", f"default,comparison=>=,empty={empty}")
        assert np.all((scores.numerator >= 0) & (scores.numerator <= scores.weight))


@pytest.mark.parametrize("empty", ["drop", "abstain"])
@pytest.mark.parametrize("rule", REFERENCE_RULES)
def test_block_size_changes_nothing(monkeypatch, rule, empty):
    rng = np.random.default_rng(3)

    def some(most):
        return [tuple(sorted(rng.integers(0, 60, 2).tolist())) for _ in range(int(rng.integers(0, most)))]

    statuses = [None, "no answer", "failed"]
    world = [(some(3), some(5) or statuses[int(rng.integers(0, 3))]) for _ in range(30)]
    assert any(not references for references, _ in world)
    pair, measures = build(world), f"{measures_under(rule)}; {PAIR}"
    protocol = f"default,references={rule},empty={empty}"
    whole = evaluate(*pair, measures, protocol)
    for block in (1, 7, 40):
        monkeypatch.setattr("truemoment.evaluation.evaluate.BLOCK_MOMENTS", block)
        pieces = evaluate(*pair, measures, protocol)
        assert pieces.numerator.tolist() == whole.numerator.tolist()
        assert pieces.weight.tolist() == whole.weight.tolist()
        assert pieces.on_threshold.tolist() == whole.on_threshold.tolist()
        assert pieces.touched == whole.touched
