r"""R@n,IoU=m: the share of queries with a hit among the first n answers.

Convention
    A hit is an IoU that reaches m; the protocol says whether "reaches" means ``>`` (the papers) or
    ``>=`` and how ties are decided. A query without answers has no hit.

Formula
    :math:`R@n,m = \frac{1}{N_q} \sum_i r(n, m, q_i)` with
    :math:`r(n, m, q_i) = \mathbb{1}\{\max_{1 \le j \le n} \mathrm{IoU}(p_j, g_i) > m\}`.

Source
    Closer Look (Yuan et al. 2021), eq. 1; AxIoU (Togashi et al. 2022), eq. 1. The option ``length``
    keeps only references of one QVHighlights length class, and queries that have one (moment_detr's
    ``MR-R1`` by range).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truemoment.intervals import Bools, Floats
from truemoment.measures.base import (
    HitRule,
    Needs,
    Overlaps,
    Statistic,
    checked_rank,
    checked_threshold,
    print_number,
    seconds_of,
    suffix,
)
from truemoment.references import ReferenceRule


@dataclass(frozen=True)
class Recall:
    """``R@n,IoU=m``, with the options ``length=short|middle|long`` and ``[ref=...]``.

    Parameters
    ----------
    n
        Answers looked at, 1 or more.
    iou
        Threshold m in [0, 1].
    length
        Length class of the references that count.
    ref
        Reference rule; None for the protocol's.

    Examples
    --------
    >>> str(Recall(5, 0.7))
    'R@5,IoU=0.7'
    """

    n: int
    iou: float
    length: str | None = None
    ref: ReferenceRule | None = None

    needs: ClassVar[Needs] = "overlaps"
    needs_duration: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        checked_rank(self.n, "R")
        checked_threshold(self.iou, "R")
        if self.length is not None:
            seconds_of(self.length)

    def __str__(self) -> str:
        length = "" if self.length is None else f",length={self.length}"
        return f"R@{self.n},IoU={print_number(self.iou)}{length}{suffix(self.ref)}"

    @property
    def depth(self) -> int:
        """Answers looked at."""
        return self.n

    @property
    def threshold(self) -> float:
        """The threshold m."""
        return self.iou

    def per_unit(self, overlaps: Overlaps) -> Statistic:
        """Return 1 where a unit has a hit, else 0; weight 0 where no reference is in the length class."""
        if self.length is None:
            hits = recall_at(overlaps.best_iou, self.n, self.iou, overlaps.hit)
            return Statistic(hits.astype(np.float64), np.ones(len(hits)))
        refs = overlaps.references
        low, high = seconds_of(self.length)
        in_class = (refs.end - refs.start > low) & (refs.end - refs.start <= high)
        tables = [np.where(in_class[:, r : r + 1], iou, 0) for r, iou in enumerate(overlaps.iou_by_reference)]
        best = np.maximum.reduce([table[:, : self.n].max(axis=1, initial=0) for table in tables])
        counts = in_class.any(axis=1)
        return Statistic(
            (overlaps.hit(best, self.iou) & counts).astype(np.float64), np.asarray(counts, dtype=np.float64)
        )


def recall_at(best_iou: Floats, n: int, threshold: float, hit: HitRule) -> Bools:
    """Whether the best of the first n answers reaches the threshold.

    Parameters
    ----------
    best_iou : (Q, K)
        Best IoU among the first k answers. A list shorter than n keeps its last best.

    Returns
    -------
    bool array, shape (Q,)

    Examples
    --------
    >>> recall_at(np.array([[0.2, 0.6], [0.5, 0.5]]), 2, 0.5, HitRule(">"))
    array([ True, False])
    """
    return hit(best_iou[:, min(n, best_iou.shape[1]) - 1], threshold)
