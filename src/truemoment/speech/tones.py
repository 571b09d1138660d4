"""A code of tones for words, and the recogniser that hears it: speech of simulated films, for tests and the demo.

A word is a start tone and four symbols, each one of eight frequencies: 50 ms of sound and 30 ms of silence each. A
voice has nine frequencies of its own, 600 + 60 v + 240 i Hz. The engine hears this code and nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from truemoment.exceptions import UsageError
from truemoment.speech.base import Sound, Word

N_VOICES = 4
"""Voices whose frequencies differ by at least 60 Hz."""

SYMBOLS, LENGTH = 8, 4
MOST_WORDS = SYMBOLS**LENGTH
"""Size of the largest vocabulary."""

TONE_S, GAP_S = 0.05, 0.03
SLOT_S = TONE_S + GAP_S
WORD_S = (1 + LENGTH) * SLOT_S - GAP_S
"""Length of a word, from its start tone to the end of its last symbol."""

HOP_S = 0.01
START_SHARE, SYMBOL_SHARE = 0.35, 0.30
"""Least share of the energy of a window that a start tone and a symbol have."""

QUIET = 1e-4
"""Root mean square of a window below which nothing is heard: -80 dBFS."""

FRAMES_AT_ONCE = 4096

Floats32 = npt.NDArray[np.float32]


def frequencies(voice: int) -> npt.NDArray[np.float64]:
    """Return the frequencies of a voice in Hz: the start tone, then the symbols, (9,).

    Examples
    --------
    >>> frequencies(1)[:2].tolist()
    [660.0, 900.0]
    """
    if not 0 <= voice < N_VOICES:
        raise UsageError(f"got voice {voice}, expected 0 to {N_VOICES - 1}")
    return 600.0 + 60.0 * voice + 240.0 * np.arange(1 + SYMBOLS)


def symbols_of(number: int) -> tuple[int, ...]:
    """Return the symbols of a word by its number in the vocabulary.

    Examples
    --------
    >>> symbols_of(0), symbols_of(8), symbols_of(4095)
    ((0, 0, 0, 0), (0, 0, 1, 0), (7, 7, 7, 7))
    """
    return tuple(number // SYMBOLS**place % SYMBOLS for place in reversed(range(LENGTH)))


class TonesRecogniser:
    """Hears words that are spoken as tones.

    Parameters
    ----------
    vocabulary
        The words by number, as they are written: capital letters and full stops are part of a word.
    punctuates
        Whether the words of the vocabulary carry punctuation.
    """

    name = "tones"

    def __init__(self, vocabulary: Iterable[str], *, punctuates: bool = False) -> None:
        self.vocabulary = tuple(vocabulary)
        self.punctuates = punctuates
        if not 0 < len(self.vocabulary) <= MOST_WORDS:
            raise UsageError(f"got a vocabulary of {len(self.vocabulary)} words, expected 1 to {MOST_WORDS}")

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the vocabulary."""
        return hashlib.sha256("\n".join(self.vocabulary).encode()).hexdigest()[:12]

    def hear(self, sound: Sound, rate_hz: int, at_s: float = 0.0) -> list[Word]:
        """Return the words of a sound in order of time; one word at a time and voice."""
        shares = tone_shares(sound, rate_hz)
        words = [word for voice in range(N_VOICES) for word in self._words_of(shares[:, voice], voice, at_s)]
        return sorted(words, key=lambda word: word.start_s)

    def _words_of(self, shares: Floats32, voice: int, at_s: float) -> list[Word]:
        """Return the words of a voice from the shares of its nine tones, (F, 9)."""
        slot, found, frame = round(SLOT_S / HOP_S), [], 0
        last = len(shares) - LENGTH * slot - 1
        starts = np.flatnonzero((shares[:, 0] > START_SHARE) & (shares[:, 0] >= shares.max(axis=1)))
        for start in starts.tolist():
            if start < frame or start >= last:
                continue
            peak = start + int(np.argmax(shares[start : start + slot // 2, 0]))
            number = _number_at(shares, peak, slot)
            if number is None or number >= len(self.vocabulary):
                continue
            time_s = at_s + peak * HOP_S
            found.append(Word(self.vocabulary[number], time_s, time_s + WORD_S, voice=f"tones-{voice}"))
            frame = peak + LENGTH * slot + slot // 2
        return found


def _number_at(shares: Floats32, start: int, slot: int) -> int | None:
    """Return the number of the word that starts at a frame; None where a symbol is not heard."""
    number = 0
    for place in range(1, LENGTH + 1):
        near = shares[start + place * slot - 1 : start + place * slot + 2, 1:]
        if not near.size or near.max() <= SYMBOL_SHARE:
            return None
        number = number * SYMBOLS + int(near.max(axis=0).argmax())
    return number


def tone_shares(sound: Sound, rate_hz: int) -> Floats32:
    """Return the share of energy at each tone of each voice, for windows of 50 ms every 10 ms, (F, voices, 9).

    The windows are weighted by a Hann window h: the share at f is 2 |sum h x exp(-2 pi i f t)|^2 / (sum h sum h x^2),
    which is 1 for a pure tone.
    """
    length, hop = round(TONE_S * rate_hz), round(HOP_S * rate_hz)
    n_frames = max(0, 1 + (len(sound) - length) // hop)
    shares = np.zeros((n_frames, N_VOICES * (1 + SYMBOLS)), np.float32)
    if n_frames:
        weights = np.hanning(length + 2)[1:-1].astype(np.float32)
        tones = np.concatenate([frequencies(voice) for voice in range(N_VOICES)])
        waves = _waves(tones, length, rate_hz) * weights[:, None]
        windows = np.lib.stride_tricks.sliding_window_view(sound, length)[::hop][:n_frames]
        for low in range(0, n_frames, FRAMES_AT_ONCE):
            shares[low : low + FRAMES_AT_ONCE] = _shares(windows[low : low + FRAMES_AT_ONCE], waves, weights)
    return shares.reshape(n_frames, N_VOICES, 1 + SYMBOLS)


def _waves(tones: npt.NDArray[np.float64], length: int, rate_hz: int) -> Floats32:
    """Return cosines, then sines, of the tones, (length, 2 T)."""
    phases = 2 * np.pi * np.arange(length)[:, None] * tones[None, :] / rate_hz
    return np.concatenate([np.cos(phases), np.sin(phases)], axis=1).astype(np.float32)


def _shares(windows: Floats32, waves: Floats32, weights: Floats32) -> Floats32:
    """Return the shares of some windows; silent windows have none."""
    found = np.zeros((len(windows), waves.shape[1] // 2), np.float32)
    energy = np.square(windows) @ weights
    loud = np.flatnonzero(energy > QUIET**2 * weights.sum())
    if len(loud):
        both = windows[loud] @ waves
        half = both.shape[1] // 2
        power = np.square(both[:, :half]) + np.square(both[:, half:])
        found[loud] = 2 * power / (weights.sum() * energy[loud, None])
    return found


def speak(numbers: Sequence[int], voice: int, rate_hz: int, loudness: float = 0.1) -> Sound:
    """Return the sound of words by their numbers, one after the other, (N,).

    Parameters
    ----------
    numbers
        Numbers of the words in the vocabulary.
    voice
        Number of the voice, from 0.
    rate_hz
        Sampling rate.
    loudness
        Amplitude of the tones.
    """
    tone, slot = round(TONE_S * rate_hz), round(SLOT_S * rate_hz)
    ramp = np.minimum(1, np.minimum(np.arange(tone), np.arange(tone)[::-1]) / (0.004 * rate_hz))
    waves = np.sin(2 * np.pi * np.arange(tone)[None, :] * frequencies(voice)[:, None] / rate_hz) * ramp
    sound = np.zeros(len(numbers) * (1 + LENGTH) * slot, np.float32)
    for k, number in enumerate(numbers):
        for place, tone_number in enumerate((0, *(1 + symbol for symbol in symbols_of(number)))):
            begin = (k * (1 + LENGTH) + place) * slot
            sound[begin : begin + tone] = loudness * waves[tone_number]
    return sound
