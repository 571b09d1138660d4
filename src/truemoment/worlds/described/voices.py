"""Voices of a simulated film: tones that a small recogniser hears, or espeak-ng for real recognisers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.media.audio.reading import Samples
from truemoment.media.audio.tone_words import REST_S, TONE_S, WORD_S, digits_of, frequencies_hz

NARRATOR = 0
"""The narrator's voice; actors have the others."""

WORD_GAP_S = 0.03
"""Silence between two words of tones, besides the rest behind each tone."""

BREATH_DB = -7.0
"""Power of the noise in a voice of tones relative to its tones: speech fills more bands than a few tones do."""

BREATH_HZ = (150.0, 5000.0)


class SpokenWord(NamedTuple):
    """A word with its start and end in seconds from the start of its utterance, or of the film in a script."""

    text: str
    start_s: float
    end_s: float


class Utterance(NamedTuple):
    """A spoken sentence: its sound with a power of 1, (N,), and its words."""

    samples: Samples
    words: tuple[SpokenWord, ...]


class Voices(Protocol):
    """A set of voices; :data:`NARRATOR` is the first."""

    name: str
    n_voices: int

    def say(self, text: str, voice: int, rate_hz: int) -> Utterance:
        """Return a sentence as spoken by a voice."""
        ...


class Tones:
    """Voices that speak in tones (:mod:`truemoment.media.audio.tone_words`), each with a breath of noise."""

    name = "tones"
    n_voices = 5

    def say(self, text: str, voice: int, rate_hz: int) -> Utterance:
        """Return a sentence of words of the vocabulary, as spoken by a voice.

        The same text and voice give the same samples. The full stop belongs to the last word.
        """
        spoken = text.split()
        starts = np.arange(len(spoken)) * (WORD_S + WORD_GAP_S)
        words = tuple(
            SpokenWord(word, float(start), float(start + WORD_S - REST_S))
            for word, start in zip(spoken, starts, strict=True)
        )
        samples = np.zeros(round((starts[-1] + WORD_S) * rate_hz), np.float32)
        rng = np.random.default_rng([voice, *text.encode()])
        for word, start in zip(spoken, starts, strict=True):
            for place, hz in enumerate(frequencies_hz(voice)[[0, *(1 + digit for digit in digits_of(word))]]):
                at = round((start + place * (TONE_S + REST_S)) * rate_hz)
                tone = _tone(float(hz), float(rng.uniform(0, 2 * np.pi)), rate_hz)
                samples[at : at + len(tone)] += tone
        samples /= np.sqrt(np.mean(samples**2))
        breath = _breath(rng, len(samples), rate_hz) * 10 ** (BREATH_DB / 20)
        whole = (samples + breath * _fade(len(samples), rate_hz)) / np.sqrt(1 + 10 ** (BREATH_DB / 10))
        return Utterance(whole.astype(np.float32), words)


def _tone(hz: float, phase: float, rate_hz: int) -> Floats:
    """Return one tone with edges of 5 ms; phases differ, so that a word spoken twice is not the same sound."""
    n = round(TONE_S * rate_hz)
    return np.sin(2 * np.pi * hz * np.arange(n) / rate_hz + phase) * _fade(n, rate_hz)


def _fade(n: int, rate_hz: int, edge_s: float = 0.005) -> Floats:
    """Return an envelope of 1 that rises from 0 at the start and falls to 0 at the end, (N,)."""
    edge = min(round(edge_s * rate_hz), n // 2)
    ramp = np.sin(np.pi / 2 * (np.arange(edge) + 0.5) / edge) ** 2
    return np.concatenate([ramp, np.ones(n - 2 * edge), ramp[::-1]])


def _breath(rng: np.random.Generator, n: int, rate_hz: int) -> Floats:
    """Return noise of power 1 whose density falls as 1 / frequency within :data:`BREATH_HZ`, (N,)."""
    hz = np.fft.rfftfreq(n, 1 / rate_hz)
    inside = (hz >= BREATH_HZ[0]) & (hz <= BREATH_HZ[1])
    shape = np.where(inside, 1 / np.sqrt(np.maximum(hz, 1.0)), 0.0)
    noise = np.fft.irfft(np.fft.rfft(rng.standard_normal(n)) * shape, n)
    return np.asarray(noise / np.sqrt(np.mean(noise**2)))


def words_at(words: Sequence[SpokenWord], start_s: float) -> tuple[SpokenWord, ...]:
    """Return words of an utterance that starts at a time, in that time."""
    return tuple(SpokenWord(word.text, word.start_s + start_s, word.end_s + start_s) for word in words)
