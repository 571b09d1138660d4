"""METEOR beside NLTK's, beside the definition, and on sentences that are none."""

import json
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.data.language.meteor import align, count_chunks, meteor, score, split_words, stem

REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "meteor.json").read_text(encoding="utf-8"))["pairs"]
OTHER_STEMS = {"dying", "die", "flies", "fly", "dries"}
"""Words of the reference pairs whose stem NLTK's extensions change."""

WORDS = st.lists(st.sampled_from(["open", "opens", "opened", "door", "doors", "a", "the", "is", "as"]), max_size=9)


def test_nltk_gives_the_same():
    # tests/reference/make_meteor.py: 264 pairs. Two were made to differ by the stems of dying and flies.
    off = [(h, r) for h, r, value in REFERENCE if meteor(h.split(), r.split()) != pytest.approx(value, abs=1e-12)]
    assert off == [("the man is dying", "the men die"), ("a bird flies away", "the bird can fly away")]
    assert len(REFERENCE) == 264
    assert len({round(value, 6) for _, _, value in REFERENCE}) > 100


def test_what_differs_from_nltk_is_the_stems():
    # With the words that NLTK's extensions treat alike written alike, the two pairs score as NLTK's.
    values = {(h, r): value for h, r, value in REFERENCE}
    alike = ["the", "man", "is", "die"], ["the", "men", "die"]
    assert meteor(*alike) == pytest.approx(values["the man is dying", "the men die"], abs=1e-12)
    assert stem("dying") != stem("die")


@pytest.mark.parametrize(("n", "expected"), [(1, 0.5), (2, 0.9375), (3, 1 - 0.5 / 27), (4, 1 - 0.5 / 64)])
def test_equal_sentences_score_less_than_1(n, expected):
    words = ["a", "man", "opens", "doors"][:n]
    assert meteor(words, words) == pytest.approx(expected, abs=1e-15)
    assert (meteor(words, words) < 0.99) == (n <= 3)


def test_by_hand():
    # "the" - "the" and "dog" - "dog" are one chunk, "barks" - "barked" by their stem another: m 3, c 2, r 5, h 4.
    found = meteor(["the", "dog", "loudly", "barks"], ["yesterday", "barked", "the", "dog", "again"])
    assert found == pytest.approx((1 - 0.5 * (2 / 3) ** 3) * 3 / (0.9 * 5 + 0.1 * 4), abs=1e-15)


def test_equal_words_go_before_stems():
    # The last "open" could be aligned with "opens" by its stem, but "open" stands there as well.
    assert align(["open"], ["open", "opens"]) == [(0, 0)]
    assert align(["opens", "open"], ["open", "opened"]) == [(0, 1), (1, 0)]


@given(WORDS, WORDS)
def test_as_many_words_are_aligned_as_stems_are_shared(a, b):
    # What the pruning in bias/uniqueness.py rests on.
    pairs = align(a, b)
    shared = Counter(map(stem, a)) & Counter(map(stem, b))
    assert len(pairs) == shared.total()
    assert all(stem(a[i]) == stem(b[j]) for i, j in pairs)
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)
    equal = sum(a[i] == b[j] for i, j in pairs)
    assert equal == (Counter(a) & Counter(b)).total()  # no equal words are left for the stems


@given(WORDS, WORDS)
def test_the_other_way_round_the_alignment_is_the_same(a, b):
    there, back = align(a, b), align(b, a)
    assert sorted((j, i) for i, j in there) == back
    assert count_chunks(there) == count_chunks(back)


@given(WORDS, WORDS)
def test_bounds(a, b):
    value = meteor(a, b)
    assert 0 <= value < 1
    assert (value == 0) == (not set(map(stem, a)) & set(map(stem, b)))
    n_aligned = len(align(a, b))
    assert value <= score(n_aligned, 1, len(a), len(b))


def test_chunks_by_counting_runs():
    def slow(pairs):
        runs = []
        for i, j in pairs:
            if runs and runs[-1][-1] == (i - 1, j - 1):
                runs[-1].append((i, j))
            else:
                runs.append([(i, j)])
        return len(runs)

    for a, b in product(["a b c", "c b a", "a b a b", "b a", ""], repeat=2):
        pairs = align(a.split(), b.split())
        assert count_chunks(pairs) == slow(pairs)


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("", []),
        (" \t\n", []),
        ("🚪🚪", []),
        ("...?!", []),
        ("Person\x00 opens\x07 it", ["person", "opens", "it"]),
        ("Élan vital, 3 times", ["élan", "vital", "3", "times"]),
        ("she's DOESN’T", ["she", "'s", "does", "n’t"]),
    ],
)
def test_words_of_strange_sentences(sentence, words):
    assert split_words(sentence) == words
    assert meteor(words, words) < 1


def test_ten_thousand_words():
    long = ["door", "opens"] * 5000
    assert meteor(long, long) == pytest.approx(1, abs=1e-11)
    # Of equal lengths, the two directions are one.
    assert meteor(long, long[::-1]) == pytest.approx(meteor(long[::-1], long), abs=1e-15)


@pytest.mark.parametrize("word", ["a", "as", "is", "'s", "é", "ß", "word" * 1000, "sses", "ies"])
def test_stems(word):
    assert 0 < len(stem(word)) <= len(word) + 1
    if len(word) <= 2:
        assert stem(word) == word
