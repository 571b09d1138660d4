"""Bags of words and pairs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from truemoment.data.language.bags import bags_of, frequent_terms, terms_of
from truemoment.data.language.tokens import tokenise


def read(sentences):
    """The terms of each sentence."""
    return [terms_of(sentence) for sentence in sentences]


SENTENCES = st.lists(st.text("ab ,.'", max_size=12), max_size=6)


@given(SENTENCES)
def test_bags_hold_the_terms_of_their_sentences(sentences):
    # The definition once more, sentence by sentence: words, and words beside each other, the first beside "".
    terms = frequent_terms(read(sentences), 1)
    bags = bags_of(read(sentences), terms)
    assert len(bags) == len(sentences)
    for q, sentence in enumerate(sentences):
        words = ["", *tokenise(sentence)]
        expected = set(words[1:]) | {f"{a} {b}" for a, b in pairwise(words)}
        found = [terms[t] for t in bags.terms[bags.offsets[q] : bags.offsets[q + 1]]]
        assert set(found) == expected == terms_of(sentence)
        assert len(found) == len(expected)


@given(SENTENCES, st.integers(1, 3))
def test_rare_and_unknown_terms_are_left_out(sentences, fewest):
    terms = frequent_terms(read(sentences), fewest)
    counts = [sum(term in terms_of(sentence) for sentence in sentences) for term in terms]
    assert all(count >= fewest for count in counts)
    assert list(terms) == sorted(terms)
    assert len(bags_of(read(["zebra crossing"]), terms).terms) == 0


@given(SENTENCES, st.randoms())
def test_selecting_bags_is_selecting_sentences(sentences, random):
    terms = frequent_terms(read(sentences), 1)
    rows = [random.randrange(len(sentences)) for _ in sentences]
    selected = bags_of(read(sentences), terms).select(np.array(rows, dtype=np.int64))
    again = bags_of(read([sentences[row] for row in rows]), terms)
    assert selected.terms.tolist() == again.terms.tolist()
    assert selected.offsets.tolist() == again.offsets.tolist()


def test_common_terms_can_be_left_out():
    # "a" stands in 3 of 4 sentences, which is more than half of them.
    assert frequent_terms(read(["a b", "a c", "a d", "b"]), 2, 0.5) == ("b",)
