"""The speed of a track: the candidate at which most of its windows are found in the film."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.media.audio.bands import stretched_bands
from truemoment.media.audio.reading import Samples
from truemoment.media.audio.windows import FilmSearch

RATES = ("1", "25/24", "24/25", "25/23.976", "23.976/25")
"""Film seconds per track second: PAL speed-up and its reverse. Speeds 0.1 % apart fit the same windows."""

N_WINDOWS = 24
GOOD_SCORE = 0.5


class RateScore(NamedTuple):
    """How well a speed fits.

    Parameters
    ----------
    name, rate
        The candidate as written, and film seconds per track second.
    median
        Median of the windows' best scores.
    share
        Share of windows with a score above 0.5.
    """

    name: str
    rate: float
    median: float
    share: float


def parse_rate(text: str) -> float:
    """Return a speed written as a number or a quotient.

    Examples
    --------
    >>> parse_rate("25/24") == 25 / 24, parse_rate("25/23.976")
    (True, 1.0427093760427093)
    """
    try:
        upper, _, lower = text.partition("/")
        rate = float(Fraction(upper.strip()) / Fraction(lower.strip() or "1"))
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"got the rate {text!r}, expected a number or a quotient such as 25/24") from None
    if not 0.5 <= rate <= 2:
        raise UsageError(f"got the rate {text}, expected 0.5 to 2 film seconds per track second")
    return rate


def score_rates(search: FilmSearch, track: Samples, rates: Sequence[str] = RATES) -> list[RateScore]:
    """Return how well each speed fits, the best first: by share of good windows + median.

    Parameters
    ----------
    search
        The film.
    track : (N_BANDS, N)
        Coarse bands of the track.
    """
    scores = []
    for name in rates:
        rate = parse_rate(name)
        bands = stretched_bands(track, rate)
        last = max(0, bands.shape[1] - search.n_window)
        starts = np.unique(np.linspace(0, last, N_WINDOWS).astype(np.int64))
        best = search.candidates(bands, starts).score[:, 0]
        scores.append(RateScore(name, rate, float(np.median(best)), float(np.mean(best > GOOD_SCORE))))
    return sorted(scores, key=lambda score: -(score.share + score.median))
