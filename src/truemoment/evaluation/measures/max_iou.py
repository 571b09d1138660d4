r"""mIoU, AxIoU@K and NCxIoU@K: how good the best answer so far is, without a threshold.

Convention
    A list shorter than K keeps its last best. A query without answers scores 0.

Formula
    :math:`\mathrm{NCxIoU}(q) = \sum_k P_A(k) \max_{1 \le j \le k} r(j)`, with :math:`P_A` the share of
    users who stop at rank k. :math:`\mathrm{AxIoU}@K` is :math:`P_A(k) = 1/K`;
    :math:`\mathrm{mIoU}` is the IoU of the first answer, which is AxIoU@1.

Source
    AxIoU (Togashi et al. 2022), eq. 4 and 5. ``p=geometric(s)`` stops at each rank with probability
    s and is normalised over the first K ranks, since the sum of eq. 4 ends there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truemoment.base.boundary.keyed import print_number
from truemoment.base.errors import MeasureError
from truemoment.base.intervals import Floats
from truemoment.base.papers import AXIOU, Paper
from truemoment.evaluation.measures.base import Needs, Overlaps, Statistic, checked_rank, suffix
from truemoment.evaluation.references import ReferenceRule


@dataclass(frozen=True)
class MeanIoU:
    """``mIoU``: mean IoU of the first answer, with the reference rule `ref`."""

    ref: ReferenceRule | None = None

    needs: ClassVar[Needs] = "overlaps"
    needs_duration: ClassVar[bool] = False
    depth: ClassVar[int] = 1

    def __str__(self) -> str:
        return f"mIoU{suffix(self.ref)}"

    def per_unit(self, overlaps: Overlaps) -> Statistic:
        """Return the first answer's IoU, weight 1."""
        first = overlaps.iou[:, 0].astype(np.float64)
        return Statistic(first, np.ones(len(first)))


@dataclass(frozen=True)
class AxIoU:
    """``AxIoU@K``: average max IoU of the first `k` answers, with the reference rule `ref`.

    Examples
    --------
    >>> str(AxIoU(10))
    'AxIoU@10'
    """

    k: int
    ref: ReferenceRule | None = None

    needs: ClassVar[Needs] = "overlaps"
    needs_duration: ClassVar[bool] = False
    papers: ClassVar[tuple[Paper, ...]] = (AXIOU,)

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        checked_rank(self.k, "AxIoU")

    def __str__(self) -> str:
        return f"AxIoU@{self.k}{suffix(self.ref)}"

    @property
    def depth(self) -> int:
        """Number of answers used."""
        return self.k

    def per_unit(self, overlaps: Overlaps) -> Statistic:
        """Return the mean over k = 1..K of the best IoU so far, weight 1."""
        value = average_max_iou(overlaps.best_iou, self.k)
        return Statistic(value, np.ones(len(value)))


@dataclass(frozen=True)
class NCxIoU:
    """``NCxIoU@K,p=...``: normalised cumulative max IoU under a distribution of stopping ranks.

    Parameters
    ----------
    k
        Number of answers used, 1 or more.
    p
        ``("uniform",)``, ``("geometric", s)`` with 0 < s <= 1, or ``("weights", w1, ..., wK)`` with nonnegative
        weights.
    ref
        Reference rule; None for the protocol's.

    Examples
    --------
    >>> str(NCxIoU(10, ("geometric", 0.5)))
    'NCxIoU@10,p=geometric(0.5)'
    """

    k: int
    p: tuple[str | float, ...] = ("uniform",)
    ref: ReferenceRule | None = None

    needs: ClassVar[Needs] = "overlaps"
    needs_duration: ClassVar[bool] = False
    papers: ClassVar[tuple[Paper, ...]] = (AXIOU,)

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        checked_rank(self.k, "NCxIoU")
        stopping_distribution(self.p, self.k)

    def __str__(self) -> str:
        return f"NCxIoU@{self.k},p={_print_distribution(self.p)}{suffix(self.ref)}"

    @property
    def depth(self) -> int:
        """Number of answers used."""
        return self.k

    def per_unit(self, overlaps: Overlaps) -> Statistic:
        """Return the expected best IoU at the rank where a user stops, weight 1."""
        stops = stopping_distribution(self.p, self.k)
        best = overlaps.best_iou.astype(np.float64)
        width = min(self.k, best.shape[1])
        share: Floats = np.append(stops[: width - 1], stops[width - 1 :].sum())  # a short list keeps its last best
        return Statistic((best[:, :width] * share).sum(axis=1), np.ones(len(best)))


def average_max_iou(best_iou: Floats, k: int) -> Floats:
    """Return the mean over ranks 1..k of the best IoU so far (Q, K), (Q,) (AxIoU paper, eq. 5).

    Examples
    --------
    >>> average_max_iou(np.array([[0.2, 0.6]]), 4)
    array([0.5])
    """
    width = min(k, best_iou.shape[1])
    total = best_iou[:, :width].sum(axis=1, dtype=np.float64)
    if k > width:
        total = total + (k - width) * best_iou[:, width - 1].astype(np.float64)
    return np.asarray(total / k)


def stopping_distribution(p: tuple[str | float, ...], k: int) -> Floats:
    """Return the share of users who stop at each of the ranks 1..k, for a distribution of :class:`NCxIoU`.

    Examples
    --------
    >>> stopping_distribution(("geometric", 0.5), 2).round(3)
    array([0.667, 0.333])
    """
    name, *values = p
    numbers = [float(value) for value in values]
    share: Floats
    if name == "uniform" and not numbers:
        share = np.ones(k)
    elif name == "geometric" and len(numbers) == 1 and 0 < numbers[0] <= 1:
        share = numbers[0] * (1 - numbers[0]) ** np.arange(k)
    elif (
        name == "weights"
        and len(numbers) == k
        and all(math.isfinite(w) and w >= 0 for w in numbers)
        and 0 < sum(numbers) < math.inf
    ):
        share = np.array(numbers)
    else:
        raise MeasureError(
            f"NCxIoU@{k},p={_print_distribution(p)}: expected p=uniform, p=geometric(s) with 0 < s <= 1, "
            f"or p=weights(...) with {k} weights of at least 0"
        )
    return np.asarray(share / share.sum())


def _print_distribution(p: tuple[str | float, ...]) -> str:
    name, *values = p
    return str(name) + (f"({','.join(print_number(float(value)) for value in values)})" if values else "")
