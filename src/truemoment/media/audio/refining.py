"""The exact line of a piece: windows of its waveform, or of its bands where the waveform does not agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.media.audio.alignment import Span
from truemoment.media.audio.bands import FRAMES_PER_S, comparable
from truemoment.media.audio.correlation import good_length, parabola_shift, peak_of
from truemoment.media.audio.reading import Samples
from truemoment.media.audio.recording import Sound
from truemoment.media.audio.resampling import values_at

N_WINDOWS = 20
WINDOW_S = 20.0
STEP_S = 10.0
SEARCH_S = 0.5
WHITENING = 0.8
BAND_HZ = (100.0, 3500.0)
LEAST_RATIO = 1.2
APART_S = 0.02
AGREE_S = 0.02
LEAST_AGREEING = 0.6
"""Share of windows (12 of 20) that must agree for the waveform to count."""

LEAST_ERROR_S = 1 / 16_000
"""Deviations below a sample have no meaning."""

LEAST_SLOPE = 2e-6
MOST_ROUNDS = 4


class DelayLine(NamedTuple):
    """A line from track time to film time.

    Parameters
    ----------
    rate, delay_s
        ``film_s = rate x track_s + delay_s``.
    error_s
        Typical deviation of a window from it (1.48 times the median).
    n_windows, n_agreeing
        Windows with a clear peak, and those that lie within 20 ms of it.
    by_waveform
        Whether the waveforms agree; otherwise bands were compared.
    """

    rate: float
    delay_s: float
    error_s: float
    n_windows: int = 0
    n_agreeing: int = 0
    by_waveform: bool = True


Measure = Callable[[Span, DelayLine], tuple[float, float]]
"""Shift of the film from a line in a window of the track, in film seconds, and the peak's ratio."""


class Pair(NamedTuple):
    """A film and a track: their sounds, and their bands (:func:`.log_bands`), (N_BANDS, N)."""

    film: Sound
    track: Sound
    film_bands: Samples
    track_bands: Samples


def refine(pair: Pair, line: DelayLine, span_s: tuple[float, float]) -> DelayLine:
    """Return the exact line of a piece.

    Parameters
    ----------
    line
        The line by coarse windows, right to 0.5 s.
    span_s
        Part of the track that surely lies in the piece.
    """
    low, high = span_s
    window_s = min(WINDOW_S, (high - low) / 2)
    n_windows = int(np.clip((high - low - window_s) / STEP_S + 1, 2, N_WINDOWS))
    windows = [(start_s, start_s + window_s) for start_s in np.linspace(low, high - window_s, n_windows).tolist()]
    by_waveform = _fitted(line, windows, lambda window, line: waveform_shift(pair.film, pair.track, window, line))
    if by_waveform.n_agreeing >= max(2, LEAST_AGREEING * n_windows):
        return by_waveform
    bands = pair.film_bands, pair.track_bands
    by_bands = _fitted(line, windows, lambda window, line: bands_shift(*bands, window, line))
    return by_bands._replace(by_waveform=False)


def _fitted(line: DelayLine, windows: Sequence[Span], measure: Measure) -> DelayLine:
    """Fit a line to the shifts of windows, again until its slope changes by less than 2 in a million."""
    middles = np.mean(windows, axis=1)
    for _ in range(MOST_ROUNDS):
        measured = np.array([measure(window, line) for window in windows])
        clear = measured[:, 1] >= LEAST_RATIO
        if not clear.any():
            return line._replace(error_s=np.inf, n_windows=0, n_agreeing=0)
        times, shifts = middles[clear], measured[clear, 0]
        slope = theil_sen(times, shifts)
        offset = float(np.median(shifts - slope * times))
        rest = np.abs(shifts - offset - slope * times)
        agreeing = rest <= AGREE_S
        error_s = max(LEAST_ERROR_S, 1.4826 * float(np.median(rest[agreeing]))) if agreeing.any() else np.inf
        line = DelayLine(line.rate + slope, line.delay_s + offset, error_s, int(clear.sum()), int(agreeing.sum()))
        if abs(slope) <= LEAST_SLOPE:
            break
    return line


def theil_sen(times: Floats, values: Floats) -> float:
    """Return the median slope over all pairs of points; 0 for a single point."""
    slopes = [(values[j] - values[i]) / (times[j] - times[i]) for i, j in combinations(range(len(times)), 2)]
    return float(np.median(slopes)) if slopes else 0.0


