r"""CoverF1,IoU=m: F1 of answers that reach a reference and references that are reached.

Convention
    An answer is right if its IoU with any reference reaches m, and a reference is found if any answer reaches it; no
    pairing, so one long answer may find two references and two answers may share one. ``F1`` pairs one to one. All
    ranks count. Without a reference and with an abstention the set is right: 1.

Formula
    :math:`2 P R / (P + R)` with P the share of right answers, R the share of found references; 0 if both are 0.

Source
    E.T. Bench (Liu et al. 2024), task TAL: ``tal_eval`` of evaluation/compute_metrics.py in its data set
    (PolyU-ChenLab/ETBench), read in copies in public repositories. Its figure F1 is the mean over
    m = 0.1, 0.3, 0.5 and 0.7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truemoment.base.boundary.keyed import print_number
from truemoment.base.papers import ET_BENCH, Paper
from truemoment.evaluation.measures.base import Needs, Overlaps, Statistic, checked_threshold


@dataclass(frozen=True)
class CoveredF1:
    """``CoverF1,IoU=m`` over all references of a query.

    Examples
    --------
    >>> str(CoveredF1(0.5))
    'CoverF1,IoU=0.5'
    """

    iou: float

    needs: ClassVar[Needs] = "sets"
    needs_duration: ClassVar[bool] = False
    depth: ClassVar[None] = None
    ref: ClassVar[None] = None
    is_of_sets: ClassVar[bool] = True
    papers: ClassVar[tuple[Paper, ...]] = (ET_BENCH,)

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        checked_threshold(self.iou, "CoverF1")

    def __str__(self) -> str:
        return f"CoverF1,IoU={print_number(self.iou)}"

    def per_unit(self, overlaps: Overlaps) -> Statistic:
        """Return each query's F1, weight 1."""
        counts = ~np.isnan(overlaps.references.start)
        iou = np.stack(overlaps.iou_by_reference, axis=2)
        reaches = overlaps.hit(iou, self.iou) & overlaps.filled[:, :, None] & counts[:, None, :]
        n_references = counts.sum(axis=1)
        precision = reaches.any(axis=2).sum(axis=1) / np.maximum(overlaps.n_predicted, 1)
        recall = reaches.any(axis=1).sum(axis=1) / np.maximum(n_references, 1)
        total = precision + recall
        value = np.where(total > 0, 2 * precision * recall / np.where(total > 0, total, 1), 0.0)
        nothing = (overlaps.n_predicted == 0) & (n_references == 0)
        return Statistic(np.where(nothing, 1.0, value), np.ones(len(value)))
