"""The simulated described film: its script, its voices, its damage and its files."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truemoment.media.audio.tone_words import N_VOICES, VOCABULARY, digits_of, frequencies_hz, word_of
from truemoment.worlds.described.damage import Damage, damage_track
from truemoment.worlds.described.dialogue import draw_sentence
from truemoment.worlds.described.film import DescribedSettings, make_described, read_truth
from truemoment.worlds.described.script import write_script
from truemoment.worlds.described.voices import Tones

RATE_HZ = 16_000
SETTINGS = DescribedSettings(fps=1, damage=Damage(codec="mp3"))


def test_a_word_and_its_digits_there_and_back():
    for word in VOCABULARY:
        for written in (word, f"{word}."):
            assert word_of(digits_of(written)) == written
    assert len({word.lower() for word in VOCABULARY}) == len(VOCABULARY) <= 8**4 // 2


def test_frequencies_of_voices_are_apart():
    hz = np.sort(np.concatenate([frequencies_hz(voice) for voice in range(N_VOICES)]))
    assert np.diff(hz).min() >= 40  # the main lobe of a Hann window of 50 ms: 2 / 0.05 Hz either side


def test_script_has_no_sentence_twice_and_no_overlap():
    script = write_script(np.random.default_rng(2), 3, Tones())
    texts = [line.text for line in script.lines]
    assert len(set(texts)) == len(texts)
    assert all(before.end_s <= after.start_s for before, after in pairwise(script.lines))
    assert {line.kind for line in script.lines} >= {"description", "dialogue"}
    assert all((line.voice == 0) == (line.kind == "description") for line in script.lines)


def test_dialogue_shares_only_function_words_with_descriptions():
    script = write_script(np.random.default_rng(2), 4, Tones())
    described = {word for line in script.lines if line.kind == "description" for word in line.text.lower().split()}
    spoken = {word for seed in range(1000) for word in draw_sentence(np.random.default_rng(seed)).lower().split()}
    shared = {word.strip(".") for word in described} & {word.strip(".") for word in spoken}
    assert shared <= {"a", "the", "of", "on", "in", "at", "from"}


@given(
    rate=st.sampled_from([1.0, 1.001, 25 / 24]),
    offset_s=st.floats(-5, 5),
    cut=st.tuples(st.floats(3, 15), st.floats(1, 5)),
    put=st.tuples(st.floats(22, 30), st.floats(1, 5)),
)
@settings(max_examples=15)
def test_pieces_say_where_the_film_is(rate, offset_s, cut, put):
    # A sweep whose value is its own film time shows where each sample comes from.
    film = (np.arange(40 * RATE_HZ) / RATE_HZ / 100).astype(np.float32)
    damage = Damage(rate=rate, offset_s=offset_s, cuts=(cut,), insertions=(put,))
    made = damage_track(np.random.default_rng(0), film, damage, RATE_HZ)
    assert len(made.pieces) >= 2
    for piece in made.pieces:
        low, high = (round(edge * RATE_HZ) for edge in piece.track_s)
        inside = np.arange(low + 50, high - 50)
        shown = 100 * made.samples[inside]
        assert np.abs(shown - (piece.rate * inside / RATE_HZ + piece.delay_s)).max() < 2 / RATE_HZ + 2e-4


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A film of a minute with few pictures."""
    return make_described(tmp_path_factory.mktemp("made") / "a", 1, 4, SETTINGS)


def test_files_and_truth_there_and_back(made):
    read = read_truth(made.film.parent)
    assert (read.lines, read.pieces, read.duration_s) == (made.lines, made.pieces, made.duration_s)
    assert made.track.name == "described.mp3"
    cues = re.findall(r"(\d+):(\d+):(\d+),(\d+) -->", made.subtitles.read_text())
    assert len(cues) >= sum(line.kind != "description" for line in made.lines)


def test_the_same_seed_is_the_same_film(made, tmp_path):
    again = make_described(tmp_path / "a", 1, 4, SETTINGS)
    assert made.lines == again.lines
    for name in ("film.mp4", "film.srt", "truth.jsonl", "truth.json"):
        assert (made.film.parent / name).read_bytes() == (tmp_path / "a" / name).read_bytes(), name


def test_espeak_says_every_word():
    pytest.importorskip("espeakng_loader", reason="voices of espeak-ng are the extra speech-test")
    from truemoment.worlds.described.espeak import Espeak

    said = Espeak().say("A red cross rests on the right of a star.", 0, RATE_HZ)
    starts = [word.start_s for word in said.words]
    assert " ".join(word.text for word in said.words) == "A red cross rests on the right of a star."
    assert starts == sorted(starts)
    assert 1.5 < len(said.samples) / RATE_HZ < 6  # ten words at 165 a minute: 3.6 s
    assert np.sqrt(np.mean(said.samples**2)) == pytest.approx(1, abs=1e-3)
