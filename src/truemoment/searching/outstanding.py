r"""How far a score stands out among all pieces of an index, for one sentence.

Cosines lie close together: 0.28 is high for one sentence and low for another. With the scores :math:`p` of all pieces
of 4 s of the index, a moment of score s stands out by

.. math:: z = \frac{s - \mathrm{median}(p)}{1.4826\,\mathrm{median}(|p - \mathrm{median}(p)|)}

The factor makes the spread that of a normal distribution (Hampel 1974). If all scores are equal, z is 0. The pieces are
those of the whole index, also if only some of its videos are searched; of a large index, some of each of many videos
(:attr:`~truemoment.searching.index.Index.piece_sample`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta

from truemoment.base.intervals import Floats
from truemoment.media.features.base import Frames
from truemoment.searching.index import Index

NORMAL = 1.4826
"""Standard deviation of a normal distribution per median absolute deviation."""

DECIMALS_OF_Z = 3

LEAST_SPREAD = 1e-9
"""Spreads up to this are rounding: the pieces do not differ."""

MOST_SCORE = 1e6
"""Size of scores and spreads that are read; those of cosines are 2 at most."""


@dataclass(frozen=True)
class Background:
    """Median of the scores of the pieces of an index for one sentence, and the spread of a normal distribution like it.

    Examples
    --------
    >>> around = Background.of(np.array([0.10, 0.11, 0.12, 0.13, 0.30]))
    >>> round(around.median, 2), round(around.spread, 4), around.z(0.30)
    (0.12, 0.0148, 12.141)
    >>> Background.of(np.array([0.2, 0.2])).z(0.2)
    0.0
    """

    median: Annotated[float, Meta(ge=-MOST_SCORE, le=MOST_SCORE)]
    spread: Annotated[float, Meta(ge=0, le=MOST_SCORE)]

    @classmethod
    def of(cls, scores: Floats) -> Background:
        """Return the background of scores (N,); without any, median and spread are 0."""
        if not len(scores):
            return cls(0.0, 0.0)
        median = float(np.median(scores))
        return cls(median, NORMAL * float(np.median(np.abs(scores - median))))

    def z(self, score: float) -> float:
        """Return how far a score stands out, in thousandths; 0 where the pieces do not differ."""
        if self.spread <= LEAST_SPREAD:
            return 0.0
        return round((score - self.median) / self.spread, DECIMALS_OF_Z) + 0.0  # so that -0 is 0


NO_BACKGROUND = Background(0.0, 0.0)
"""Where no score is discounted and z is not needed."""


def backgrounds(index: Index, sentence_vectors: Frames) -> list[Background]:
    """Return the background of each sentence (S, D) in an index."""
    return [Background.of(piece_scores(index, vector)) for vector in np.atleast_2d(sentence_vectors)]


def piece_scores(index: Index, sentence_vector: Frames) -> Floats:
    """Return the cosine of each piece of an index, or of its sample, with a sentence (D,), (N,)."""
    vector = np.asarray(sentence_vector, dtype=np.float32).ravel()
    length = float(np.linalg.norm(vector))
    direction = vector / length if length > 0 else vector
    return np.asarray(index.piece_sample @ direction, dtype=np.float64)
