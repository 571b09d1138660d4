r"""F1,IoU=m: how well the *set* of answers matches the set of references.

Convention
    Every predicted moment counts, whatever its rank. Answers and references are paired one to one,
    with as many pairs of sufficient IoU as possible (a maximum matching). Without a reference and with an
    abstention the set is right: 1. The mean is over queries.

Formula
    :math:`F_1 = 2 M / (|P| + |G|)` with M the size of the largest matching.

Source
    The usual definition of F1 on sets; the field's multi-moment sets (QV-M2, OMTGBench) report it
    with their own pairings, so none of their figures is claimed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truemoment.base.boundary.keyed import print_number
from truemoment.base.intervals import Bools, Ints
from truemoment.evaluation.measures.base import Needs, Overlaps, Statistic, checked_threshold


@dataclass(frozen=True)
class MatchedF1:
    """``F1,IoU=m`` over all references of a query.

    Examples
    --------
    >>> str(MatchedF1(0.5))
    'F1,IoU=0.5'
    """

    iou: float

    needs: ClassVar[Needs] = "sets"
    needs_duration: ClassVar[bool] = False
    depth: ClassVar[None] = None
    ref: ClassVar[None] = None
    is_of_sets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        checked_threshold(self.iou, "F1")

    def __str__(self) -> str:
        return f"F1,IoU={print_number(self.iou)}"

    def per_unit(self, overlaps: Overlaps) -> Statistic:
        """Return each query's F1, weight 1."""
        n_references = (~np.isnan(overlaps.references.start)).sum(axis=1)
        reaches = np.stack(
            [
                overlaps.hit(iou, self.iou) & overlaps.filled & (r < n_references)[:, None]
                for r, iou in enumerate(overlaps.iou_by_reference)
            ],
            axis=2,
        )
        total = overlaps.n_predicted + n_references
        value = np.where(total > 0, 2 * largest_matching(reaches) / np.maximum(total, 1), 1.0)
        return Statistic(value, np.ones(len(value)))


def largest_matching(reaches: Bools) -> Ints:
    """Return the size of the largest one-to-one matching of answers and references, (Q,), by augmenting paths.

    `reaches` (Q, K, R) states which answer may be paired with which reference.

    Examples
    --------
    >>> largest_matching(np.array([[[True, True], [True, False]]]))
    array([2])
    """
    if reaches.shape[2] == 1:
        return np.asarray(reaches[:, :, 0].any(axis=1), dtype=np.int64)
    return np.array([_match_one([np.flatnonzero(row).tolist() for row in table]) for table in reaches], np.int64)


def _match_one(choices: list[list[int]]) -> int:
    """Size of the largest matching of one query; `choices[k]` lists the references that answer k may match."""
    holder: dict[int, int] = {}  # reference -> answer
    placed: dict[int, int] = {}  # answer -> reference
    for answer in range(len(choices)):
        reached_by: dict[int, int] = {}
        waiting = [answer]
        free: int | None = None
        for candidate in waiting:  # grows by answers whose reference might be freed
            for reference in choices[candidate]:
                if reference not in reached_by:
                    reached_by[reference] = candidate
                    if reference not in holder:
                        free = reference
                        break
                    waiting.append(holder[reference])
            if free is not None:
                break
        while free is not None:  # along the path, each answer gets the new reference and frees its own
            candidate = reached_by[free]
            holder[free] = candidate
            placed[candidate], free = free, placed.get(candidate)
    return len(holder)
