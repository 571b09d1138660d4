"""Sentences from words: punctuation, pauses, fragments, lengths; and text that an engine invents."""

from hypothesis import given
from hypothesis import strategies as st

from truemoment.media.speech.base import HeardWord
from truemoment.media.speech.invented import without_repeats
from truemoment.media.speech.punctuation import written
from truemoment.media.speech.sentences import LONGEST_S, MOST_WORDS, count_finite_verbs, sentences_of


def spoken(text, start_s=0.0, length_s=0.3, gap_s=0.1, **about):
    """Words one after the other; a bar is a pause of a second."""
    words, at = [], start_s
    for part in text.split():
        if part == "|":
            at += 1.0
        else:
            words.append(HeardWord(part, at, at + length_s, **about))
            at += length_s + gap_s
    return words


def texts(words, **options):
    return [" ".join(word.text for word in piece) for piece in sentences_of(words, **options)]


def test_sentences_end_at_punctuation_and_pauses():
    assert texts(spoken("Mr. Hat sits. She waits.")) == ["Mr. Hat sits.", "She waits."]
    assert texts(spoken("J. R. Hat has 3. of them.")) == ["J. R. Hat has 3. of them."]
    assert texts(spoken("the door | opens wide now")) == ["the door", "opens wide now"]
    assert texts(spoken("the door | opens wide"), pause_s=2.0) == ["the door opens wide"]


def test_a_fragment_joins_the_sentence_before_it():
    assert texts(spoken("A man waits. In silence.")) == ["A man waits. In silence."]
    assert texts(spoken("A man waits. He sits.")) == ["A man waits.", "He sits."]  # it has a verb
    assert texts(spoken("A man waits. | In silence.")) == ["A man waits.", "In silence."]  # it is far


def test_one_word_before_its_sentence_joins_it():
    """Whisper gives the first word of a segment the time at which the segment begins."""
    assert texts(spoken("A | man opens the door.")) == ["A man opens the door."]
    assert texts(spoken("The door shuts. | And | | he waits.")) == ["The door shuts.", "And he waits."]
    assert texts(spoken("Night. | A man waits.")) == ["Night.", "A man waits."]
    assert texts(spoken("A | | | | | man waits.")) == ["A", "man waits."]  # of another place
    assert texts([*spoken("a", voice="A"), *spoken("no come in now", start_s=1.3, voice="B")])[0] == "a"


def test_speakers_part_sentences():
    words = [*spoken("a man waits", voice="A"), *spoken("no come in now", start_s=1.3, voice="B")]
    assert texts(words) == ["a man waits", "no come in now"]


@given(st.lists(st.tuples(st.sampled_from(["a.", "door", "opens"]), st.floats(0, 3)), min_size=1, max_size=300))
def test_no_word_is_lost_and_no_sentence_is_too_long(drawn):
    words, at = [], 0.0
    for text, gap in drawn:
        words.append(HeardWord(text, at, at + 0.4))
        at += 0.4 + gap
    pieces = sentences_of(words, pause_s=5.0)
    assert [word for piece in pieces for word in piece] == words
    assert all(len(piece) <= MOST_WORDS for piece in pieces)
    assert all(len(piece) == 1 or piece[-1].end_s - piece[0].start_s <= LONGEST_S for piece in pieces)


def test_finite_verbs():
    sentences = ["He opens the door and walks in.", "A man has opened it.", "He wants to go walking.", "A red door."]
    assert count_finite_verbs(sentences) == [2, 1, 1, 0]


def test_bare_words_are_written_as_a_sentence():
    assert written(["he", "meets", "anna", "in", "paris"], {"Anna", "Paris"}) == "He meets Anna in Paris."
    assert written(["who", "is", "it?"]) == "Who is it?"


def test_repeats_are_dropped():
    loop = spoken("thank you so much for watching") * 4
    kept, dropped = without_repeats([*spoken("a man waits"), *loop, *spoken("he sits down")])
    assert [word.text for word in kept] == ["a", "man", "waits", "he", "sits", "down"]
    assert dropped == 24
