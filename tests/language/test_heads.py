"""Heads of words: the chain, and a parser's heads brought to our words. A stand-in parses: spaCy is not installed."""

import sys
from types import SimpleNamespace

import pytest

from truemoment.base.errors import MissingPackageError, UsageError
from truemoment.data.language.heads import word_heads
from truemoment.data.language.tokens import places, tokenise


class Parsed(list):
    """A document of a sentence whose tokens are between blanks and depend on the positions given."""

    def __init__(self, tokens, heads, *, is_parsed=True):
        super().__init__(SimpleNamespace(text=text, i=at, is_space=text == " ") for at, text in enumerate(tokens))
        for token, head in zip(self, heads, strict=True):
            token.head = self[head]
        self.is_parsed = is_parsed

    def has_annotation(self, name):
        return self.is_parsed and name == "DEP"


@pytest.fixture
def spacy(monkeypatch):
    """Put a stand-in for the module in place, which returns these documents by sentence."""
    documents = {}
    model = SimpleNamespace(
        meta={"version": "1"}, has_pipe=lambda _: True, pipe=lambda sentences: [documents[of] for of in sentences]
    )
    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=lambda *_, **__: model, __version__="3"))
    return documents


def test_in_a_chain_each_word_depends_on_the_word_before():
    assert word_heads(["She opens, the door.", "", "Go"]) == [(-1, 0, 1, 2), (), (-1,)]
    assert word_heads(["It's on."], how="blanks") == [(-1, 0)]


def test_heads_of_a_parser_are_positions_of_our_words(spacy):
    """Written by hand: she <- opens <- door <- the; the comma and the blank are no words of ours."""
    sentence = "She opens,  the door."
    spacy[sentence] = Parsed(["She", "opens", ",", " ", "the", "door", "."], [1, 1, 1, 2, 5, 1, 1])
    assert tokenise(sentence) == ("she", "opens", "the", "door")
    assert word_heads([sentence], "spacy") == [(1, -1, 3, 1)]


def test_a_word_of_two_tokens_has_the_head_outside_of_it(spacy):
    """ "can't" is "ca" and "n't", which depend on "sit" and on each other."""
    spacy["She can't sit"] = Parsed(["She", "ca", "n't", "sit"], [3, 2, 3, 3])
    assert word_heads(["She can't sit"], "spacy:other", "blanks") == [(2, 2, -1)]


def test_a_word_that_depends_on_no_word_of_ours_has_no_head(spacy):
    spacy["- he"] = Parsed(["-", "he"], [0, 0])
    assert word_heads(["- he"], "spacy") == [(-1,)]


def test_a_model_without_a_parser_is_refused(spacy):
    spacy["he"] = Parsed(["he"], [0], is_parsed=False)
    with pytest.raises(UsageError, match=r"no parser.*text\.heads=chain"):
        word_heads(["he"], "spacy")


@pytest.mark.parametrize("source", ["", "lexicon", "spacy:", "Chain"])
def test_unknown_sources_are_refused(source):
    with pytest.raises(UsageError, match="expected one of chain, spacy, spacy:MODEL"):
        word_heads(["he"], source)


def test_without_spacy_its_heads_are_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingPackageError, match="spacy"):
        word_heads(["he"], "spacy")


def test_places_of_tokens_that_are_rewritten_are_unknown():
    assert list(places("a b", ["a", "x", "", "b"])) == [0, None, None, 1]
