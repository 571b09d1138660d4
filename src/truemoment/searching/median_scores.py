"""The median score of the pieces of an index, for a sentence: what it has in common with every picture.

The pieces are those of the whole index, also if only some of its videos are searched; of a large index, some of each of
many videos (:attr:`~truemoment.searching.index.Index.piece_sample`).
"""

from __future__ import annotations

import numpy as np

from truemoment.media.features.base import Frames
from truemoment.searching.index import Index
from truemoment.searching.unit_vectors import unit


def median_scores(index: Index, sentence_vectors: Frames) -> list[float]:
    """Return the median cosine of the pieces of an index with each sentence (S, D) or (D,)."""
    directions = unit(np.atleast_2d(np.asarray(sentence_vectors, dtype=np.float32)))
    return [float(np.median(np.asarray(index.piece_sample @ direction, dtype=np.float64))) for direction in directions]
