r"""AP@K,IoU=m (AxIoU paper) and mAP (QVHighlights): two measures that share a name.

AP@K,IoU=m
    :math:`\frac{1}{K} \sum_{k=1}^K \frac{1}{k} \sum_{j=1}^k \mathbb{1}\{r(j) > m\}`, AxIoU (Togashi et
    al. 2022), eq. 12: the mean precision over all ranks. Ranks beyond a list's end are no hits.

mAP, mAP,IoU=m, mAP,length=short
    Interpolated average precision over a query's several windows, as in object detection: answers by
    falling score (ties in list order) each take the free reference of largest IoU, if that reaches m;
    precision is made non-increasing from the right and summed over the steps of recall. ``mAP`` is
    the mean over m = 0.5, 0.55, ..., 0.95. With ``length`` only references of that class count, and
    queries that have one; answers are not filtered. The mean is over queries, not over classes.

Source
    QVHighlights (Lei et al. 2021); behaviour read in jayleicn/moment_detr, standalone_eval/eval.py
    and utils.py at b7e553ac. How many answers count is the protocol's matter (10 there).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truemoment.base.boundary.keyed import print_number
from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.papers import AXIOU, QVHIGHLIGHTS, Paper
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

MAP_THRESHOLDS: tuple[float, ...] = tuple(round(0.5 + 0.05 * i, 2) for i in range(10))


@dataclass(frozen=True)
class AveragePrecisionAt:
    """``AP@K,IoU=m`` of the AxIoU paper, for the first `k` answers, threshold `iou` and reference rule `ref`.

    Examples
    --------
    >>> str(AveragePrecisionAt(10, 0.5))
    'AP@10,IoU=0.5'
    """

    k: int
    iou: float
    ref: ReferenceRule | None = None

    needs: ClassVar[Needs] = "overlaps"
    needs_duration: ClassVar[bool] = False
    papers: ClassVar[tuple[Paper, ...]] = (AXIOU,)

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        checked_rank(self.k, "AP")
        checked_threshold(self.iou, "AP")

    def __str__(self) -> str:
        return f"AP@{self.k},IoU={print_number(self.iou)}{suffix(self.ref)}"

    @property
    def depth(self) -> int:
        """Number of answers used."""
        return self.k

    def per_unit(self, overlaps: Overlaps) -> Statistic:
        """Return the mean precision over ranks 1..K, weight 1."""
        filled = overlaps.filled if overlaps.references.rule != "pooled" else (overlaps.n_predicted > 0)[:, None]
        hits = overlaps.hit(overlaps.iou, self.iou) & filled
        return Statistic(mean_precision(hits, self.k), np.ones(len(hits)))


@dataclass(frozen=True)
class MeanAveragePrecision:
    """``mAP``, ``mAP,IoU=m``, each with the option ``length=short|middle|long``; over all references of a query.

    Parameters
    ----------
    iou
        Threshold m in [0, 1]; None for the mean over 0.5, 0.55, ..., 0.95.
    length
        Class of the references that count: ``short`` (up to 10 s), ``middle`` (up to 30 s) or ``long`` (up to 150 s);
        None for all.

    Examples
    --------
    >>> str(MeanAveragePrecision(0.75)), str(MeanAveragePrecision(length="short"))
    ('mAP,IoU=0.75', 'mAP,length=short')
    """

    iou: float | None = None
    length: str | None = None

    needs: ClassVar[Needs] = "sets"
    needs_duration: ClassVar[bool] = False
    depth: ClassVar[None] = None
    ref: ClassVar[None] = None
    papers: ClassVar[tuple[Paper, ...]] = (QVHIGHLIGHTS,)

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        if self.iou is not None:
            checked_threshold(self.iou, "mAP")
        if self.length is not None:
            seconds_of(self.length)

    def __str__(self) -> str:
        options = ([] if self.iou is None else [f"IoU={print_number(self.iou)}"]) + (
            [] if self.length is None else [f"length={self.length}"]
        )
        return ",".join(["mAP", *options])

    def per_unit(self, overlaps: Overlaps) -> Statistic:
        """Return the average precision of each query, 0 without references; weight 0 if none is of the length."""
        thresholds = MAP_THRESHOLDS if self.iou is None else (self.iou,)
        refs = overlaps.references
        counts = ~np.isnan(refs.start)
        if self.length is not None:
            counts &= in_length_class(refs, self.length)
        order = np.argsort(-overlaps.score, axis=1, kind="stable")
        filled = overlaps.filled
        # A list's places are contiguous, and unfilled ones must stay last despite their score of 0.
        order = np.take_along_axis(order, np.argsort(~np.take_along_axis(filled, order, 1), axis=1, kind="stable"), 1)
        iou = np.stack([np.take_along_axis(table, order, axis=1) for table in overlaps.iou_by_reference], axis=2)
        value = np.zeros(len(iou))
        for threshold in thresholds:
            reaches = overlaps.hit(iou, threshold) & counts[:, None, :] & filled[:, :, None]
            right = matched_in_order(iou, reaches)
            value += interpolated_average_precision(right, counts.sum(axis=1))
        has_reference = np.asarray(counts.any(axis=1))
        weight = np.ones(len(value)) if self.length is None else has_reference.astype(np.float64)
        return Statistic(np.where(has_reference, value / len(thresholds), 0.0), weight)


def mean_precision(hits: Bools, k: int) -> Floats:
    """Return the mean over ranks 1..k of the precision so far, (Q,), of hits (Q, K) (AxIoU paper, eq. 12).

    Examples
    --------
    >>> mean_precision(np.array([[True, False]]), 2)
    array([0.75])
    """
    n_hits = np.cumsum(hits[:, :k], axis=1)
    width = n_hits.shape[1]
    total = (n_hits / np.arange(1, width + 1)).sum(axis=1)
    beyond = (1 / np.arange(width + 1, k + 1)).sum()  # ranks after the list have no further hits
    return np.asarray((total + n_hits[:, -1] * beyond) / k)


def matched_in_order(iou: Floats, reaches: Bools) -> Bools:
    """Return which answers find a free reference, (Q, K): each in turn gets the one of largest IoU that it reaches."""
    n_queries, n_ranks, n_references = iou.shape
    free = np.ones((n_queries, n_references), dtype=bool)
    right = np.zeros((n_queries, n_ranks), dtype=bool)
    rows = np.arange(n_queries)
    for k in range(n_ranks):
        possible = reaches[:, k] & free
        right[:, k] = possible.any(axis=1)
        # With equal IoUs the later reference is taken, as the official evaluator's reversed sort does.
        reference = n_references - 1 - np.argmax(np.where(possible, iou[:, k], -1.0)[:, ::-1], axis=1)
        free[rows, reference] &= ~right[:, k]
    return right


def interpolated_average_precision(right: Bools, n_references: Ints) -> Floats:
    """Return the area under the precision-recall curve, precision made non-increasing from the right, (Q,).

    Parameters
    ----------
    right : (Q, K)
        Whether each answer, best first, found a reference.
    n_references : (Q,)
        Number of references; the area is 0 without any.

    Examples
    --------
    >>> interpolated_average_precision(np.array([[False, True, True]]), np.array([2]))
    array([0.66666667])
    """
    n_right = np.cumsum(right, axis=1)
    precision = n_right / np.arange(1, right.shape[1] + 1)
    envelope = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    area = np.where(right, envelope, 0.0).sum(axis=1)
    return np.asarray(area / np.maximum(n_references, 1))
