r"""mIoP and R@n,IoP=m: how much of an answer lies inside a reference.

Convention
    IoP divides the intersection by the length of the answer, so parts of the reference that are missed cost nothing.
    An answer of no length has 1 inside a reference (its ends included) and 0 elsewhere; one that ends before it starts
    has 0. With several references the largest IoP counts, whichever reference has the largest IoU.

Formula
    :math:`\mathrm{IoP}(p, g) = |p \cap g| / |p|`; mIoP is the mean of the first answer's, and R@n,IoP=m the share of
    queries with an IoP that reaches m among the first n.

Source
    NExT-GQA (Xiao et al. 2024): doc-doc/NExT-GQA at 63772e0, code/TempGQA/eval_ground.py lines 3-26 and 29-85, for the
    first answer (mIoP, TIoP@0.3, TIoP@0.5). Ranks beyond 1: yeliudev/VideoMind, videomind/eval/eval_auto.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truemoment.base.boundary.keyed import print_number
from truemoment.base.errors import MeasureError
from truemoment.base.intervals import Floats
from truemoment.base.papers import NEXT_GQA, Paper
from truemoment.evaluation.measures.base import Needs, Overlaps, Statistic, checked_rank, checked_threshold, suffix
from truemoment.evaluation.references import ReferenceRule


@dataclass(frozen=True)
class MeanIoP:
    """``mIoP``: mean IoP of the first answer, with the reference rule `ref`."""

    ref: ReferenceRule | None = None

    needs: ClassVar[Needs] = "overlaps"
    needs_duration: ClassVar[bool] = False
    depth: ClassVar[int] = 1
    papers: ClassVar[tuple[Paper, ...]] = (NEXT_GQA,)

    def __str__(self) -> str:
        return f"mIoP{suffix(self.ref)}"

    def per_unit(self, overlaps: Overlaps) -> Statistic:
        """Return the first answer's IoP, weight 1."""
        first = best_inside(overlaps, 1)
        return Statistic(first, np.ones(len(first)))


@dataclass(frozen=True)
class RecallIoP:
    """``R@n,IoP=m``: a hit by IoP at the threshold `iop` among the first `n` answers.

    Examples
    --------
    >>> str(RecallIoP(1, 0.5))
    'R@1,IoP=0.5'
    """

    n: int
    iop: float
    ref: ReferenceRule | None = None

    needs: ClassVar[Needs] = "overlaps"
    needs_duration: ClassVar[bool] = False
    papers: ClassVar[tuple[Paper, ...]] = (NEXT_GQA,)

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        checked_rank(self.n, "R")
        checked_threshold(self.iop, "R", "IoP")

    def __str__(self) -> str:
        return f"R@{self.n},IoP={print_number(self.iop)}{suffix(self.ref)}"

    @property
    def depth(self) -> int:
        """Number of answers used."""
        return self.n

    def per_unit(self, overlaps: Overlaps) -> Statistic:
        """Return 1 where a unit has a hit, else 0, weight 1."""
        best = best_inside(overlaps, self.n)
        hits = overlaps.hit(best, self.iop) & (overlaps.n_predicted > 0)
        return Statistic(hits.astype(np.float64), np.ones(len(hits)), best - self.iop)


def best_inside(overlaps: Overlaps, n: int) -> Floats:
    """Return the largest share of one of the first n answers that lies inside a reference, (U,); 0 without any."""
    refs = overlaps.references
    if refs.rule in ("merged", "pooled"):
        raise MeasureError(f"IoP: references that are {refs.rule} have no moments; choose another [ref=...]")
    start, end = (table[:, :n, None].astype(np.float64) for table in (overlaps.start, overlaps.end))
    ref_start, ref_end = refs.start[:, None, :], refs.end[:, None, :]  # NaN beyond the last: no comparison is true
    shared = np.minimum(end, ref_end) - np.maximum(start, ref_start)
    length = end - start
    point_inside = (length == 0) & (shared == 0)
    share = np.where(length > 0, np.maximum(shared, 0) / np.where(length > 0, length, 1), point_inside)
    share = np.where(overlaps.filled[:, :n, None], np.nan_to_num(share, nan=0.0), 0.0)
    return np.asarray(share.max(axis=(1, 2), initial=0.0))
