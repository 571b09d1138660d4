r"""Cross-correlation of two sounds in blocks, and its peak.

.. math:: c(k) = \sum_t \mathrm{track}(t) \, \mathrm{film}(t + k)

Its maximum is the delay of eq. 1 of MAD (Soldan et al. 2022), with the sign of :mod:`truemoment.media.audio.alignment`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.media.audio.reading import Samples
from truemoment.media.audio.recording import Sound

BLOCK = 1 << 22
"""Samples of the track in a block."""

APART_S = 0.02
"""A second peak lies at least so far from the first."""

THREADS = 2
"""Transforms at a time: each takes three times the memory of a block."""


def good_length(n: int) -> int:
    """Return the least number from `n` on that is a product of 2, 3 and 5: its transform is quick.

    Examples
    --------
    >>> good_length(7), good_length(1001), good_length(8_034_304)
    (8, 1024, 8100000)
    """
    best = 1 << max(0, n - 1).bit_length()
    fives = 1
    while fives < best:
        threes = fives
        while threes < best:
            rest = -(-n // threes)
            best = min(best, threes << max(0, rest - 1).bit_length())
            threes *= 3
        fives *= 5
    return best


def correlate(film: Sound, track: Sound, most_lag: int, *, block: int = BLOCK) -> Samples:
    """Return the cross-correlation for lags from -most_lag to most_lag, (2 most_lag + 1,), as one transform would.

    Blocks of the track are correlated with the part of the film that their lags reach; the products are added as
    spectra and transformed back once, so that memory does not depend on the duration.

    Parameters
    ----------
    film, track
        Sounds of the same sampling rate.
    most_lag, block
        Samples.
    """
    n_track = round(track.duration_s * track.rate_hz)
    block = min(block, max(n_track, 1))
    n = good_length(block + 2 * most_lag)

    def product(low: int) -> Samples:
        of_track = np.fft.rfft(track.between(low, min(low + block, n_track)), n)
        of_film = np.fft.rfft(film.between(low - most_lag, low + block + most_lag), n)
        return np.multiply(np.conjugate(of_track, out=of_track), of_film, out=of_film)

    total = np.zeros(n // 2 + 1, np.complex64)
    with ThreadPoolExecutor(THREADS) as pool:
        starts = range(0, n_track, block)
        for at in range(0, len(starts), THREADS):
            for part in pool.map(product, starts[at : at + THREADS]):
                total += part
    return np.asarray(np.fft.irfft(total, n)[: 2 * most_lag + 1], np.float32)


class Peak(NamedTuple):
    """The largest value of a correlation.

    Parameters
    ----------
    position
        Where it is, between samples.
    value
        Its value there.
    ratio
        The value divided by the next largest one that is not near; infinite where all of those are 0 or below.
    """

    position: float
    value: float
    ratio: float


def peak_of(correlation: Samples | Floats, min_distance: int) -> Peak:
    """Return the largest value of a correlation, (N,), its place by a parabola through its neighbours.

    Parameters
    ----------
    min_distance
        Distance in samples; nearer values are part of the same peak.
    """
    at = int(np.argmax(correlation))
    value = float(correlation[at])
    rest = np.concatenate([correlation[: max(0, at - min_distance + 1)], correlation[at + min_distance :]])
    second = float(rest.max(initial=0.0))
    return Peak(at + parabola_shift(correlation, at), value, value / second if second > 0 else np.inf)


def parabola_shift(values: Samples | Floats, at: int) -> float:
    """Return where a parabola through three values has its maximum, from -0.5 to 0.5 about the middle one."""
    if not 0 < at < len(values) - 1:
        return 0.0
    before, centre, after = (float(value) for value in values[at - 1 : at + 2])
    bend = before - 2 * centre + after
    return float(np.clip(0.5 * (before - after) / bend, -0.5, 0.5)) if bend < 0 else 0.0
