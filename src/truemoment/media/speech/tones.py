"""The recogniser that hears the tones of simulated films and nothing else, for tests and the demo.

The code is that of :mod:`truemoment.media.audio.tone_words`: a word is a start tone and four digits, and every voice
has frequencies of its own.
"""

from __future__ import annotations

import hashlib
from functools import cached_property

import numpy as np
import numpy.typing as npt

from truemoment.media.audio.tone_words import (
    N_DIGIT_TONES,
    N_DIGITS,
    N_VOICES,
    REST_S,
    TONE_S,
    VOCABULARY,
    WORD_S,
    frequencies_hz,
    word_of,
)
from truemoment.media.speech.base import HeardWord, Sound

HOP_S = 0.01
START_SHARE, DIGIT_SHARE = 0.35, 0.30
"""Least share of the energy of a window that a start tone and a digit have."""

QUIET = 1e-4
"""Root mean square of a window below which nothing is heard: -80 dBFS."""

FRAMES_AT_ONCE = 4096

N_TONES = 1 + N_DIGIT_TONES
SLOT = round((TONE_S + REST_S) / HOP_S)
"""Windows from one tone of a word to the next."""

Floats32 = npt.NDArray[np.float32]


class TonesRecogniser:
    """Hears words that are spoken as tones; each word has the name of its voice."""

    name = "tones"
    punctuates = False

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the vocabulary."""
        return hashlib.sha256("\n".join(VOCABULARY).encode()).hexdigest()[:8]

    def hear(self, sound: Sound, rate_hz: int, at_s: float = 0.0) -> list[HeardWord]:
        """Return the words of a sound in order of time."""
        shares = tone_shares(sound, rate_hz)
        words = [word for voice in range(N_VOICES) for word in _words_of(shares[:, voice], voice, at_s)]
        return sorted(words, key=lambda word: word.start_s)


def _words_of(shares: Floats32, voice: int, at_s: float) -> list[HeardWord]:
    """Return the words of a voice from the shares of its nine tones, (F, 9)."""
    words, free = [], 0
    last = len(shares) - N_DIGITS * SLOT - 1
    starts = np.flatnonzero((shares[:, 0] > START_SHARE) & (shares[:, 0] >= shares.max(axis=1)))
    for start in starts.tolist():
        if not free <= start < last:
            continue
        peak = start + int(np.argmax(shares[start : start + SLOT // 2, 0]))
        digits = _digits_at(shares, peak)
        text = None if digits is None else word_of(digits)
        if text is not None:
            start_s = at_s + peak * HOP_S
            words.append(HeardWord(text, start_s, start_s + WORD_S - REST_S, voice=f"tones-{voice}"))
            free = peak + N_DIGITS * SLOT + SLOT // 2
    return words


def _digits_at(shares: Floats32, start: int) -> list[int] | None:
    """Return the digits of the word that starts at a window; None where one is not heard."""
    digits = []
    for place in range(1, N_DIGITS + 1):
        near = shares[start + place * SLOT - 1 : start + place * SLOT + 2, 1:]
        if not near.size or near.max() <= DIGIT_SHARE:
            return None
        digits.append(int(near.max(axis=0).argmax()))
    return digits


def tone_shares(sound: Sound, rate_hz: int) -> Floats32:
    """Return the share of energy at each tone of each voice, for windows of 50 ms every 10 ms, (F, voices, 9).

    Windows are weighted by a Hann window h: the share at f is
    ``2 |sum h x exp(-2 pi i f t)|^2 / (sum h sum h x^2)``, which is 1 for a pure tone.
    """
    length, hop = round(TONE_S * rate_hz), round(HOP_S * rate_hz)
    n_frames = max(0, 1 + (len(sound) - length) // hop)
    shares = np.zeros((n_frames, N_VOICES * N_TONES), np.float32)
    if n_frames:
        weights = np.hanning(length + 2)[1:-1].astype(np.float32)
        tones_hz = np.concatenate([frequencies_hz(voice) for voice in range(N_VOICES)])
        phases = 2 * np.pi * np.arange(length)[:, None] * tones_hz[None, :] / rate_hz
        waves = (np.concatenate([np.cos(phases), np.sin(phases)], axis=1) * weights[:, None]).astype(np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(sound, length)[::hop][:n_frames]
        for low in range(0, n_frames, FRAMES_AT_ONCE):
            shares[low : low + FRAMES_AT_ONCE] = _shares(windows[low : low + FRAMES_AT_ONCE], waves, weights)
    return shares.reshape(n_frames, N_VOICES, N_TONES)


def _shares(windows: Floats32, waves: Floats32, weights: Floats32) -> Floats32:
    """Return the shares of some windows; silent windows have none."""
    half = waves.shape[1] // 2
    shares = np.zeros((len(windows), half), np.float32)
    energy = np.square(windows) @ weights
    loud = np.flatnonzero(energy > QUIET**2 * weights.sum())
    if len(loud):
        both = windows[loud] @ waves
        power = np.square(both[:, :half]) + np.square(both[:, half:])
        shares[loud] = 2 * power / (weights.sum() * energy[loud, None])
    return shares
