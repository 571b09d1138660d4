"""Where a track leaves one line and follows the next, and how far a line holds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from truemoment.audio.reading import Samples
from truemoment.audio.recording import Sound
from truemoment.audio.refining import Line, film_along
from truemoment.intervals import Floats

FRAME_S = 0.05
BAND_HZ = (80.0, 3500.0)
QUIET = 1e-8
"""Power below which a frame says nothing: -80 dBFS."""

WOBBLE_S = 0.012
"""How far the sound of a time-stretched track may lie from its line for a moment."""

CHANCE, CHANCE_OF_WOBBLE = 0.1, 0.9
"""Logarithm of the power that a frame of another sound explains by chance, with a margin: at one place, and at the best
place within :data:`WOBBLE_S`."""

LEFT_OVER_S = 15.0
"""A part this short beside a line, in which the film cannot be heard, belongs to it: the narrator covers the film."""


class Cut(NamedTuple):
    """Where two pieces meet: the end of the first and the start of the second, on the track."""

    end_s: float
    start_s: float


def place_cut(film: Sound, track: Sound, before: Line, after: Line, between_s: tuple[float, float]) -> Cut:
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
    if after.rate * middle_s + after.delay_s >= before.rate * middle_s + before.delay_s:
        costs = [np.log(_frames(track, film, line, between_s).rest) for line in (before, after)]
        at_s = low_s + FRAME_S * _best_change(*costs)
        return Cut(at_s, at_s)
    film_s = before.rate * low_s + before.delay_s, after.rate * high_s + after.delay_s
    if film_s[1] <= film_s[0]:  # the second piece would start before the first
        return Cut(middle_s, middle_s)
    costs = [np.log(_frames(film, track, _inverse(line), film_s).rest) for line in (before, after)]
    at_s = film_s[0] + FRAME_S * _best_change(*costs)
    end_s, start_s = ((at_s - line.delay_s) / line.rate for line in (before, after))
    return Cut(end_s, max(end_s, start_s))


def reach_of(film: Sound, track: Sound, line: Line, sure_s: float, end_s: float) -> float:
    """Return how far a line holds from a sure time of the track towards another one, before or after it.

    Frames that the film explains speak for it, others a little against it. A rest of up to 15 s belongs to it.
    """
    low_s, high_s = min(sure_s, end_s), max(sure_s, end_s)
    if high_s - low_s <= LEFT_OVER_S:
        return end_s
    frames = _frames(track, film, line, (low_s, high_s))
    gain = np.log(frames.power / frames.rest) - (CHANCE if line.by_waveform else CHANCE_OF_WOBBLE)
    gain = gain if end_s > sure_s else gain[::-1]
    n = int(np.argmax(np.concatenate([[0.0], np.cumsum(gain)])))
    held_s = min(n * FRAME_S, high_s - low_s)
    if high_s - low_s - held_s <= LEFT_OVER_S:
        return end_s
    return sure_s + held_s if end_s > sure_s else sure_s - held_s


def _inverse(line: Line) -> Line:
    """Return the line from film time to track time."""
    return line._replace(rate=1 / line.rate, delay_s=-line.delay_s / line.rate)


class _Frames(NamedTuple):
    """Power of each frame of a sound, and of what another sound along a line leaves of it, (F,)."""

    power: Floats
    rest: Floats


def _frames(sound: Sound, other: Sound, line: Line, span_s: tuple[float, float]) -> _Frames:
    """Compare a sound with another one along a line, frame by frame, each with its best gain."""
    rate_hz = sound.rate_hz
    step = round(FRAME_S * rate_hz)
    first = round(span_s[0] * rate_hz)
    n = max(1, round((span_s[1] - span_s[0]) / FRAME_S)) * step
    reach = 0 if line.by_waveform else round(WOBBLE_S * rate_hz)
    x = _in_band(sound.between(first, first + n), rate_hz).reshape(-1, step)
    o = _in_band(film_along(other, line, first - reach, n + 2 * reach), rate_hz)
    power = np.mean(np.square(x), axis=1)
    windows = np.lib.stride_tricks.sliding_window_view(o, step + 2 * reach)[::step]
    size = step + 2 * reach
    spectra = np.conjugate(np.fft.rfft(x, size, axis=1)) * np.fft.rfft(windows, size, axis=1)
    dots = np.fft.irfft(spectra, size, axis=1)[:, : 2 * reach + 1]
    total = np.cumsum(np.pad(np.square(windows, dtype=np.float64), ((0, 0), (1, 0))), axis=1)
    own = total[:, step:] - total[:, : size - step + 1]
    explained = np.max(np.square(dots) / np.maximum(own, 1e-9), axis=1) / step
    return _Frames(power + QUIET, np.maximum(power - explained, 0) + QUIET)


def _in_band(samples: Samples, rate_hz: int) -> Samples:
    spectrum = np.fft.rfft(samples)
    hz = np.fft.rfftfreq(len(samples), 1 / rate_hz)
    spectrum[(hz < BAND_HZ[0]) | (hz > BAND_HZ[1])] = 0
    return np.asarray(np.fft.irfft(spectrum, len(samples)), np.float32)


def _best_change(before: Floats, after: Floats) -> int:
    """Return the number of frames that the first costs explain, so that the sum of both parts is least."""
    sums = np.concatenate([[0.0], np.cumsum(before)]) + after.sum() - np.concatenate([[0.0], np.cumsum(after)])
    return int(np.argmin(sums))
