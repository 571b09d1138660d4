r"""Area,of=IoU|precision|recall: the area under the share of queries that reach a threshold, for sets of moments.

Convention
    Answers start at the whole second before and end at the one after, as VUE-TR's references do. Then all answers of a
    query are one region, and so are its references: IoU divides the seconds they share by those that either covers,
    precision by those of the answers, recall by those of the references. Precision leaves out queries whose answers
    cover nothing, so a method that answers rarely may have a high one. A perfect IoU has an area of 0.995: it does not
    exceed the last threshold, 1. The protocol's times must be seconds.

Formula
    The trapezoidal area under :math:`t \mapsto \mathbb{1}\{x > t\}` (IoU) or :math:`\mathbb{1}\{x \ge t\}` (precision,
    recall) over :math:`t = 0, 0.01, \ldots, 1`, as a mean over queries.

Source
    VUE-TR (Vidi, 2025): bytedance/vidi at fc30c87, VUE_TR/qa_eval.py lines 105-172 and 264-306. There, answers that
    overlap each other count twice in the length of precision; here they are one region everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truemoment.base.errors import MeasureError
from truemoment.base.papers import VIDI, Paper
from truemoment.evaluation.measures.base import Needs, Overlaps, Statistic
from truemoment.evaluation.measures.set_iou import seconds_of_unions

RATIOS = ("IoU", "precision", "recall")
_THRESHOLDS = np.linspace(0, 1, 101)


@dataclass(frozen=True)
class ThresholdArea:
    """``Area,of=IoU``, ``Area,of=precision`` or ``Area,of=recall``.

    Examples
    --------
    >>> str(ThresholdArea("IoU"))
    'Area,of=IoU'
    """

    ratio: str

    needs: ClassVar[Needs] = "sets"
    needs_duration: ClassVar[bool] = False
    depth: ClassVar[None] = None
    ref: ClassVar[None] = None
    undefined: ClassVar[str] = "no query that counts has a moment of some length"
    papers: ClassVar[tuple[Paper, ...]] = (VIDI,)

    def __post_init__(self) -> None:
        """Refuse an unknown ratio."""
        if self.ratio not in RATIOS:
            raise MeasureError(f"Area,of={self.ratio}: expected of={'|'.join(RATIOS)}")

    def __str__(self) -> str:
        return f"Area,of={self.ratio}"

    @property
    def is_of_sets(self) -> bool:
        """Whether a wrong answer lowers it at any rank: recall only grows with more answers."""
        return self.ratio != "recall"

    def per_unit(self, overlaps: Overlaps) -> Statistic:
        """Return each query's area, weight 1; 0 where the ratio is not defined."""
        start = np.where(overlaps.filled, np.floor(overlaps.start), np.nan)
        end = np.where(overlaps.filled, np.ceil(overlaps.end), np.nan)
        refs = overlaps.references
        shared, answered, wanted = seconds_of_unions(start, end, refs.start, refs.end)
        whole = {"IoU": answered + wanted - shared, "precision": answered, "recall": wanted}[self.ratio]
        ratio = np.minimum(shared / np.where(whole > 0, whole, 1), 1)[:, None]
        reached = ratio > _THRESHOLDS if self.ratio == "IoU" else ratio >= _THRESHOLDS
        area = (reached.sum(axis=1) - (reached[:, 0].astype(np.int64) + reached[:, -1]) / 2) / 100
        counts = np.ones(len(area)) if self.ratio == "IoU" else (whole > 0).astype(np.float64)
        return Statistic(area * counts, counts)
