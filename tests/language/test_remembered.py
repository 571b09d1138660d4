"""An engine that remembers: what comes out is the engine's, what goes in is new."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.data.language import Engine, Remembered, Token, get_engine


class Counting:
    """Reads words as nouns and notes what it was given."""

    name = "counting"

    def __init__(self):
        self.given = []

    def analyse(self, sentences):
        self.given.append(list(sentences))
        return [[Token(word, word.lower(), "NOUN") for word in sentence.split()] for sentence in sentences]


@given(st.lists(st.lists(st.sampled_from(["", "a door", "A door", " a door", "🚪 opens", "\x00"]))))
def test_the_same_comes_out_and_each_distinct_sentence_goes_in_once(batches):
    inner = Counting()
    engine = Remembered(inner)
    for batch in batches:
        assert engine.analyse(batch) == Counting().analyse(batch)
    read = [sentence for given_once in inner.given for sentence in given_once]
    distinct = {sentence for batch in batches for sentence in batch}
    assert sorted(read) == sorted(distinct)
    assert len(engine) == len(distinct)
    assert all(inner.given)  # and nothing at all is not asked for


def test_it_is_an_engine_of_the_same_name():
    engine = Remembered(get_engine())
    assert isinstance(engine, Engine)
    assert engine.name == get_engine().name


def test_what_a_caller_does_to_a_reading_is_not_remembered():
    engine = Remembered(Counting())
    engine.analyse(["a door"])[0].clear()
    first, second = engine.analyse(["a door", "a door"])
    assert first == second == [Token("a", "a", "NOUN"), Token("door", "door", "NOUN")]
    assert first is not second


def test_a_reading_that_fails_leaves_nothing_behind():
    class Failing(Counting):
        def analyse(self, sentences):
            if len(self.given) == 0:
                self.given.append([])
                raise KeyboardInterrupt
            return super().analyse(sentences)

    engine = Remembered(Failing())
    with pytest.raises(KeyboardInterrupt):
        engine.analyse(["a door"])
    assert len(engine) == 0
    assert len(engine.analyse(["a door"])[0]) == 2
