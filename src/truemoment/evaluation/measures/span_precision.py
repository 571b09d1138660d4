r"""SpanAP@K: average precision of the first K answers with their IoU as graded relevance, for one span of references.

Convention
    The references of a query are one span, from the first start to the last end: gaps count as part of it. An answer
    that equals one of several references is not fully relevant. The sum is not divided by anything: a list that repeats
    a perfect answer K times has K. A query without a reference has no weight.

Formula
    :math:`\sum_{k=1}^K u_k \cdot \frac{1}{k} \sum_{j=1}^k u_j` with :math:`u_j` the IoU of answer j with the span.

Source
    MomentSeeker (Yuan et al. 2025), its mAP@5: yhy-2000/MomentSeeker at cc1090a, ``evaluate_map`` of
    evaluation_code/evaluate_uniir.py, lines 80-157, and the same in five other programs there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truemoment.base.intervals import temporal_iou
from truemoment.base.papers import MOMENTSEEKER, Paper
from truemoment.evaluation.measures.base import Needs, Overlaps, Statistic, checked_rank


@dataclass(frozen=True)
class SpanPrecision:
    """``SpanAP@K``, for the first `k` answers, over all references of a query.

    Examples
    --------
    >>> str(SpanPrecision(5))
    'SpanAP@5'
    """

    k: int

    needs: ClassVar[Needs] = "sets"
    needs_duration: ClassVar[bool] = False
    ref: ClassVar[None] = None
    papers: ClassVar[tuple[Paper, ...]] = (MOMENTSEEKER,)

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        checked_rank(self.k, "SpanAP")

    def __str__(self) -> str:
        return f"SpanAP@{self.k}"

    @property
    def depth(self) -> int:
        """Number of answers used."""
        return self.k

    def per_unit(self, overlaps: Overlaps) -> Statistic:
        """Return each query's sum, weight 1 (0 without a reference)."""
        refs = overlaps.references
        first, last = np.fmin.reduce(refs.start, axis=1), np.fmax.reduce(refs.end, axis=1)
        iou = temporal_iou(
            overlaps.start[:, : self.k],
            overlaps.end[:, : self.k],
            first[:, None],
            last[:, None],
            denominator=overlaps.denominator,
            epsilon=overlaps.epsilon,
        )
        gain = np.where(overlaps.filled[:, : self.k], np.nan_to_num(iou, nan=0.0), 0.0)
        value = (gain * np.cumsum(gain, axis=1) / np.arange(1, gain.shape[1] + 1)).sum(axis=1)
        return Statistic(value, (~np.isnan(first)).astype(np.float64))
