"""RightPlaces of the right clip among all clips, and of the right text among all texts, without an N x N matrix.

Similarities are computed in blocks of texts. Of each text only two counts are kept: the clips whose similarity is
larger than that of its own clip, and the others whose similarity is equal. Ties are therefore decided by a measure,
not by the order of a sort.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from truemoment.base.errors import InputError
from truemoment.base.intervals import Ints
from truemoment.media.features.base import Frames

BLOCK = 1024
"""Texts of a block of similarities."""


@dataclass(frozen=True, eq=False)
class RightPlaces:
    """Where the right item lies in each of Q rankings.

    Parameters
    ----------
    greater, equal : (Q,)
        Number of wrong items with a larger similarity than the right one, and with an equal one.
    n_items
        Number of ranked items.
    """

    greater: Ints
    equal: Ints
    n_items: int


@dataclass(frozen=True, eq=False)
class Similarities:
    """Similarities of T texts with N clips, computed in blocks of texts.

    Parameters
    ----------
    block
        Returns the similarities (B, N) of the texts of a slice; the same values each time.
    n_texts, n_clips
        T and N.
    """

    block: Callable[[slice], Frames]
    n_texts: int
    n_clips: int

    @classmethod
    def of_vectors(cls, texts: Frames, clips: Frames) -> Similarities:
        """Return cosines of text vectors (T, D) and clip vectors (N, D), whose length is 1 or 0."""
        if texts.shape[1] != clips.shape[1]:
            raise InputError(f"vectors of texts have {texts.shape[1]} dimensions, those of clips {clips.shape[1]}")
        turned = np.ascontiguousarray(clips.T)
        return cls(lambda rows: texts[rows] @ turned, len(texts), len(clips))

    @classmethod
    def of_matrix(cls, matrix: Frames) -> Similarities:
        """Return the similarities of a matrix (T, N)."""
        return cls(lambda rows: matrix[rows], *matrix.shape)

    def blocks(self) -> Iterator[tuple[slice, Frames]]:
        """Go through blocks of texts: (slice, similarities (B, N)).

        Raises
        ------
        InputError
            If a similarity is not finite.
        """
        for first in range(0, self.n_texts, BLOCK):
            rows = slice(first, min(first + BLOCK, self.n_texts))
            block = self.block(rows)
            if not np.isfinite(block).all():
                row, clip = np.argwhere(~np.isfinite(block))[0]
                raise InputError(
                    f"similarity of text {first + row} and clip {clip}: got {block[row, clip]}, expected a number"
                )
            yield rows, block


def places_both_ways(similarities: Similarities, clip_of: Ints, tie: float = 0.0) -> tuple[RightPlaces, RightPlaces]:
    """Return the places of each text's clip, (T,), and of each clip's best text, (C,).

    Parameters
    ----------
    clip_of : (T,)
        The right clip of each text. Only clips with a text are queries of the second result, in order.
    tie
        Largest difference of two similarities that counts as equal.
    """
    own = np.empty(similarities.n_texts, dtype=np.float32)
    greater = np.zeros(similarities.n_texts, dtype=np.int64)
    equal = np.zeros(similarities.n_texts, dtype=np.int64)
    for rows, block in similarities.blocks():
        own[rows] = block[np.arange(len(block)), clip_of[rows]]
        greater[rows], near = _count_above(block, own[rows, None], tie, axis=1)
        equal[rows] = near - 1  # its own clip
    to_clip = RightPlaces(greater, equal, similarities.n_clips)

    best = np.full(similarities.n_clips, -np.inf, dtype=np.float32)
    np.maximum.at(best, clip_of, own)
    larger = np.zeros(similarities.n_clips, dtype=np.int64)
    alike = np.zeros(similarities.n_clips, dtype=np.int64)
    own_alike = np.zeros(similarities.n_clips, dtype=np.int64)
    for rows, block in similarities.blocks():
        more, near = _count_above(block, best[None], tie, axis=0)
        larger, alike = larger + more, alike + near
        right = np.abs(own[rows] - best[clip_of[rows]]) <= tie
        own_alike += np.bincount(clip_of[rows][right], minlength=similarities.n_clips)
    asked = np.unique(clip_of)
    return to_clip, RightPlaces(larger[asked], (alike - own_alike)[asked], similarities.n_texts)


def _count_above(block: Frames, own: Frames, tie: float, axis: int) -> tuple[Ints, Ints]:
    """Count similarities above `own` by more than the tie, and those within it."""
    if tie == 0:
        return (block > own).sum(axis=axis), (block == own).sum(axis=axis)
    with np.errstate(invalid="ignore"):  # clips without a text: own is -inf
        difference = block - own
    return (difference > tie).sum(axis=axis), (np.abs(difference) <= tie).sum(axis=axis)
