"""The default engine: tokens, verbs and lemmas of sentences as they occur, and any text at all."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.data.language import LexiconEngine
from truemoment.data.language.lexicon import TOKEN
from truemoment.data.language.words import (
    CLOSED,
    COMPOUNDS,
    NEVER_VERBS,
    NO_ADJECTIVES,
    NOUNS_IN_ING,
    NOUNS_TOO,
    look_up,
)


def texts(sentence):
    return [token.text for token in LexiconEngine().analyse([sentence])[0]]


def verbs(sentence):
    return [token.lemma for token in LexiconEngine().analyse([sentence])[0] if token.tag == "VERB"]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("closes the door.", ["closes", "the", "door", "."]),
        ("it's a man, he doesn't sit", ["it", "'s", "a", "man", ",", "he", "does", "n't", "sit"]),
        ("he’s there", ["he", "’s", "there"]),
        ("a well-dressed man can't", ["a", "well-dressed", "man", "ca", "n't"]),
        ("the book.the person", ["the", "book", ".", "the", "person"]),
        ("\u00a0 He\u00a0runs \n", ["He", "runs"]),
        ('say "hello"!', ["say", '"', "hello", '"', "!"]),
        ("", []),
        (" \t", []),
    ],
)
def test_tokens(sentence, expected):
    assert texts(sentence) == expected


# Sentences written for this test; the verbs are read by eye.
@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("PERSON OPENS THE DOOR.", ["open"]),
        ("person they open the window", ["open"]),
        ("person a closes the box.", ["close"]),
        ("A person is cooking.the person laughs", ["cook", "laugh"]),
        ("person tidys up, then washs a cup", ["tidy", "wash"]),
        ("a woman is wearinf a hat and begings to sing", ["wear", "begin", "sing"]),
        ("he is texting while skurfing", ["text", "skurf"]),
        ("He was seen lying on a bench.", ["see", "lie"]),
        ("She lays a blanket down and lies on it.", ["lay", "lie"]),
        ("He has left the room and left the light on.", ["leave", "leave"]),
        ("The man on the left turns left.", ["turn"]),
        ("They do not have to go.", ["have", "go"]),
        ("She doesn't do her homework.", ["do"]),
        ("The cook cooks while two dogs watch.", ["cook", "watch"]),
        ("One of the men walks around.", ["walk"]),
        ("A man in red throws the ball to a man in red shoes.", ["throw"]),
        ("A man dressed in red holds a drink.", ["dress", "hold"]),
        ("The bumper cars are stopped.", ["stop"]),
        ("A woman shows how to paint a fence.", ["show", "paint"]),
        ("They help him stand up.", ["help", "stand"]),
        ("There are several people watching.", ["watch"]),
        ("a washing machine in the living room", []),
    ],
)
def test_verbs(sentence, expected):
    assert verbs(sentence) == expected


@pytest.mark.parametrize(
    ("sentence", "word", "tag", "lemma"),
    [
        ("He is there.", "is", "AUX", "be"),
        ("He can open a can.", "can", "AUX", "can"),
        ("He has opened it.", "has", "AUX", "have"),
        ("She sees two men.", "men", "NOUN", "man"),
        ("She sees two boxes.", "boxes", "NOUN", "box"),
        ("She sits on a small chair.", "small", "ADJ", "small"),
        ("She sits on a chair.", "on", "OTHER", "on"),
    ],
)
def test_other_tags(sentence, word, tag, lemma):
    token = next(token for token in LexiconEngine().analyse([sentence])[0] if token.text == word)
    assert (token.tag, token.lemma) == (tag, lemma)


WORDS = sorted(
    set().union(*CLOSED.values(), *COMPOUNDS.values())
    | NEVER_VERBS
    | NOUNS_TOO
    | NOUNS_IN_ING
    | {
        "open",
        "opens",
        "opening",
        "opened",
        "drinks",
        "drink",
        "cut",
        "put",
        "shot",
        "left",
        "red",
        "video",
        "dogs",
        "xyzing",
    }
)


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=3))
def test_every_order_of_words_is_read(sentences):
    # Any context with any form: a missing rule would raise KeyError.
    read = LexiconEngine().analyse(sentences)
    assert [[token.text for token in tokens] for tokens in read] == [TOKEN.findall(sentence) for sentence in sentences]


@given(st.text())
def test_any_text_keeps_all_but_blanks(sentence):
    tokens = LexiconEngine().analyse([sentence])[0]
    rest = sentence
    for token in tokens:
        skipped, _, rest = rest.partition(token.text)
        assert not skipped.strip()  # only blanks stand between tokens
    assert not rest.strip()


@given(st.lists(st.sampled_from(["A man sits.", "", "They run and", "x"]), max_size=6))
def test_sentences_do_not_affect_each_other(sentences):
    engine = LexiconEngine()
    assert engine.analyse(sentences) == [engine.analyse([sentence])[0] for sentence in sentences]


@pytest.mark.parametrize(
    "sentence", ["s" * 20_000, "a " * 20_000, "dogs and " * 5_000, "has not " * 5_000, "-" * 20_000]
)
def test_long_text_is_read(sentence):
    assert len(LexiconEngine().analyse([sentence])[0]) == len(TOKEN.findall(sentence))


def test_word_lists_correct_the_lexicon():
    # Each word stands there for a reason: without the list the lexicon would say otherwise.
    import lemminflect

    lemmas = {word: lemminflect.getAllLemmas(word) for word in NEVER_VERBS | NOUNS_TOO | NOUNS_IN_ING | NO_ADJECTIVES}
    assert {word for word in NEVER_VERBS if "VERB" not in lemmas[word]} == set()
    assert {word for word in NOUNS_TOO if lemmas[word].keys() & {"NOUN", "ADJ"}} == set()
    assert {word for word in NO_ADJECTIVES if "ADJ" not in lemmas[word]} == set()
    assert {word for word in NOUNS_IN_ING if look_up(word).form != "ing"} == set()


def test_import_is_light():
    code = "import sys, truemoment.data.language as t; t.get_engine(); print({*sys.modules} & {'lemminflect', 'spacy'})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
