"""Words of a sentence that a model does not know."""

import pytest

from truemoment.searching.unknown_words import LONGEST, UnknownWords, unknown_words


class Knows:
    """A model with a vocabulary."""

    name = "shapes"
    vocabulary = frozenset({"a", "red", "circle"})


class KnowsAll:
    """A model of the hub: its tokenizer splits any word."""

    name = "clip"
    vocabulary = None


@pytest.mark.parametrize(
    ("sentence", "words", "every", "line"),
    [
        ("a red circle", (), False, ""),
        ("A Red, circle!", (), False, ""),
        ("a tall red fir", ("tall", "fir"), False, 'the model shapes does not know "tall" and "fir"'),
        ("zzz", ("zzz",), True, 'no word of "zzz" is known to the model shapes'),
        ("zzz zzz", ("zzz",), True, 'no word of "zzz zzz" is known to the model shapes'),
        ("!!!", (), True, 'no word of "!!!" is known to the model shapes'),
        ("赤い円", ("赤い円",), True, 'no word of "赤い円" is known to the model shapes'),
    ],
)
def test_words_that_are_not_known(sentence, words, every, line):
    found = unknown_words(Knows(), sentence)
    assert (found.words, found.every, found.line(sentence)) == (words, every, line)


def test_nothing_is_said_of_a_model_without_a_vocabulary():
    assert unknown_words(KnowsAll(), "zzz") == UnknownWords()
    assert unknown_words(object(), "zzz") == UnknownWords()
    assert UnknownWords().line("zzz") == ""


def test_a_line_stays_short():
    sentence = " ".join(f"word{number}" for number in range(200)) + " red"
    assert unknown_words(Knows(), sentence).line(sentence).endswith('"word5" and 194 other words')
    none = "z" * 2000
    assert len(unknown_words(Knows(), none).line(none)) < LONGEST + 60
