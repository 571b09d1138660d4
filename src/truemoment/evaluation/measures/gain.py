r"""DCG@K: discounted cumulative gain with the IoU as graded relevance.

Convention
    Gain :math:`g(r) = r` and discount :math:`d(k) = \log_2(k + 1)`. The AxIoU paper asks only that g
    and d rise strictly; this is the plainest such pair. Not normalised (the paper explains why an
    ideal list is not defined), so values can exceed 1. Ranks beyond a list's end add nothing. A query without a
    reference moment has no weight under any protocol: no value would be as good as a perfect list's.

Formula
    :math:`\mathrm{DCG}@K = \sum_{k=1}^K g(r(k)) / d(k)`.

Source
    AxIoU (Togashi et al. 2022), eq. 15.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truemoment.base.papers import AXIOU, Paper
from truemoment.evaluation.measures.base import Needs, Overlaps, Statistic, checked_rank, suffix
from truemoment.evaluation.references import ReferenceRule


@dataclass(frozen=True)
class DCG:
    """``DCG@K``, for the first `k` answers and the reference rule `ref`.

    Examples
    --------
    >>> str(DCG(10))
    'DCG@10'
    """

    k: int
    ref: ReferenceRule | None = None

    needs: ClassVar[Needs] = "overlaps"
    needs_duration: ClassVar[bool] = False
    papers: ClassVar[tuple[Paper, ...]] = (AXIOU,)

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        checked_rank(self.k, "DCG")

    def __str__(self) -> str:
        return f"DCG@{self.k}{suffix(self.ref)}"

    @property
    def depth(self) -> int:
        """Number of answers used."""
        return self.k

    def per_unit(self, overlaps: Overlaps) -> Statistic:
        """Return each unit's discounted gain, weight 1 (0 without a reference)."""
        gain = overlaps.iou[:, : self.k].astype(np.float64)
        value = (gain / np.log2(np.arange(2, gain.shape[1] + 2))).sum(axis=1)
        has_reference = ~np.isnan(overlaps.references.start[:, 0])
        return Statistic(value, has_reference.astype(np.float64))
