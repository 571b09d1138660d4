r"""mR@k, mR@k,IoU=m and mIoU@k: how many of a query's moments its first k answers find.

Convention
    Each answer in turn takes the free reference of largest IoU, the first of equal ones; it finds it if the IoU reaches
    m. An answer that finds none takes none. A query counts if it has at least k references *and* at least k answers, so
    a method that gives fewer answers leaves it out. mIoU@k is the mean IoU of the k pairs, without a threshold.

Formula
    With :math:`M_q(m)` the number of references found, :math:`mR@k = \frac{1}{|Q_k|} \sum_{q \in Q_k} \frac{1}{14}
    \sum_{m = 0.3, 0.35, \ldots, 0.95} M_q(m) / k`.

Source
    QV-M2: Zhuo-Cao/QV-M2 at d5d4038, standalone_eval/eval.py lines 105-224. Its Generalized_mAP is the mean of the
    average precision over all queries, which is ``mAP``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truemoment.base.boundary.keyed import print_number
from truemoment.base.intervals import Floats
from truemoment.base.papers import QV_M2, Paper
from truemoment.evaluation.measures.base import Needs, Overlaps, Statistic, checked_rank, checked_threshold

THRESHOLDS = tuple(round(0.3 + 0.05 * i, 2) for i in range(14))
"""The thresholds of mR@k."""


@dataclass(frozen=True)
class MomentRecall:
    """``mR@k``, or ``mR@k,IoU=m`` at one threshold; over all references of a query.

    Examples
    --------
    >>> str(MomentRecall(2)), str(MomentRecall(3, 0.5))
    ('mR@2', 'mR@3,IoU=0.5')
    """

    k: int
    iou: float | None = None

    needs: ClassVar[Needs] = "sets"
    needs_duration: ClassVar[bool] = False
    ref: ClassVar[None] = None
    undefined: ClassVar[str] = "no query has as many references and answers"
    papers: ClassVar[tuple[Paper, ...]] = (QV_M2,)

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        checked_rank(self.k, "mR")
        if self.iou is not None:
            checked_threshold(self.iou, "mR")

    def __str__(self) -> str:
        return f"mR@{self.k}" + ("" if self.iou is None else f",IoU={print_number(self.iou)}")

    @property
    def depth(self) -> int:
        """Number of answers used."""
        return self.k

    def per_unit(self, overlaps: Overlaps) -> Statistic:
        """Return the share of k references found; weight 0 with fewer than k references or answers."""
        thresholds = THRESHOLDS if self.iou is None else (self.iou,)
        takes = [paired(overlaps, self.k, threshold) >= 0 for threshold in thresholds]
        return _of_counted(overlaps, self.k, np.mean(takes, axis=(0, 2)))


@dataclass(frozen=True)
class MeanIoUOfSeveral:
    """``mIoU@k``: mean IoU of the first `k` answers, each with a reference of its own.

    Examples
    --------
    >>> str(MeanIoUOfSeveral(2))
    'mIoU@2'
    """

    k: int

    needs: ClassVar[Needs] = "sets"
    needs_duration: ClassVar[bool] = False
    ref: ClassVar[None] = None
    undefined: ClassVar[str] = MomentRecall.undefined
    papers: ClassVar[tuple[Paper, ...]] = (QV_M2,)

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        checked_rank(self.k, "mIoU")

    def __str__(self) -> str:
        return f"mIoU@{self.k}"

    @property
    def depth(self) -> int:
        """Number of answers used."""
        return self.k

    def per_unit(self, overlaps: Overlaps) -> Statistic:
        """Return the mean IoU of the pairs; weight 0 with fewer than k references or answers."""
        return _of_counted(overlaps, self.k, np.maximum(paired(overlaps, self.k, None), 0).mean(axis=1))


def _of_counted(overlaps: Overlaps, k: int, value: Floats) -> Statistic:
    n_references = (~np.isnan(overlaps.references.start)).sum(axis=1)
    counts = ((n_references >= k) & (overlaps.n_predicted >= k)).astype(np.float64)
    return Statistic(value * counts, counts)


def paired(overlaps: Overlaps, k: int, threshold: float | None) -> Floats:
    """Return the IoU of each of the first k answers with the reference that it takes, (U, k); -1 if it takes none.

    A threshold of None lets an answer take any free reference.
    """
    iou = np.stack([table[:, :k] for table in overlaps.iou_by_reference], axis=2).astype(np.float64)
    usable = ~np.isnan(overlaps.references.start)
    taken, rows = np.full((len(iou), k), -1.0), np.arange(len(iou))
    for rank in range(iou.shape[1]):
        best = np.argmax(np.where(usable, iou[:, rank], -1.0), axis=1)
        value = iou[rows, rank, best]
        takes = usable[rows, best] & overlaps.filled[:, rank]
        if threshold is not None:
            takes &= overlaps.hit(value, threshold)
        taken[:, rank] = np.where(takes, value, -1.0)
        usable[rows, best] &= ~takes
    return taken
