r"""What ranking at random reaches: closed forms for a right item with m of M texts.

One right item among N: :math:`R@K = K / N`, expected median and mean rank :math:`(N + 1) / 2`. Of m right items among
M, the best is among the first K with :math:`1 - \binom{M - m}{K} / \binom{M}{K}`, and its expected rank is
:math:`(M + 1) / (m + 1)`. MRR of one right item is :math:`\sum_{r=1}^{N} 1 / (r N)`.
"""

from __future__ import annotations

import math

import numpy as np

from truemoment.base.intervals import Ints
from truemoment.searching.clips.measures import RetrievalMeasure


def chance_recall(n_items: int, n_right: Ints, k: int) -> float:
    """Return the expected R@K of Q queries with `n_right` right items each, (Q,).

    Examples
    --------
    >>> chance_recall(1000, np.array([1]), 5)
    0.005
    """
    values, counts = np.unique(n_right, return_counts=True)
    depth = min(k, n_items)
    missed = [math.prod((n_items - int(m) - i) / (n_items - i) for i in range(depth)) for m in values.tolist()]
    return float(np.round(1 - np.average(missed, weights=counts), 12))


def chance(measure: RetrievalMeasure, n_items: int, n_right: Ints) -> float:
    """Return what ranking at random is expected to reach; of MdR, the median of the expected ranks."""
    if measure.depth is not None:
        return chance_recall(n_items, n_right, measure.depth)
    if measure.statistic == "MRR":
        if (n_right != 1).any():
            return math.nan
        return float((1 / np.arange(1, n_items + 1)).sum() / n_items)
    expected = (n_items + 1) / (n_right + 1)
    return float(np.median(expected) if measure.statistic == "MdR" else expected.mean())
