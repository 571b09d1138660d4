"""The described track in film time, with everything silenced but narrator runs, as recognisers hear it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.collection.spans import Span, widened
from truemoment.media.audio.alignment import Alignment
from truemoment.media.audio.recording import Sound as Recorded
from truemoment.media.speech.base import RATE_HZ, HeardWord, Recogniser, Sound
from truemoment.media.speech.invented import without_repeats

WIDENED_S = 0.25
"""Seconds by which narrator runs are widened on both sides."""

LONGEST_PART_S = 600.0
"""Engines hear at most ten minutes at a time."""

FADE_S = 0.01


class HeardWords(NamedTuple):
    """Words in film time, and the number of words and segments dropped as invented."""

    words: list[HeardWord]
    n_invented: int


def hear(engine: Recogniser, track: Recorded, alignment: Alignment, runs: Sequence[Span] | None) -> HeardWords:
    """Return the words of a track in film time.

    Parameters
    ----------
    engine
        What hears them.
    track
        The described track, at 16 kHz.
    alignment
        Where the track lies in the film.
    runs
        What is heard, in film time; None for all of the track.
    """
    end_s = alignment.film.duration_s
    spans = None if runs is None else widened(runs, WIDENED_S, end_s)
    words: list[HeardWord] = []
    n_before = getattr(engine, "n_invented", 0)
    for start_s, part_end_s in parts_of(spans, end_s):
        sound = film_sound(track, alignment, start_s, part_end_s)
        if spans is not None:
            silence_outside(sound, start_s, spans)
        if sound.any():
            words += engine.hear(sound, RATE_HZ, start_s)
    distinct, n_repeated = without_repeats(words)
    return HeardWords(distinct, n_repeated + getattr(engine, "n_invented", 0) - n_before)


def parts_of(spans: Sequence[Span] | None, end_s: float) -> list[Span]:
    """Return parts of the film of at most ten minutes; where only runs are heard, parts end between runs.

    Examples
    --------
    >>> parts_of([(1.0, 5.0), (590.0, 595.0), (700.0, 710.0)], 900.0)
    [(1.0, 595.0), (700.0, 710.0)]
    """
    if spans is None:
        starts = np.arange(0.0, end_s, LONGEST_PART_S).tolist()
        return [(start, min(end_s, start + LONGEST_PART_S)) for start in starts]
    parts: list[Span] = []
    for low, high in spans:
        if parts and high - parts[-1][0] <= LONGEST_PART_S:
            parts[-1] = parts[-1][0], high
        else:
            parts.append((low, high))
    return parts


def film_sound(track: Recorded, alignment: Alignment, start_s: float, end_s: float) -> Sound:
    """Return the track's sound in a part of the film, silent where the track has nothing of it, (N,)."""
    times = start_s + np.arange(max(1, round((end_s - start_s) * RATE_HZ))) / RATE_HZ
    sound = np.zeros(len(times), np.float32)
    for piece in alignment.pieces:
        low, high = np.searchsorted(times, piece.film_s)
        if low < high:
            track_s = (times[low:high] - piece.delay_s) / piece.rate
            sound[low:high] = _at(track, track_s)
    return sound


def _at(track: Recorded, track_s: Floats) -> Sound:
    """Return the track's sound at rising times, between samples by a straight line."""
    first, last = int(np.floor(track_s[0] * RATE_HZ)), int(np.ceil(track_s[-1] * RATE_HZ)) + 1
    samples = track.between(first, last)
    return np.interp(track_s * RATE_HZ - first, np.arange(len(samples)), samples).astype(np.float32)


def silence_outside(sound: Sound, start_s: float, runs: Sequence[Span]) -> None:
    """Silence a sound in place outside of runs, with short fades."""
    gate = np.zeros(len(sound), np.float32)
    fade = round(FADE_S * RATE_HZ)
    ramp = (np.arange(fade) + 1) / (fade + 1)
    for low, high in runs:
        a, b = (int(np.clip(round((edge - start_s) * RATE_HZ), 0, len(sound))) for edge in (low, high))
        if b - a > 2 * fade:
            gate[a:b] = np.maximum(gate[a:b], np.concatenate([ramp, np.ones(b - a - 2 * fade), ramp[::-1]]))
    sound *= gate
