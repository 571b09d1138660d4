"""Subtitles against the voices of a film: as they are, late, and of another speed."""

import numpy as np
import pytest

from truemoment.collection.subtitle_fit import fit_subtitles, fitted
from truemoment.media.speech.subtitles import Cue, Subtitles


@pytest.fixture(scope="module")
def voice():
    rng = np.random.default_rng(0)
    edges = np.cumsum(rng.uniform(0.8, 6.0, 400))
    return [(float(a), float(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def subtitles(voice, rate=1.0, delay_s=0.0):
    """Cues that begin 0.1 s early and end 0.4 s late, at another time: film_s = rate x cue_s + delay_s."""
    cues = [Cue((a - 0.1 - delay_s) / rate, (b + 0.4 - delay_s) / rate, "Words.", "speech") for a, b in voice]
    return Subtitles(tuple(cues))


@pytest.mark.parametrize(("rate", "delay_s"), [(1.0, 0.0), (1.0, 7.4), (1.0, -30.0), (25 / 24, 0.0), (24 / 25, 3.0)])
def test_where_they_fit_is_found(voice, rate, delay_s):
    length_s = voice[-1][1] + 60
    fit = fit_subtitles(subtitles(voice, rate, delay_s), voice, length_s)
    assert fit.rate == pytest.approx(rate, abs=2e-3)  # 25/24 and 25/23.976 are 0.1 % apart
    assert fit.delay_s == pytest.approx(delay_s, abs=0.6)
    assert fit.is_elsewhere == (rate != 1 or delay_s != 0)


def test_others_are_doubted_or_moved(voice):
    length_s = voice[-1][1]
    right, late = subtitles(voice), subtitles(voice, delay_s=7.4)
    assert fitted(right, voice, length_s, move=False) == right
    (doubt,) = fitted(late, voice, length_s, move=False).doubts
    assert "at a delay of 7." in doubt
    found = fitted(late, voice, length_s, move=True)
    assert found.doubts == ()
    assert found.cues[5].start_s == pytest.approx(right.cues[5].start_s, abs=0.3)
    (note,) = fitted(late, None, length_s, move=True).notes
    assert note.startswith("they were not compared with the voices of the film")


def test_those_of_another_film_are_doubted_unless_no_voices_were_found(voice):
    others = np.cumsum(np.random.default_rng(1).uniform(0.8, 6.0, 400))
    other = subtitles([(float(a), float(b)) for a, b in zip(others[::2], others[1::2], strict=True)])
    length_s = voice[-1][1]
    (doubt,) = fitted(other, voice, length_s, move=True).doubts
    assert doubt.endswith("at any delay: are they of another film?")
    assert fitted(other, voice[:2], length_s, move=False) == other
