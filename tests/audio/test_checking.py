"""The paper's verdict on made sound of 110 minutes, of which only the windows are ever computed."""

import numpy as np
import pytest

from truemoment.media.audio.checking import PaperSettings, judged, window_delays
from truemoment.media.audio.resampling import values_at

RATE_HZ = 2000
MINUTES = 110


class Made:
    """A sound that can be computed at any time: noise below 500 Hz, drawn second by second."""

    rate_hz = RATE_HZ

    def __init__(self, film_time, duration_s):
        self.film_time, self.duration_s = film_time, duration_s

    def between(self, first, last):
        positions = self.film_time(np.arange(first, last) / RATE_HZ) * RATE_HZ
        low, high = (int(edge // RATE_HZ) for edge in (positions.min() - 50, positions.max() + 50))
        drawn = [np.random.default_rng(1000 + second).standard_normal(RATE_HZ) for second in range(low, high + 1)]
        smooth = np.convolve(np.concatenate(drawn), np.hanning(8), "same").astype(np.float32)
        return values_at(smooth, positions - low * RATE_HZ)


def verdict(film_time, near_s=0.0):
    duration_s = 60.0 * MINUTES
    settings = PaperSettings(window_s=4.0, search_s=2.0)
    film, track = Made(lambda t: t, duration_s), Made(film_time, duration_s)
    windows = window_delays(film, track, near_s, settings)
    return judged(windows, settings, delay_s=near_s, peak_ratio=9.0)


@pytest.mark.parametrize(
    ("name", "passes", "film_time"),
    [
        ("0 ppm", True, lambda t: t),
        ("25 ppm", True, lambda t: (1 + 25e-6) * (t - 3300) + 3300),
        ("40 ppm", False, lambda t: (1 + 40e-6) * (t - 3300) + 3300),
        ("NTSC pull-down", False, lambda t: 1.001 * (t - 3300) + 3300),
        ("PAL", False, lambda t: 25 / 24 * (t - 3300) + 3300),
        ("cut of 1 s", False, lambda t: t + (t > 3300)),
    ],
)
def test_verdict_over_110_minutes(name, passes, film_time):
    # 20 windows span 19 / 20 of the film: 3,135 s either side of the middle x 30 ppm is 0.094 s (the paper's 0.1 s).
    found = verdict(film_time)
    assert found.passed is passes, (name, found.within, found.median_s)


def test_drift_is_measured_as_it_is():
    found = verdict(lambda t: (1 + 25e-6) * (t - 3300) + 3300)
    first, last = found.windows[0], found.windows[-1]
    slope = (last.delay_s - first.delay_s) / (last.film_s - first.film_s)
    assert slope == pytest.approx(25e-6, abs=0.5e-6)  # what was put in
