r"""A discount for short moments, so that moments of different length have comparable scores.

The mean of a few frames varies more than the mean of many. The highest of all scores is therefore that of a short piece
of the right moment, and not that of the moment. A moment of n seconds with the cosine c of mean pooling
(:mod:`truemoment.searching.scoring`) gets the score

.. math:: s = c - \frac{\max(c - b,\ 0)}{1 + (n / h)^2}

with b, the median score of the pieces of the index for the sentence (:mod:`truemoment.searching.median_scores`), and
h = 0.5 s. Of what it scores above the median, a moment loses a half at 0.5 s, a fifth at 1 s, 6 % at 2 s and 1.5 % at
4 s. No score is larger than the cosine, and h = 0 is mean pooling as MAD has it.

What this does: the sum of the excess over b grows with each frame that shows the same, and stops where frames show
something else. The best moment ends where the next frames would lower its mean by more than the discount falls. The
median is that of the index, not of the video, because in a short video the moment can be all there is.

h and the exponent were chosen on 40 rendered and 6 simulated films; the film of the demo is not among them. The
documentation of searching and ``benchmarks/moment_length.py`` have the figures.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from truemoment.base.intervals import Ints

HALF_S = 0.5
"""Length at which a moment loses half of what it scores above the median, seconds; 0 for none (MAD)."""

Scores = npt.NDArray[np.float64]


def discount(cosine: Scores, median: Scores, length_s: npt.NDArray[Any], half_s: float = HALF_S) -> Scores:
    """Return the scores of moments with the discount for their length, (S, P).

    Parameters
    ----------
    cosine : (S, P)
        Cosine of the mean frame of each moment with each sentence.
    median : (S,)
        Median score of the pieces of the index for each sentence.
    length_s : (P,)
        Length of each moment, seconds.
    half_s
        h.

    Examples
    --------
    >>> discount(np.array([[0.5, 0.46, 0.1]]), np.array([0.2]), np.array([0.5, 2.0, 2.0])).round(4).tolist()
    [[0.35, 0.4447, 0.1]]
    """
    lost = half_s**2 / (half_s**2 + length_s**2)
    return cosine - lost * np.maximum(cosine - median[:, None], 0.0)


def lengths_s(first: Ints, end: Ints, fps: float) -> npt.NDArray[np.float64]:
    """Return the lengths of spans of frames, seconds."""
    return (end - first) / fps
