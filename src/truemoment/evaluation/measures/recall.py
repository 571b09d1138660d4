r"""R@n,IoU=m: the share of queries with a hit among the first n answers.

Convention
    A hit is an IoU that reaches m; the protocol says whether "reaches" means ``>`` (the papers) or
    ``>=`` and how ties are decided. A query without answers has no hit.

Formula
    :math:`R@n,m = \frac{1}{N_q} \sum_i r(n, m, q_i)` with
    :math:`r(n, m, q_i) = \mathbb{1}\{\max_{1 \le j \le n} \mathrm{IoU}(p_j, g_i) > m\}`.

Source
    Gao et al. 2017 propose it for the task, as AxIoU's section 2 states. Closer Look (Yuan et al. 2021), eq. 1; AxIoU
    (Togashi et al. 2022), eq. 1. The option ``length`` keeps only references of one QVHighlights length class, and
    queries that have one (moment_detr's ``MR-R1`` by range).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truemoment.base.boundary.keyed import print_number
from truemoment.base.intervals import Bools
from truemoment.base.papers import TALL, Paper
from truemoment.evaluation.measures.base import (
    Needs,
    Overlaps,
    Statistic,
    checked_rank,
    checked_threshold,
    in_length_class,
    seconds_of,
    suffix,
)
from truemoment.evaluation.references import ReferenceRule


@dataclass(frozen=True)
class Recall:
    """``R@n,IoU=m``, with the options ``length=short|middle|long`` and ``[ref=...]``.

    Parameters
    ----------
    n
        Number of answers used, 1 or more.
    iou
        Threshold m in [0, 1].
    length
        Class of the references that count: ``short`` (up to 10 s), ``middle`` (up to 30 s) or ``long`` (up to 150 s);
        None for all.
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
    papers: ClassVar[tuple[Paper, ...]] = (TALL,)

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
        """Number of answers used."""
        return self.n

    def per_unit(self, overlaps: Overlaps) -> Statistic:
        """Return 1 where a unit has a hit, else 0; weight 0 where no reference is in the length class."""
        answered = overlaps.n_predicted > 0
        if self.length is None:
            best = overlaps.at(overlaps.best_iou, self.n)
            counts: Bools = np.ones(len(best), dtype=bool)
        else:
            in_class = in_length_class(overlaps.references, self.length)
            tables = [np.where(in_class[:, r : r + 1], iou, 0) for r, iou in enumerate(overlaps.iou_by_reference)]
            best = np.maximum.reduce([table[:, : self.n].max(axis=1, initial=0) for table in tables])
            counts = np.asarray(in_class.any(axis=1))
        hits = overlaps.hit(best, self.iou) & answered & counts
        return Statistic(hits.astype(np.float64), counts.astype(np.float64), best - self.iou)
