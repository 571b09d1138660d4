"""Rules that tell description from dialogue, one by one and combined; boundaries; names."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.errors import InputError
from truemoment.collection.names import find_names, large_words, read_cast, with_someone
from truemoment.collection.narration import (
    Candidate,
    Evidence,
    deciding,
    dropped_by,
    judge,
    narrator_of,
    refuse_without_evidence,
)
from truemoment.collection.sentencing import bounded, cuts_of
from truemoment.collection.spans import covered_s, merged, share_within
from truemoment.media.audio.alignment import Alignment, Piece, Side, Unmatched
from truemoment.media.speech.base import HeardWord
from truemoment.media.speech.subtitles import Cue

CUE = Cue(10.0, 12.0, "Did you see the red door?", "speech")


def sentence(start_s, text="A man opens a window.", voice=None):
    """Words of half a second, one after the other."""
    words = tuple(
        HeardWord(word, start_s + 0.5 * k, start_s + 0.5 * k + 0.5, voice=voice) for k, word in enumerate(text.split())
    )
    return Candidate(text, words)


def by_rule(candidate, **evidence):
    return {of.rule: (of.keep, of.value) for of in judge(candidate, Evidence(**evidence))}


def test_overlap_is_any_shared_time():
    assert by_rule(sentence(7.5), cues=[CUE])["overlap"] == (True, 0.0)
    assert by_rule(sentence(7.75), cues=[CUE])["overlap"] == (False, 0.25)
    assert by_rule(sentence(7.75), cues=[CUE], overlap_s=0.5)["overlap"] == (True, 0.25)
    assert by_rule(sentence(7.75))["overlap"] == (None, None)


def test_difference_is_the_share_in_narrator_runs():
    assert by_rule(sentence(0.0), runs=[(0.0, 1.25)])["difference"] == (True, 0.5)
    assert by_rule(sentence(0.0), runs=[(0.0, 1.2)])["difference"] == (False, pytest.approx(0.48))
    assert by_rule(sentence(0.0), runs=[])["difference"] == (False, 0.0)


def test_text_is_that_of_a_cue_nearby():
    said = sentence(13.0, "did you see the red door")
    assert by_rule(said, cues=[CUE])["text"] == (False, 100.0)
    assert by_rule(sentence(15.0, said.text), cues=[CUE])["text"][0] is True  # too far away
    assert by_rule(sentence(13.0), cues=[CUE])["text"][0] is True
    assert by_rule(sentence(13.0, "Door."), cues=[CUE])["text"][0] is True  # one word is in any text


def test_voice_speaker_and_place():
    assert by_rule(sentence(0.0), voice=[(0.0, 1.3)])["voice"] == (False, 0.52)
    assert by_rule(sentence(0.0, voice="B"), narrator="A")["speaker"] == (False, 0.0)
    assert by_rule(sentence(0.0, voice="A"), narrator="A")["speaker"] == (True, 1.0)
    assert by_rule(sentence(0.0), narrator="A")["speaker"] == (None, None)
    assert by_rule(sentence(0.0), runs=[(9.0, 10.0)])["nowhere"] == (False, 0.0)


def test_modes_use_the_first_rules_that_can_tell():
    full = Evidence(runs=[(13.0, 16.0)], cues=[CUE], voice=[])
    said = judge(sentence(13.0, "did you see the red door"), full)
    assert deciding(said, "both") == ("difference", "nowhere", "text")
    assert dropped_by(said, "both") == "text"
    assert dropped_by(said, "difference") is None
    assert dropped_by(said, "paper") is None
    without_runs = judge(sentence(11.0), Evidence(cues=[CUE]))
    assert deciding(without_runs, "both") == ("overlap", "text")
    assert dropped_by(without_runs, "both") == "overlap"
    assert deciding(judge(sentence(0.0), Evidence()), "both") == ()


def test_no_evidence_is_refused():
    with pytest.raises(
        InputError, match=r"--dialogue both needs an alignment to 20 ms, or subtitles; or give --keep-all"
    ):
        refuse_without_evidence(Evidence(), "both", keep_all=False)
    with pytest.raises(InputError, match="--dialogue paper needs subtitles"):
        refuse_without_evidence(Evidence(runs=[]), "paper", keep_all=False)
    refuse_without_evidence(Evidence(runs=[]), "both", keep_all=False)
    refuse_without_evidence(Evidence(), "both", keep_all=True)


def test_the_narrator_speaks_most_in_runs_or_outside_cues():
    words = [*sentence(0.0, voice="A").words, *sentence(10.0, voice="B").words]
    assert narrator_of(words, [(0.0, 1.0)], None) == "A"
    assert narrator_of(words, [(10.0, 13.0)], None) == "B"
    assert narrator_of(words, None, [CUE]) == "A"


def test_boundaries_are_those_of_runs_within_0_6_s():
    assert bounded([(1.0, 2.0)], [(0.5, 2.5)]) == [(0.5, 2.5)]
    assert bounded([(1.0, 2.0)], [(0.3, 2.7)]) == [(1.0, 2.0)]
    assert bounded([(1.0, 2.0)], None) == [(1.0, 2.0)]
    assert bounded([(1.0, 2.0), (2.4, 3.0)], [(0.9, 3.1)]) == [(0.9, 2.2), (2.2, 3.1)]


times = st.floats(0, 100).map(lambda x: round(x, 3))
spans = st.lists(st.tuples(times, times).map(sorted).map(tuple), max_size=12)


@given(spans, spans)
def test_boundaries_rise_and_keep_their_words(drawn, runs):
    words = [span for span in merged(drawn, 0.001) if span[1] > span[0]]
    found = bounded(words, [span for span in merged(runs, 0.01) if span[1] > span[0]])
    assert all(low < high for low, high in found)
    assert all(abs(a[0] - b[0]) <= 50 and a[0] < b[1] and b[0] < a[1] for a, b in zip(found, words, strict=True))


@given(spans, spans)
def test_merged_spans_are_disjoint_and_cover_the_same(drawn, others):
    found = merged(drawn)
    assert all(a[1] < b[0] for a, b in pairwise(found))
    assert all(any(low <= span[0] and span[1] <= high for low, high in found) for span in drawn)
    assert all(covered_s(span, found) == pytest.approx(span[1] - span[0]) for span in drawn)
    assert 0 <= share_within(drawn, merged(others)) <= 1 + 1e-9


def test_names_are_large_inside_sentences_and_never_small():
    sentences = [
        "Then Anna sits by Rose.",
        "And Anna takes a rose.",
        "He sees Anna in Paris.",
        "Later in Paris, Rose leaves.",
        "He goes to Paris with Rose.",
        "Bob waits.",
    ]
    assert [name.name for name in find_names(sentences)] == ["Anna"]
    assert [(name.name, name.in_cast) for name in find_names(sentences, ["Bob Hat"])] == [
        ("Anna", False),
        ("Bob", True),
    ]
    assert large_words(sentences) == {"Anna", "Paris"}


def test_runs_of_names_become_one_someone():
    names = {"Anna", "Bob", "Hat"}
    assert with_someone("Dr. Bob Hat meets Anna's dog and Anna.", names) == "SOMEONE meets SOMEONE's dog and SOMEONE."
    assert with_someone("A hat lies there.", names) == "A hat lies there."


def test_a_cast_list_with_an_empty_line_is_refused(tmp_path):
    path = tmp_path / "cast.txt"
    path.write_text("Anna Hat\n\nBob\n")
    with pytest.raises(InputError, match=r"cast\.txt:2: is empty, expected a name"):
        read_cast(path)


def test_a_track_that_begins_within_the_film_cuts_a_sentence_off():
    side = Side("film.mp4", "0" * 16, 0, 100.0)
    pieces = (Piece((0.0, 40.0), 1.0, 5.2, 0.0, (), (0.0, 0.3)), Piece((40.0, 79.5), 1.0, 20.2, 0.0, (), (0.3, 0.0)))
    found = Alignment(
        film=side, track=side, rate_candidate="1", pieces=pieces, unmatched=Unmatched(), paper=None, verdict="aligned"
    )
    # The start of the track, and both sides of the cut with its error; the track's end is that of the film within 1 s.
    assert cuts_of(found) == [pytest.approx(of) for of in ((5.1, 5.3), (44.9, 45.5), (59.9, 60.5))]
