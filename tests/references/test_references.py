"""Which reference counts: each rule, against hand calculation and slow loops."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from truemoment import Annotations
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.references import (
    REFERENCE_RULES,
    References,
    all_references,
    apply_rule,
    pad,
    representative,
)

nan = float("nan")


def table(*rows):
    """Lay rows of (start, end) pairs out as padded tables."""
    width = max(len(row) for row in rows)
    padded = np.array([[*row, *[(nan, nan)] * (width - len(row))] for row in rows], dtype=float)
    start, end = padded[:, :, 0], padded[:, :, 1]
    return References(start=start, end=end, query=np.arange(len(rows)), length_s=end - start)


BOTH = table([(0, 6), (4, 10), (20, 22)], [(1, 2)])


def listed(references):
    """Return the pairs of each row, gaps left out."""
    return [
        [(s, e) for s, e in zip(starts, ends, strict=True) if not np.isnan(s)]
        for starts, ends in zip(references.start.tolist(), references.end.tolist(), strict=True)
    ]


# By hand. Representative of the first row: mean IoUs are (2/10 + 0)/2, (2/10 + 0)/2, 0: the first on the tie.
@pytest.mark.parametrize(
    ("rule", "expected", "query"),
    [
        ("nearest", [[(0, 6), (4, 10), (20, 22)], [(1, 2)]], [0, 1]),
        ("pooled", [[(0, 6), (4, 10), (20, 22)], [(1, 2)]], [0, 1]),
        ("first", [[(0, 6)], [(1, 2)]], [0, 1]),
        ("representative", [[(0, 6)], [(1, 2)]], [0, 1]),
        ("merged", [[(0, 10), (20, 22)], [(1, 2)]], [0, 1]),
        ("rows", [[(0, 6)], [(4, 10)], [(20, 22)], [(1, 2)]], [0, 0, 0, 1]),
    ],
)
def test_rules_by_hand(rule, expected, query):
    chosen = apply_rule(rule, BOTH)
    assert listed(chosen) == expected
    assert chosen.query.tolist() == query
    assert chosen.rule == rule


def test_every_rule_is_tested_here():
    tested = next(mark for mark in test_rules_by_hand.pytestmark if mark.name == "parametrize").args[1]
    assert {case[0] for case in tested} == set(REFERENCE_RULES)


# By hand, mean IoU with the others.
@pytest.mark.parametrize(
    ("moments", "expected"),
    [
        ([(0, 10)], 0),  # alone
        ([(5, 5)], 0),  # alone and empty
        ([(0, 10), (20, 30), (0, 9)], 0),  # 0.45, 0, 0.45: the first of the tie
        ([(20, 30), (0, 9), (0, 10)], 1),  # the first of the tie, not the first of all
        ([(0, 4), (2, 8), (0, 8)], 2),  # (2/8 + 4/8)/2, (2/8 + 6/8)/2, (4/8 + 6/8)/2
        ([(0, 10), (0, 10), (5, 10)], 0),  # twins: 0.75, 0.75, 0.5
        ([(5, 5), (0, 10), (0, 9)], 1),  # an empty reference agrees with none, not even with itself
        ([(9, 2), (0, 10), (0, 9)], 1),  # nor does a swapped one
        ([(5, 5), (5, 5), (0, 10)], 0),  # nobody agrees with anybody: 0, 0, 0
    ],
)
def test_representative_by_hand(moments, expected):
    references = table(moments)
    assert representative(references.start, references.end).tolist() == [expected]


@pytest.mark.parametrize("n_references", [2, 3, 5])
def test_representative_against_a_slow_loop(slow, n_references):
    # A small grid makes exact ties common; rounding must not break one against the first reference.
    rng = np.random.default_rng(n_references)
    n_queries = 1500
    ends = rng.integers(0, 9, size=(2, n_queries, n_references))
    given = rng.integers(1, n_references + 1, size=n_queries)
    absent = np.arange(n_references) >= given[:, None]
    start, end = (np.where(absent, nan, column.astype(float)) for column in ends)
    expected = [
        slow.representative([(Fraction(int(s)), Fraction(int(e))) for s, e in ends[:, q, : given[q]].T])
        for q in range(n_queries)
    ]
    chosen = representative(start, end).tolist()
    wrong = [(q, chosen[q], expected[q]) for q in range(n_queries) if chosen[q] != expected[q]]
    assert not wrong, [(ends[:, q, : given[q]].T.tolist(), got, want) for q, got, want in wrong[:3]]


def test_pad():
    assert np.array_equal(
        pad(np.array([0, 2, 2, 3]), np.array([1.0, 2.0, 3.0])), [[1, 2], [nan, nan], [3, nan]], equal_nan=True
    )
    assert pad(np.array([0]), np.array([])).shape == (0, 1)


def test_rows_weigh_a_query_by_its_references(one_video):
    # By hand: query a has references (0, 10) and (20, 30), its answer hits the first; b has one, missed.
    annotations, predictions = one_video(
        {"a": [(0, 10), (20, 30)], "b": [(0, 10)]}, {"a": [(0.0, 9.0)], "b": [(30.0, 40.0)]}
    )
    scores = evaluate(annotations, predictions, "R@1,IoU=0.5[ref=rows]; mIoU[ref=rows]; mIoU")
    assert scores.weight.tolist() == [[2, 1], [2, 1], [1, 1]]
    assert scores.value("R@1,IoU=0.5[ref=rows]") == 1 / 3  # one of three reference rows
    assert scores.value("mIoU[ref=rows]") == pytest.approx(0.9 / 3, rel=1e-15)  # 0.9 + 0 + 0 over three rows
    assert scores.value("mIoU") == pytest.approx(0.9 / 2, rel=1e-15)  # nearest: 0.9 + 0 over two queries


def test_each_rule_gives_its_own_figure(one_video):
    # By hand, answer (0, 10) against (8, 10), (0, 5) and (4, 9):
    # nearest 5/10; first 2/10; representative (0, 5) and (4, 9) agree 1/9 each and (8, 10) with (4, 9) 1/6, so means
    # are (0 + 1/6)/2, (0 + 1/9)/2, (1/6 + 1/9)/2: the third, 5/10; merged (0, 10): 1; rows (0.2 + 0.5 + 0.5)/3;
    # pooled: overlaps 2 + 5 + 5 = 12, lengths 10 + 12 - 12, hence 12/10.
    annotations, predictions = one_video({"a": [(8, 10), (0, 5), (4, 9)]}, {"a": [(0.0, 10.0)]})
    measures = "; ".join(f"mIoU[ref={rule}]" for rule in REFERENCE_RULES)
    scores = evaluate(annotations, predictions, measures)
    figures = {rule: scores.value(f"mIoU[ref={rule}]") for rule in REFERENCE_RULES}
    expected = {"nearest": 0.5, "representative": 0.5, "first": 0.2, "merged": 1.0, "pooled": 1.2, "rows": 0.4}
    assert figures == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("rule", REFERENCE_RULES)
def test_without_a_moment_there_is_one_unit_of_judgement(rule):
    gone = References(
        start=np.array([[nan, nan], [0.0, 4.0], [nan, nan]]),
        end=np.array([[nan, nan], [6.0, 10.0], [nan, nan]]),
        query=np.arange(3),
    )
    chosen = apply_rule(rule, gone)
    assert chosen.query.tolist() == ([0, 1, 1, 2] if rule == "rows" else [0, 1, 2])
    without = np.isin(chosen.query, (0, 2))
    assert np.isnan(chosen.start[without]).all()
    assert np.isnan(chosen.end[without]).all()
    assert not np.isnan(chosen.start[~without, 0]).any()


def test_lengths_that_are_given_are_kept():
    annotations = Annotations.from_rows([("q", "v", 40.0, "s", 1.0, 2.0)])
    found = all_references(annotations, annotations.start_s, annotations.end_s, np.array([7.0]))
    assert found.lengths_s.tolist() == [[7.0]]
    assert all_references(annotations, annotations.start_s, annotations.end_s).lengths_s.tolist() == [[1.0]]
