"""Where a track leaves one line and follows the next, and how far a line holds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from truemoment.audio.reading import Samples
from truemoment.audio.recording import Sound
from truemoment.audio.refining import DelayLine, film_along
from truemoment.intervals import Floats

BAND_HZ = (80.0, 3500.0)
QUIET = 1e-8
"""Power below which a frame says nothing: -80 dBFS."""

LEAST_REST = 1e-3


class CutFrames(NamedTuple):
    """How two sounds are compared in short frames.

    Parameters
    ----------
    length_s
        Duration of a frame.
    wobble_s
        How far the sound may lie from its line for a moment; each frame is compared at the best place.
    whitens
        Whether frequencies count by the inverse of the track's power.
    chance
        Evidence of a frame by chance, with a margin.
    left_over_s
        A part this short at the end of a line belongs to it, whether the film can be heard there or not.
    """

    length_s: float
    wobble_s: float
    whitens: bool
    chance: float
    left_over_s: float


EXACT = CutFrames(0.05, 0.0, True, 0.01, 3.0)
"""For tracks whose waveform follows the film. Measured on simulated films, mean evidence: 3.1 where the film is alone,
0.06 under the narrator, 0.001 by chance."""

WOBBLING = CutFrames(0.02, 0.006, False, 0.09, 10.0)
"""For time-stretched tracks. Measured: 0.3 where the film is alone, 0.06 under the narrator and by chance."""


class Cut(NamedTuple):
    """Where two pieces meet: the end of the first and the start of the second, on the track."""

    end_s: float
    start_s: float


def place_cut(film: Sound, track: Sound, before: DelayLine, after: DelayLine, between_s: tuple[float, float]) -> Cut:
    """Return where a track leaves one line for another.

    In a cut the film jumps and the track goes on; in an insertion it is the other way round. The side that goes on is
    compared with the other one along both lines, in frames of 50 ms: the place minimises the sum of log residual powers
    by the first line before it and by the second line after it.

    Parameters
    ----------
    between_s
        Part of the track in which the first line surely holds at its start, and the second at its end.
    """
    low_s, high_s = between_s
    middle_s = (low_s + high_s) / 2
    form = EXACT if before.by_waveform and after.by_waveform else WOBBLING
    if after.rate * middle_s + after.delay_s >= before.rate * middle_s + before.delay_s:
        evidence = [_evidence(track, film, line, between_s, form) for line in (before, after)]
        at_s = low_s + form.length_s * _best_change(*evidence)
        return Cut(at_s, at_s)
    film_s = before.rate * low_s + before.delay_s, after.rate * high_s + after.delay_s
    if film_s[1] <= film_s[0]:  # the second piece would start before the first
        return Cut(middle_s, middle_s)
    evidence = [_evidence(film, track, _inverse(line), film_s, form) for line in (before, after)]
    at_s = film_s[0] + form.length_s * _best_change(*evidence)
    end_s, start_s = ((at_s - line.delay_s) / line.rate for line in (before, after))
    return Cut(end_s, max(end_s, start_s))


def reach_of(film: Sound, track: Sound, line: DelayLine, span_s: tuple[float, float]) -> float:
    """Return how far a line holds from a sure time of the track towards another one, before or after it.

    Frames that the film explains speak for it, others a little against it.

    Parameters
    ----------
    span_s
        The sure time, and the other one.
    """
    sure_s, end_s = span_s
    low_s, high_s = min(span_s), max(span_s)
    form = EXACT if line.by_waveform else WOBBLING
    if high_s - low_s < form.length_s:
        return end_s
    gain = _evidence(track, film, line, (low_s, high_s), form) - form.chance
    loud = _levels(track, (low_s, high_s), form) > QUIET
    if end_s < sure_s:
        gain, loud = gain[::-1], loud[::-1]
    last = int(np.flatnonzero(loud).max(initial=-1)) + 1  # digital silence belongs to no line
    n = int(np.argmax(np.concatenate([[0.0], np.cumsum(gain[:last])])))
    if (last - n) * form.length_s <= form.left_over_s:
        n = last
    held_s = high_s - low_s if n == len(gain) else n * form.length_s
    return sure_s + held_s if end_s > sure_s else sure_s - held_s


def _levels(sound: Sound, span_s: tuple[float, float], form: CutFrames) -> Floats:
    """Return the power of each frame of a sound, (F,)."""
    step = round(form.length_s * sound.rate_hz)
    first = round(span_s[0] * sound.rate_hz)
    n_frames = max(1, round((span_s[1] - span_s[0]) / form.length_s))
    frames = sound.between(first, first + n_frames * step).reshape(n_frames, step)
    return np.asarray(np.mean(np.square(frames), axis=1))


def _inverse(line: DelayLine) -> DelayLine:
    """Return the line from film time to track time."""
    return line._replace(rate=1 / line.rate, delay_s=-line.delay_s / line.rate)


def _evidence(sound: Sound, other: Sound, line: DelayLine, span_s: tuple[float, float], form: CutFrames) -> Floats:
    r"""Return how much of each frame of a sound another one along a line explains, (F,).

    It is :math:`-\log(1 - \rho^2)`, :math:`\rho` the correlation of the frames, 0 to 1. Each frequency is weighted
    by the inverse power of the first sound if the form whitens: what covers the film in some frequencies leaves it in
    others.
    """
    rate_hz = sound.rate_hz
    step, reach = round(form.length_s * rate_hz), round(form.wobble_s * rate_hz)
    first = round(span_s[0] * rate_hz) - step // 2
    n_frames = max(1, round((span_s[1] - span_s[0]) / form.length_s))
    n = (n_frames + 1) * step
    hz = np.fft.rfftfreq(2 * step, 1 / rate_hz)
    inside = (hz >= BAND_HZ[0]) & (hz <= BAND_HZ[1])
    x = np.where(inside, _spectra(sound.between(first, first + n), step), 0)
    o = np.where(inside, _spectra(film_along(other, line, first, n), step), 0)
    power = np.square(np.abs(x))
    weight = inside / (_smooth(power) + QUIET) if form.whitens else inside
    cross = np.fft.irfft(weight * np.conjugate(x) * o, axis=1)
    best = np.max(np.concatenate([cross[:, : reach + 1], cross[:, cross.shape[1] - reach :]], axis=1), axis=1)
    own = np.sum(weight * power, axis=1) * np.sum(weight * np.square(np.abs(o)), axis=1)
    rho = np.maximum(best, 0) * cross.shape[1] / 2 / np.sqrt(np.maximum(own, 1e-12))
    return np.asarray(-np.log(np.maximum(1 - np.square(rho), LEAST_REST)))


def _spectra(samples: Samples, step: int) -> npt.NDArray[np.complex64]:
    """Return the spectra of Hann windows of two frames each, one a frame, (F, bins)."""
    windows = np.lib.stride_tricks.sliding_window_view(samples, 2 * step)[::step]
    return np.asarray(np.fft.rfft(windows * np.hanning(2 * step).astype(np.float32), axis=1), np.complex64)


def _smooth(power: Samples) -> Samples:
    """Return the mean of each bin and its two neighbours."""
    padded = np.pad(power, ((0, 0), (1, 1)))
    return np.asarray((padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]) / 3)


def _best_change(before: Floats, after: Floats) -> int:
    """Return the number of frames before a change, for which the sum of both evidences is largest."""
    return int(np.argmax(np.concatenate([[0.0], np.cumsum(before - after)])))
