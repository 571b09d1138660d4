r"""SetIoU: how well all answers together cover all references together.

Convention
    All answers of a list count, whatever their rank and score, and all references. Overlapping or touching
    moments are merged first, so nothing counts twice and the order of a list does not matter. A moment whose
    end does not lie after its start covers nothing. Without a reference and with an abstention the set is
    right: 1. The mean is over queries.

Formula
    :math:`|P \cap G| / |P \cup G|` with P the union of a query's answers, G that of its references, and
    :math:`|\cdot|` the seconds that a union covers. With one answer and one reference it is their IoU.

Source
    The Jaccard index of two sets of points in time (Jaccard 1912); no published figure is claimed. Unlike the
    reference rule ``pooled`` it never exceeds 1, and unlike ``merged`` it takes all answers as one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truemoment.base.intervals import Floats, merge
from truemoment.evaluation.measures.base import Needs, Overlaps, Statistic


@dataclass(frozen=True)
class SetIoU:
    """``SetIoU``. It looks at all references of a query, so it takes no reference rule.

    Examples
    --------
    >>> str(SetIoU())
    'SetIoU'
    """

    needs: ClassVar[Needs] = "sets"
    needs_duration: ClassVar[bool] = False
    depth: ClassVar[None] = None
    ref: ClassVar[None] = None
    is_of_sets: ClassVar[bool] = True

    def __str__(self) -> str:
        return "SetIoU"

    def per_unit(self, overlaps: Overlaps) -> Statistic:
        """Return each query's IoU of the two unions, weight 1."""
        start, end = (np.where(overlaps.filled, table, np.nan) for table in (overlaps.start, overlaps.end))
        refs = overlaps.references
        value = iou_of_unions(start, end, refs.start, refs.end, epsilon=overlaps.epsilon)
        return Statistic(value, np.ones(len(value)))


def iou_of_unions(
    start: Floats, end: Floats, other_start: Floats, other_end: Floats, *, epsilon: float = 0.0
) -> Floats:
    """IoU of two sets of intervals, each taken as the region it covers.

    Parameters
    ----------
    start, end : (Q, K), NaN where a set is smaller
    other_start, other_end : (Q, R), NaN where a set is smaller
    epsilon
        Added to the denominator, in the unit of the times; 0 or more.

    Returns
    -------
    array, shape (Q,)
        In [0, 1]; 0 where neither covers anything.

    Examples
    --------
    >>> iou_of_unions(*np.array([[[0.0, 2.0]], [[4.0, 6.0]]]), *np.array([[[0.0]], [[8.0]]]))
    array([0.75])
    """
    shared, first, second = seconds_of_unions(start, end, other_start, other_end)
    whole = first + second - shared + epsilon
    # Sums in several orders: a region with itself can come out a last bit above 1.
    return np.asarray(np.minimum(np.where(shared > 0, shared / np.where(shared > 0, whole, 1), 0), 1))


def seconds_of_unions(
    start: Floats, end: Floats, other_start: Floats, other_end: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return what two sets of intervals share, and what each covers, (Q,) each; arguments as in `iou_of_unions`."""
    first, second = _region(start, end), _region(other_start, other_end)
    narrow, wide = (first, second) if first[0].shape[1] <= second[0].shape[1] else (second, first)
    shared = np.zeros(len(start))
    for k in range(narrow[0].shape[1]):
        low = np.maximum(wide[0], narrow[0][:, k : k + 1])
        high = np.minimum(wide[1], narrow[1][:, k : k + 1])
        shared += np.nansum(np.maximum(high - low, 0), axis=1)
    covered = [np.nansum(region[1] - region[0], axis=1) for region in (first, second)]
    return shared, covered[0], covered[1]


def _region(start: Floats, end: Floats) -> tuple[Floats, Floats]:
    """Disjoint intervals of each row, in as few columns as the longest row needs."""
    start, end = merge(start, end)
    used = int((~np.isnan(start)).sum(axis=1).max(initial=0))
    return start[:, :used], end[:, :used]
