r"""dR@n,IoU=m: recall whose hits are discounted by how far off their ends lie.

Convention
    Distances are fractions of the video's duration, each factor floored at 0 (a prediction may lie
    more than a whole video away from an end). The papers leave n > 1 open: we take the *best
    discounted hit* among the first n, so that dR never falls with n and never exceeds R. With
    several references a moment's discounted hit is its best over them, by the same rule.

Formula
    :math:`dR@n,m = \frac{1}{N_q} \sum_i r(n, m, q_i)\, \alpha^s_i\, \alpha^e_i` with
    :math:`\alpha^*_i = 1 - |p^*_i - g^*_i|`.

Source
    Closer Look (Yuan et al. 2021), section 4.3, eq. 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truemoment.base.boundary.keyed import print_number
from truemoment.base.papers import CLOSER_LOOK, Paper
from truemoment.evaluation.measures.base import Needs, Overlaps, Statistic, checked_rank, checked_threshold, suffix
from truemoment.evaluation.references import ReferenceRule


@dataclass(frozen=True)
class DiscountedRecall:
    """``dR@n,IoU=m``, for the first `n` answers, threshold `iou` and reference rule `ref`.

    Examples
    --------
    >>> str(DiscountedRecall(1, 0.5))
    'dR@1,IoU=0.5'
    """

    n: int
    iou: float
    ref: ReferenceRule | None = None

    needs: ClassVar[Needs] = "overlaps"
    needs_duration: ClassVar[bool] = True
    papers: ClassVar[tuple[Paper, ...]] = (CLOSER_LOOK,)

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        checked_rank(self.n, "dR")
        checked_threshold(self.iou, "dR")

    def __str__(self) -> str:
        return f"dR@{self.n},IoU={print_number(self.iou)}{suffix(self.ref)}"

    @property
    def depth(self) -> int:
        """Number of answers used."""
        return self.n

    def per_unit(self, overlaps: Overlaps) -> Statistic:
        """Return the best discounted hit of each unit, weight 1."""
        best = overlaps.at(overlaps.best_discounted(self.iou), self.n)
        margin = overlaps.at(overlaps.best_iou, self.n) - self.iou
        return Statistic(best.astype(np.float64), np.ones(len(best)), margin)
