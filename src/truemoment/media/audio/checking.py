"""The delay and the check of MAD (Soldan et al. 2022, section 3).

The delay is the largest cross-correlation of the two sounds. 20 windows, evenly spread, must have delays within 0.1 s
of their median; otherwise the paper discards the film. It states neither sampling rate nor length of the windows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.media.audio.alignment import PaperCheck, WindowDelay
from truemoment.media.audio.correlation import APART_S, correlate, good_length, peak_of
from truemoment.media.audio.recording import Sound

CLEAR_RATIO = 2.0
"""Peak ratio below which the delay counts as not found."""


@dataclass(frozen=True)
class PaperSettings:
    """Settings of the paper's check; the first and the last are the paper's, the others ours.

    Parameters
    ----------
    n_windows
        Number of windows.
    window_s, search_s
        Duration of a window, and how far from the delay of the whole its own is searched.
    most_delay_s
        Largest delay of the whole that is searched.
    within_s
        Largest distance of a window's delay from the median.
    """

    n_windows: int = 20
    window_s: float = 30.0
    search_s: float = 30.0
    most_delay_s: float = 120.0
    within_s: float = 0.1

    def __post_init__(self) -> None:
        if not 1 <= self.n_windows <= 10_000:
            raise UsageError(f"got {self.n_windows} windows, expected 1 to 10,000")
        for name, value in (("window", self.window_s), ("search", self.search_s), ("tolerance", self.within_s)):
            if not 0 < value <= 600:
                raise UsageError(f"got a {name} of {value:g} s, expected more than 0 and up to 600")


def check_paper(film: Sound, track: Sound, settings: PaperSettings | None = None) -> PaperCheck:
    """Return the delay of a track by one cross-correlation, and the check by windows."""
    settings = settings or PaperSettings()
    most_lag = round(settings.most_delay_s * film.rate_hz)
    peak = peak_of(correlate(film, track, most_lag), round(APART_S * film.rate_hz))
    delay_s = (peak.position - most_lag) / film.rate_hz
    windows = window_delays(film, track, delay_s, settings)
    return judged(windows, settings, delay_s=delay_s, peak_ratio=peak.ratio)


def judged(windows: Sequence[WindowDelay], settings: PaperSettings, *, delay_s: float, peak_ratio: float) -> PaperCheck:
    """Return the verdict on windows: passed if all delays lie within the tolerance of their median."""
    delays = np.array([window.delay_s for window in windows])
    median_s = float(np.median(delays)) if len(delays) else math.nan
    within = int(np.sum(np.abs(delays - median_s) <= settings.within_s))
    clear_delay_s = delay_s if peak_ratio >= CLEAR_RATIO else None
    return PaperCheck(
        clear_delay_s, peak_ratio, tuple(windows), median_s, within, bool(len(delays)) and within == len(delays)
    )


def window_delays(film: Sound, track: Sound, delay_s: float, settings: PaperSettings) -> list[WindowDelay]:
    """Return the delay of windows of the film, evenly spread over what the track covers at a delay."""
    low_s, high_s = max(0.0, delay_s), min(film.duration_s, track.duration_s + delay_s)
    length_s = (high_s - low_s) / settings.n_windows
    window_s = min(settings.window_s, max(high_s - low_s, 0.0))
    middles = low_s + (np.arange(settings.n_windows) + 0.5) * length_s
    middles = np.clip(middles, low_s + window_s / 2, high_s - window_s / 2)
    return [_window_delay(film, track, float(middle), delay_s, settings) for middle in middles] if window_s else []


def _window_delay(film: Sound, track: Sound, middle_s: float, delay_s: float, settings: PaperSettings) -> WindowDelay:
    """Return the delay of a window of the film within a search about a delay."""
    rate_hz = film.rate_hz
    n_window, n_search = round(settings.window_s * rate_hz), round(settings.search_s * rate_hz)
    first = round((middle_s - settings.window_s / 2) * rate_hz)
    about = round(delay_s * rate_hz)
    part = film.between(first, first + n_window)
    wide = track.between(first - about - n_search, first - about + n_window + n_search)
    n = good_length(len(wide))
    product = np.conjugate(np.fft.rfft(part, n)) * np.fft.rfft(wide, n)
    peak = peak_of(np.fft.irfft(product, n)[: 2 * n_search + 1], round(APART_S * rate_hz))
    return WindowDelay(middle_s, (about + n_search - peak.position) / rate_hz, peak.ratio)
