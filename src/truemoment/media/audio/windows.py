"""Windows of a track found in a whole film, by their bands."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from truemoment.base.intervals import Floats, Ints
from truemoment.media.audio.bands import COARSE_PER_S
from truemoment.media.audio.correlation import good_length, parabola_shift
from truemoment.media.audio.reading import Samples

WINDOW_S = 30.0
N_CANDIDATES = 5
CANDIDATES_APART_S = 1.0


class Candidates(NamedTuple):
    """The best places of windows in the film.

    Parameters
    ----------
    start_s : (W,)
        Start of each window on the stretched track.
    delay_s, score : (W, N_CANDIDATES)
        Delays, the best first, and their scores from -1 to 1.
    """

    start_s: Floats
    delay_s: Floats
    score: Floats


class FilmSearch:
    """A film's bands, transformed once, in which windows are searched.

    Parameters
    ----------
    bands : (N_BANDS, N)
        Of :func:`~truemoment.media.audio.bands.coarse_bands`.
    """

    def __init__(self, bands: Samples) -> None:
        self.n_window = round(WINDOW_S * COARSE_PER_S)
        self.n_film = bands.shape[1]
        # A window may lie partly before the film's start or after its end.
        self.n = good_length(self.n_film + 2 * self.n_window)
        self.spectrum = np.fft.rfft(bands, self.n, axis=1)
        self.power = np.concatenate([[0.0], np.cumsum(np.sum(np.square(bands), axis=0, dtype=np.float64))])
        self.lags: Ints = np.arange(-self.n_window // 2, self.n_film - self.n_window // 2)

    def scores(self, window: Samples) -> Floats:
        """Return how well a window, (N_BANDS, at most n_window), fits at each of `lags`: from -1 to 1."""
        product = np.einsum("bf,bf->f", np.conjugate(np.fft.rfft(window, self.n, axis=1)), self.spectrum)
        dots = np.fft.irfft(product, self.n)[self.lags]  # negative lags wrap around to the end
        low, high = (np.clip(self.lags + n, 0, self.n_film) for n in (0, window.shape[1]))
        norm = np.sqrt((self.power[high] - self.power[low]) * np.sum(np.square(window)))
        return np.asarray(np.where(norm > 1e-6, dots / np.maximum(norm, 1e-6), 0.0))

    def candidates(
        self, track: Samples, starts: Ints, *, n_window: int | None = None, film: tuple[int, int] | None = None
    ) -> Candidates:
        """Return the best places of windows of a stretched track's bands.

        Parameters
        ----------
        starts
            First frames of the windows.
        n_window
            Length of a window in frames, if it is shorter.
        film
            First and last frame of the part of the film in which at least half of a window lies; all if it is None.
        """
        n_window = n_window or self.n_window
        low, high = film or (0, self.n_film)
        outside = (self.lags < low - n_window // 2) | (self.lags > high - n_window // 2)

        def of_window(start: int) -> tuple[list[float], list[float]]:
            scores = self.scores(track[:, start : start + n_window])
            scores[outside] = -1
            delays, window_scores = [], []
            min_distance = round(CANDIDATES_APART_S * COARSE_PER_S)
            for _ in range(N_CANDIDATES):
                at = int(np.argmax(scores))
                window_scores.append(float(scores[at]))
                delays.append((self.lags[at] + parabola_shift(scores, at) - start) / COARSE_PER_S)
                scores[max(0, at - min_distance) : at + min_distance + 1] = -1
            return delays, window_scores

        with ThreadPoolExecutor(2) as pool:
            rows = list(pool.map(of_window, starts.tolist()))
        delays, scores = (np.array([row[k] for row in rows]).reshape(len(rows), N_CANDIDATES) for k in (0, 1))
        return Candidates(starts / COARSE_PER_S, delays, scores)


def window_starts(n_frames: int, n_window: int, step: int) -> Ints:
    """Return the first frames of windows every `step` frames, the last one at the end."""
    if n_frames <= n_window:
        return np.zeros(1, np.int64)
    return np.unique(np.append(np.arange(0, n_frames - n_window, step), n_frames - n_window))
