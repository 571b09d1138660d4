"""Where a track leaves one line and follows the next: the place of a cut or an insertion."""

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
    is_cut = after.rate * middle_s + after.delay_s >= before.rate * middle_s + before.delay_s
    if is_cut:
        costs = [_log_residuals(track, film, line, low_s, high_s) for line in (before, after)]
        at_s = low_s + FRAME_S * _best_change(*costs)
        return Cut(at_s, at_s)
    film_s = before.rate * low_s + before.delay_s, after.rate * high_s + after.delay_s
    if film_s[1] <= film_s[0]:  # the second piece would start before the first: they part in the middle
        return Cut(middle_s, middle_s)
    costs = [_log_residuals(film, track, _inverse(line), *film_s) for line in (before, after)]
    at_s = film_s[0] + FRAME_S * _best_change(*costs)
    end_s, start_s = ((at_s - line.delay_s) / line.rate for line in (before, after))
    return Cut(end_s, max(end_s, start_s))


def _inverse(line: Line) -> Line:
    """Return the line from film time to track time."""
    return line._replace(rate=1 / line.rate, delay_s=-line.delay_s / line.rate)


def _log_residuals(sound: Sound, other: Sound, line: Line, low_s: float, high_s: float) -> Floats:
    """Return the log share of power in each frame of a sound that the other one along a line does not explain, (F,)."""
    rate_hz = sound.rate_hz
    step = round(FRAME_S * rate_hz)
    first = round(low_s * rate_hz)
    n = max(1, round((high_s - low_s) / FRAME_S)) * step
    x = _in_band(sound.between(first, first + n), rate_hz).reshape(-1, step)
    o = _in_band(film_along(other, line, first, n), rate_hz).reshape(-1, step)
    power = np.sum(np.square(o), axis=1)
    gain = np.sum(x * o, axis=1) / np.maximum(power, 1e-12)
    rest = np.mean(np.square(x - gain[:, None] * o), axis=1)
    return np.asarray(np.log(rest + QUIET))


def _in_band(samples: Samples, rate_hz: int) -> Samples:
    spectrum = np.fft.rfft(samples)
    hz = np.fft.rfftfreq(len(samples), 1 / rate_hz)
    spectrum[(hz < BAND_HZ[0]) | (hz > BAND_HZ[1])] = 0
    return np.asarray(np.fft.irfft(spectrum, len(samples)), np.float32)


def _best_change(before: Floats, after: Floats) -> int:
    """Return the number of frames that the first costs explain, so that the sum of both parts is least."""
    sums = np.concatenate([[0.0], np.cumsum(before)]) + after.sum() - np.concatenate([[0.0], np.cumsum(after)])
    return int(np.argmin(sums))
