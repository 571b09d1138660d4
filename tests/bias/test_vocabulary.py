"""Vocabularies against plain counting, the long tail and the overlap against their definitions."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.data.language import Token, get_engine
from truemoment.studies.bias.vocabulary import is_word, long_tail, overlap, vocabulary

TOKENS = st.builds(
    Token,
    st.sampled_from(["Open", "open", "opens", "door", "Door", ".", "🚪", "3"]),
    st.sampled_from(["open", "door", "3"]),
    st.sampled_from(["VERB", "NOUN", "ADJ", "AUX", "OTHER"]),
)
READINGS = st.lists(st.lists(TOKENS, max_size=8), max_size=8)
SPELT = {"form": lambda t: t.text.lower(), "written": lambda t: t.text, "lemma": lambda t: t.lemma}


@given(READINGS, st.sampled_from(sorted(SPELT)))
def test_counts_by_the_definition(readings, spelling):
    words = vocabulary(readings).spelt(spelling)
    kept = [token for tokens in readings for token in tokens if token.text not in (".", "🚪")]
    assert words.counts == Counter(map(SPELT[spelling], kept))
    assert words.n_occurrences == len(kept)
    for word, tag in words.tag_of.items():
        of = Counter(token.tag for token in kept if SPELT[spelling](token) == word)
        assert of[tag] == max(of.values())


@given(READINGS, st.sampled_from(sorted(SPELT)))
def test_parts_of_speech_add_up(readings, spelling):
    sizes = vocabulary(readings).spelt(spelling).sizes
    assert sum(sizes[:4]) == sizes.total == vocabulary(readings).spelt(spelling).n_words


@given(READINGS, st.randoms(use_true_random=False))
def test_the_order_of_sentences_does_not_matter(readings, random):
    shuffled = random.sample(readings, len(readings))
    a, b = vocabulary(readings), vocabulary(shuffled)
    assert list(a.counts.items()) == list(b.counts.items())
    assert a.tag_of == b.tag_of
    assert a.sizes == b.sizes


@given(READINGS)
def test_coarser_spellings_have_no_more_words(readings):
    words = vocabulary(readings)
    assert words.n_words <= words.spelt("written").n_words
    assert words.spelt("written").n_occurrences == words.n_occurrences == words.spelt("lemma").n_occurrences


def test_a_tie_of_tags():
    # Once a verb and once a noun: a verb, whichever comes first.
    noun, verb = Token("cook", "cook", "NOUN"), Token("cook", "cook", "VERB")
    for tokens in ([noun, verb], [verb, noun]):
        assert vocabulary([tokens]).tag_of == {"cook": "VERB"}


@pytest.mark.parametrize(("text", "expected"), [("door", True), ("é", True), ("'s", True), ("5", True), ("'", False)])
def test_is_word(text, expected):
    assert is_word(Token(text, text, "OTHER")) == expected


@pytest.mark.parametrize("sentence", ["", "\x00\x07", "🚪 …", "door " * 10_000, "x" * 100_000])
def test_hostile_sentences(sentence):
    words = vocabulary(get_engine().analyse([sentence]))
    assert words.n_words == (1 if sentence[:1] in ("d", "x") else 0)
    assert words.n_occurrences == {"d": 10_000, "x": 1}.get(sentence[:1], 0)


class TestLongTail:
    """By hand: 60, 50, 49 and 1 occurrences."""

    @pytest.fixture
    def words(self):
        return vocabulary([[Token(word, word, "NOUN")] * n for word, n in [("b", 50), ("d", 1), ("a", 60), ("c", 49)]])

    def test_by_hand(self, words):
        tail = long_tail(words, at_least=(50, 60, 61), top=(1, 3, 100))
        assert tail.at_least == {50: 2, 60: 1, 61: 0}
        assert tail.share_below == {50: 0.5, 60: 0.75, 61: 1.0}
        assert tail.covered_by_top == {1: 60 / 160, 3: 159 / 160, 100: 1.0}
        assert (tail.n_words, tail.n_occurrences, tail.n_once) == (4, 160, 1)
        assert (tail.rank.tolist(), tail.count.tolist()) == ([1, 2, 3, 4], [60, 50, 49, 1])

    def test_nothing(self):
        tail = long_tail(vocabulary([]))
        assert tail.at_least == {50: 0, 1000: 0}
        assert np.isnan([*tail.share_below.values(), *tail.covered_by_top.values()]).all()
        assert len(tail.rank) == len(tail.count) == 0

    @given(st.lists(st.integers(1, 30), min_size=1, max_size=400), st.integers(1, 300))
    def test_the_curve_is_thinned_and_keeps_its_ends(self, counts, n_ranks):
        words = vocabulary([[Token(f"w{i}", "w", "NOUN")] * n for i, n in enumerate(counts)])
        tail = long_tail(words, n_ranks=n_ranks)
        falling = sorted(counts, reverse=True)
        assert len(tail.rank) <= max(n_ranks, 1)
        assert tail.rank[0] == 1
        assert n_ranks == 1 or tail.rank[-1] == len(counts)
        assert (np.diff(tail.rank) > 0).all()
        assert tail.count.tolist() == [falling[rank - 1] for rank in tail.rank]


@given(READINGS, READINGS)
def test_overlap_by_the_definition(train, test):
    a, b = vocabulary(train), vocabulary(test)
    found = overlap(a, b)
    in_train, in_test = set(a.counts), set(b.counts)
    assert found.n_shared == len(in_train & in_test)
    for part, of, other in [(found.not_in_train, b, in_train), (found.not_in_test, a, in_test)]:
        lacking = [word for word in of.counts if word not in other]
        assert part.n_words == len(lacking) == of.n_words - found.n_shared
        assert set(part.frequent) <= set(lacking)
        if of.n_words:
            n = sum(of.counts[word] for word in lacking)
            assert part.share_of_occurrences == float(Fraction(n, of.n_occurrences))
            assert 0 <= part.share_of_vocabulary <= 1
        else:
            assert np.isnan(part.share_of_occurrences)


def test_a_dataset_with_itself_shares_all():
    words = vocabulary(get_engine().analyse(["A man opens the door."]))
    found = overlap(words, words)
    assert (found.n_shared, found.share_of_test) == (5, 1.0)
    assert found.not_in_train == found.not_in_test == (0, 0.0, 0.0, ())
