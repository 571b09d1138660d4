"""CorrectAbstention and FalseAbstention: who abstains where."""

from __future__ import annotations

import math

import numpy as np
import pytest

from truemoment import Annotations, Predictions
from truemoment.base.errors import ProtocolError
from truemoment.evaluation.evaluate import evaluate

nan = float("nan")
PAIR = "CorrectAbstention; FalseAbstention"


def annotated(without="", having=""):
    """A query a letter, of one video: some without a moment, some with (0, 10)."""
    rows = [(q, "v", 40.0, f"s {q}", nan, nan) for q in without] + [(q, "v", 40.0, f"s {q}", 0, 10) for q in having]
    return Annotations.from_rows(rows)


def answered(**status):
    """An answer a query: ``parsed`` is (0, 10), any other status an empty list."""
    lengths = [status[q] == "parsed" for q in status]
    n = sum(lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return Predictions(
        list(status), offsets, np.zeros(n), np.full(n, 10.0), np.zeros(n), status=np.array([*status.values()], object)
    )


def test_by_hand():
    # Without a moment: of a, b, c one is abstained from. With one: of d, e, f, g three are.
    annotations = annotated("abc", "defg")
    predictions = Predictions.from_lists(
        {"a": [], "b": [(0, 10)], "c": [(3, 3)], "d": [], "e": [], "f": [], "g": [(0, 10)]}
    )
    scores = evaluate(annotations, predictions, PAIR)
    assert scores.value("CorrectAbstention") == pytest.approx(1 / 3, rel=1e-15)  # an empty moment is an answer
    assert scores.value("FalseAbstention") == 3 / 4
    assert scores.weight.tolist() == [[1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1]]
    assert [figure.n_queries for figure in scores.measured()] == [3, 4]
    assert scores.touched == {}  # nothing is missing, and abstaining is what is measured


@pytest.mark.parametrize("status", ["refused", "ambiguous", "failed"])
def test_what_could_not_be_read_is_no_abstention(status):
    annotations = annotated("ab", "cd")
    predictions = answered(a=status, b="no answer", c=status, d="parsed")
    scores = evaluate(annotations, predictions, PAIR)
    assert scores.numerator.tolist() == [[0, 1, 0, 0], [0, 0, 0, 0]]
    assert scores.weight.tolist() == [[1, 1, 0, 0], [0, 0, 1, 1]]
    assert scores.touched == {"no answer that could be read (worst value)": 2}
    dropped = evaluate(annotations, predictions, PAIR, "default,unreadable=drop")
    assert dropped.weight.tolist() == [[0, 1, 0, 0], [0, 0, 0, 1]]
    assert dropped.touched == {"no answer that could be read (left out)": 2}
    with pytest.raises(ProtocolError, match="with an answer that could not be read for 2 of 4 queries"):
        evaluate(annotations, predictions, PAIR, "default,unreadable=refuse")


def test_a_missing_row_is_no_abstention():
    annotations, predictions = annotated("ab", "cd"), Predictions.from_lists({"a": [], "c": []})
    scores = evaluate(annotations, predictions, PAIR)
    assert scores.numerator.tolist() == [[1, 0, 0, 0], [0, 0, 1, 0]]
    assert scores.touched == {"no answer (worst value)": 2}
    dropped = evaluate(annotations, predictions, PAIR, "default,missing=drop")
    assert dropped.weight.tolist() == [[1, 0, 0, 0], [0, 0, 1, 0]]  # false abstentions are not dropped: they count
    with pytest.raises(ProtocolError, match="without an answer for 2 of 4 queries"):
        evaluate(annotations, predictions, PAIR, "default,missing=refuse")


def test_undefined_where_no_query_is_of_the_kind():
    having = evaluate(annotated(having="ab"), Predictions.from_lists({"a": [], "b": []}), PAIR)
    assert math.isnan(having.value("CorrectAbstention"))
    assert having.value("FalseAbstention") == 1
    assert having.measured()[0].why == "no query that counts is without a reference moment"
    without = evaluate(annotated("ab"), Predictions.from_lists({"a": [], "b": []}), PAIR)
    assert without.value("CorrectAbstention") == 1
    assert without.measured()[1].value is None
    assert without.measured()[1].why == "no query has a reference that counts"


@pytest.mark.parametrize("empty", ["drop", "abstain"])
def test_the_protocols_rule_for_the_other_measures_is_of_no_matter(empty):
    annotations, predictions = annotated("ab", "cd"), Predictions.from_lists({q: [] for q in "abcd"})
    assert evaluate(annotations, predictions, PAIR, f"default,empty={empty}").numerator.sum() == 4
