"""Tokens of sentences: no word is lost to its punctuation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.errors import UsageError
from truemoment.data.language.tokens import spans, tokenise


@pytest.mark.parametrize(
    ("sentence", "tokens"),
    [
        ("She opens the door.", ("she", "opens", "the", "door")),
        ("The person's coat", ("the", "person", "'s", "coat")),
        ("The person’s coat", ("the", "person", "'s", "coat")),
        ("it doesn't fall... ", ("it", "does", "n't", "fall")),
        ('"Hello," (he) says: T-shirt!', ("hello", "he", "says", "t-shirt")),
        ("a cup/glass of 2 liters", ("a", "cup", "glass", "of", "2", "liters")),
        ("Straße, İZMİR", ("straße", "i̇zmi̇r")),
        ("...", ()),
        ("", ()),
    ],
)
def test_words(sentence, tokens):
    assert tokenise(sentence) == tokens


@pytest.mark.parametrize(
    ("sentence", "tokens"),
    [
        ("She opens the door.", ("she", "opens", "the", "door.")),
        (" person's\tcoat\n", ("person's", "coat")),
        ("...", ("...",)),
        (" ", ()),
    ],
)
def test_blanks(sentence, tokens):
    # specs/tan2d.md, section 7: "sentences keep their full stop".
    assert tokenise(sentence, "blanks") == tokens
    assert tokenise(sentence, "blanks") == tuple(sentence.lower().split())


@pytest.mark.parametrize(
    ("sentence", "tokens"),
    [
        ("Person's cup falls, and breaks.", ("person's", "cup", "falls,", "and", "breaks")),
        ("it falls.\n", ("it", "falls")),
        ("it falls..", ("it", "falls.")),
        ("it falls .", ("it", "falls")),
        ("mr. t falls", ("mr.", "t", "falls")),
        (".", ()),
    ],
)
def test_blanks_without_the_stop_at_the_end(sentence, tokens):
    """2D-TAN's reader of Charades-STA (microsoft/VideoX at 9058921) cuts ".\\n", and then splits at white space."""
    assert tokenise(sentence, "blanks-no-stop") == tokens


@given(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(["words", "blanks", "blanks-no-stop"]))
def test_tokens_stand_in_the_sentence_in_order(sentence, how):
    found = spans(sentence, how)
    assert tokenise(sentence, how) == tuple(span.text for span in found)
    end = 0
    for span in found:
        assert end <= span.start < span.end
        text = sentence[span.start : span.end].lower()
        assert span.text == (text.translate(str.maketrans("’‘ʼ", "'''")) if how == "words" else text)
        assert not any(character.isspace() for character in sentence[span.start : span.end])
        end = span.end
    if any(character.isalpha() and character != "ʼ" for character in sentence):  # an apostrophe that is a letter
        assert found


@given(st.text("abc' .,-’"))
def test_words_keep_every_letter(sentence):
    letters = [character for character in sentence if character.isalpha()]
    assert [character for token in tokenise(sentence) for character in token if character.isalpha()] == letters


def test_another_way_is_refused():
    with pytest.raises(UsageError, match="'bpe', expected one of words, blanks, blanks-no-stop, sentence"):
        tokenise("a", "bpe")