def waveform_shift(film: Sound, track: Sound, window: Span, line: DelayLine) -> tuple[float, float]:
    """Return how far the film lies from a line in a window of the track, by whitened cross-correlation.

    The cross-spectrum P is divided by ``|P|^0.8`` on 100 to 3,500 Hz.
    """
    rate_hz = track.rate_hz
    n_window, n_search = round((window[1] - window[0]) * rate_hz), round(SEARCH_S * rate_hz)
    first = round(window[0] * rate_hz)
    part = track.between(first, first + n_window)
    wide = film_along(film, line, first - n_search, n_window + 2 * n_search)
    n = good_length(len(wide))
    hann = np.hanning(n_window).astype(np.float32)
    product = np.conjugate(np.fft.rfft(part * hann, n)) * np.fft.rfft(wide, n)
    hz = np.fft.rfftfreq(n, 1 / rate_hz)
    size = np.abs(product)
    product *= np.where((hz >= BAND_HZ[0]) & (hz <= BAND_HZ[1]), np.maximum(size, 1e-20) ** -WHITENING, 0.0)
    peak = peak_of(np.fft.irfft(product, n)[: 2 * n_search + 1], round(APART_S * rate_hz))
    if size.max(initial=0) < SILENT:
        return 0.0, 0.0
    return (peak.position - n_search) / rate_hz * line.rate, peak.ratio


SILENT = 1e-9
"""Cross-spectrum of windows of which one is silent."""


def film_along(film: Sound, line: DelayLine, first: int, n: int) -> Samples:
    """Return the film's sound at the times of track samples first ... first + n - 1, by a line, (n,)."""
    start = line.rate * first + line.delay_s * film.rate_hz
    if line.rate == 1:
        low = int(np.floor(start))
        positions = start - low + np.arange(n)
        samples = film.between(low - EDGE, low + n + EDGE)
        share = positions[0]
        return samples[EDGE : EDGE + n] if share == 0 else values_at(samples, positions + EDGE)
    low = int(np.floor(start)) - EDGE
    samples = film.between(low, low + int(np.ceil(line.rate * n)) + 2 * EDGE)
    return values_at(samples, start - low + line.rate * np.arange(n))


EDGE = 16
"""Samples beside a part that interpolation needs."""


def bands_shift(film_bands: Samples, track_bands: Samples, window: Span, line: DelayLine) -> tuple[float, float]:
    """Return how far the film lies from a line in a window of the track, by bands at 100 frames a second."""
    n_window, n_search = round((window[1] - window[0]) * FRAMES_PER_S), round(SEARCH_S * FRAMES_PER_S)
    first = round(window[0] * FRAMES_PER_S)
    margin = 2 * FRAMES_PER_S
    times = np.arange(first - margin, first + n_window + margin)
    inside = slice(margin, margin + n_window)
    part = comparable(_rows_at(track_bands, times.astype(np.float64)), FRAMES_PER_S)[:, inside]
    wide_times = np.arange(first - n_search - margin, first + n_window + n_search + margin)
    film_times = line.rate * wide_times + line.delay_s * FRAMES_PER_S
    wide = comparable(_rows_at(film_bands, film_times), FRAMES_PER_S)[:, margin:-margin]
    dots = sum(np.correlate(wide_row, row, "valid") for wide_row, row in zip(wide, part, strict=True))
    power = np.concatenate([[0.0], np.cumsum(np.sum(np.square(wide), axis=0, dtype=np.float64))])
    norm = np.sqrt(np.maximum(power[n_window:] - power[:-n_window], 1e-9) * max(float(np.sum(np.square(part))), 1e-9))
    scores = np.asarray(dots / norm)
    at = int(np.argmax(scores))
    shift = (at + parabola_shift(scores, at) - n_search) / FRAMES_PER_S * line.rate
    return shift, np.inf if scores[at] >= LEAST_SCORE else 0.0


LEAST_SCORE = 0.3
"""Score of bands below which a window has no clear delay."""


def _rows_at(bands: Samples, frames: Floats) -> Samples:
    """Return each band at some frames, (N_BANDS, M), the first and the last one beyond the ends."""
    numbers = np.arange(bands.shape[1])
    return np.stack([np.interp(frames, numbers, row) for row in bands]).astype(np.float32)
