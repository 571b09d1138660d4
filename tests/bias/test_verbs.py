"""Counts of verbs by split."""

from __future__ import annotations

import math

import pytest

from truemoment.base.errors import UsageError
from truemoment.studies.bias.vocabulary import verb_use

VERBS = {
    "train": [("open", "sit"), ("open",), (), ("sit", "sit", "run")],
    "test": [("close",), ("open", "close")],
}


def test_counts_and_the_most_frequent_over_all_splits():
    # open 2 + 1, sit 3 + 0, close 0 + 2, run 1: nine in all; open comes before sit.
    use = verb_use(VERBS, n=3)
    assert {split: dict(counts) for split, counts in use.counts.items()} == {
        "train": {"open": 2, "sit": 3, "run": 1},
        "test": {"close": 2, "open": 1},
    }
    assert use.top == ("open", "sit", "close")
    assert use.coverage == pytest.approx(8 / 9)


def test_verbs_per_sentence():
    use = verb_use(VERBS)
    assert use.per_sentence.tolist() == [1, 2, 2, 1]
    assert use.n_sentences == 6
    assert use.mean_per_sentence == pytest.approx(9 / 6)


def test_nothing_is_undefined_and_no_error():
    for nothing in ({}, {"train": []}, {"train": [()]}):
        use = verb_use(nothing)
        assert (use.top, math.isnan(use.coverage)) == ((), True)
        assert use.mean_per_sentence == 0 if nothing.get("train") else math.isnan(use.mean_per_sentence)


def test_wrong_usage_is_named():
    with pytest.raises(UsageError, match="0 most frequent verbs"):
        verb_use(VERBS, n=0)
