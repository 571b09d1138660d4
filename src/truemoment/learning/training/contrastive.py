"""Batches for a contrastive loss: each clip once, and no sentence twice.

A batch with two texts of one clip, or one sentence twice, would call a right answer wrong.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from truemoment.base.intervals import Ints


def contrastive_batches(order: Ints, clip: Ints, text: Ints, size: int) -> Ints:
    """Return pairs in batches of `size` with distinct clips and texts, from a drawn order.

    Each pair goes to the first open batch that has neither its clip nor its text. Batches that do not become full are
    left out, unless there is no full one: then the largest is the only batch.

    Parameters
    ----------
    order
        Pairs in a drawn order.
    clip, text : (P,)
        Clip and sentence of each pair, as numbers: equal sentences have one number.
    size
        Pairs of a batch.

    Examples
    --------
    >>> clip, text = np.array([0, 1, 2, 3]), np.array([0, 0, 1, 2])  # pairs 0 and 1 have one sentence
    >>> contrastive_batches(np.arange(4), clip, text, 2).tolist()
    [0, 2, 1, 3]
    """
    full: list[int] = []
    opened: list[_Open] = []
    for pair in order.tolist():
        its_clip, its_text = int(clip[pair]), int(text[pair])
        fitting = next((of for of in opened if its_clip not in of.clips and its_text not in of.texts), None)
        if fitting is None:
            fitting = _Open([], set(), set())
            opened.append(fitting)
        fitting.pairs.append(pair)
        fitting.clips.add(its_clip)
        fitting.texts.add(its_text)
        if len(fitting.pairs) == size:
            full += fitting.pairs
            opened = [of for of in opened if of is not fitting]
    if not full and opened:
        full = max((of.pairs for of in opened), key=len)
    return np.array(full, dtype=np.int64)


class _Open(NamedTuple):
    """A batch that is not full."""

    pairs: list[int]
    clips: set[int]
    texts: set[int]


def one_text_a_clip(order: Ints, clip: Ints) -> Ints:
    """Return the first pair of each clip in a drawn order, in that order."""
    _, first = np.unique(clip[order], return_index=True)
    return order[np.sort(first)]
