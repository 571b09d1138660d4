r"""How far a score stands out among all pieces of the videos that were searched, for one sentence.

Cosines lie close together: 0.28 is high for one sentence and low for another. With the scores :math:`p` of all pieces
of 4 s of the searched videos, a moment of score s stands out by

.. math:: z = \frac{s - \mathrm{median}(p)}{1.4826\,\mathrm{median}(|p - \mathrm{median}(p)|)}

The factor makes the spread that of a normal distribution (Hampel 1974). If all scores are equal, z is 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from truemoment.features.base import Frames
from truemoment.intervals import Floats
from truemoment.searching.index import Index

NORMAL = 1.4826
"""Standard deviation of a normal distribution per median absolute deviation."""

PIECES_AT_ONCE = 4096
"""Pieces that are converted from half precision at a time."""


@dataclass(frozen=True)
class Background:
    """Scores of all pieces for one sentence: their median, and the spread of a normal distribution like theirs.

    Examples
    --------
    >>> around = Background.of(np.array([0.10, 0.11, 0.12, 0.13, 0.30]))
    >>> round(around.median, 2), round(around.spread, 4), round(around.z(0.30), 1)
    (0.12, 0.0148, 12.1)
    >>> Background.of(np.array([0.2, 0.2])).z(0.2)
    0.0
    """

    median: float
    spread: float

    @classmethod
    def of(cls, scores: Floats) -> Background:
        """Return the background of scores (N,); without any, median and spread are 0."""
        if not len(scores):
            return cls(0.0, 0.0)
        median = float(np.median(scores))
        return cls(median, NORMAL * float(np.median(np.abs(scores - median))))

    def z(self, score: float) -> float:
        """Return how far a score stands out; 0 where the pieces do not differ."""
        return (score - self.median) / self.spread if self.spread > 0 else 0.0


def piece_scores(index: Index, video_ids: Iterable[str], sentence_vector: Frames) -> Floats:
    """Return the cosine of each piece of videos with a sentence (D,), of all videos together, (N,)."""
    vector = np.asarray(sentence_vector, dtype=np.float32).ravel()
    length = float(np.linalg.norm(vector))
    direction = vector / length if length > 0 else vector
    parts = [
        pieces[low : low + PIECES_AT_ONCE].astype(np.float32) @ direction
        for pieces in map(index.pieces, video_ids)
        for low in range(0, len(pieces), PIECES_AT_ONCE)
    ]
    return np.concatenate(parts).astype(np.float64) if parts else np.zeros(0)
