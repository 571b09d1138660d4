r"""SecondsF1: F1 of the whole seconds that the answers and the references cover.

Convention
    Starts and ends are rounded to whole seconds, halves to the even one; overlapping moments are merged. All ranks
    count. Without a reference and with an abstention the set is right: 1. The protocol's times must be seconds.

Formula
    :math:`2 |P \cap G| / (|P| + |G|)` with P the seconds of the answers and G those of the references; 0 if both are
    empty.

Source
    E.T. Bench (Liu et al. 2024), task EVS: ``evs_eval`` of evaluation/compute_metrics.py, read in copies in public
    repositories. There, seconds after the 1,000th do not count, and answers without a time leave the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truemoment.base.papers import ET_BENCH, Paper
from truemoment.evaluation.measures.base import Needs, Overlaps, Statistic
from truemoment.evaluation.measures.set_iou import seconds_of_unions


@dataclass(frozen=True)
class SecondsF1:
    """``SecondsF1`` over all references of a query.

    Examples
    --------
    >>> str(SecondsF1())
    'SecondsF1'
    """

    needs: ClassVar[Needs] = "sets"
    needs_duration: ClassVar[bool] = False
    depth: ClassVar[None] = None
    ref: ClassVar[None] = None
    is_of_sets: ClassVar[bool] = True
    papers: ClassVar[tuple[Paper, ...]] = (ET_BENCH,)

    def __str__(self) -> str:
        return "SecondsF1"

    def per_unit(self, overlaps: Overlaps) -> Statistic:
        """Return each query's F1, weight 1."""
        start, end = (np.where(overlaps.filled, np.round(table), np.nan) for table in (overlaps.start, overlaps.end))
        refs = overlaps.references
        shared, answered, wanted = seconds_of_unions(start, end, np.round(refs.start), np.round(refs.end))
        total = answered + wanted
        return Statistic(2 * shared / np.where(total > 0, total, 1), np.ones(len(total)))
