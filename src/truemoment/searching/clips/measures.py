r"""Measures of rankings, from the places of the right item.

With g wrong items of larger similarity, e of equal one, and ties decided by lot,

.. math::

   R@K = E[\mathrm{rank} \le K] = \mathrm{clip}\left(\frac{K - g}{e + 1}, 0, 1\right), \qquad
   \mathrm{rank} = 1 + g + e / 2 .

``best`` puts the right item before all equal ones, ``worst`` behind them. MdR is the median and MnR the mean of ranks,
MRR the mean of 1 / rank. Rows are written ``t2c:R@1``, ``c2t:R@10``, ``t2c:MdR``: text to clip, and clip to text.

Source: R@K, MdR and MnR as CLIP4Clip (Luo et al. 2021) and MAD (Soldan et al. 2022, Table 6) report them; the rule of
ties is ours, since they decide them by the order of a sort.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from truemoment.base.errors import MeasureError
from truemoment.base.intervals import Floats
from truemoment.searching.clips.ranking import RightPlaces

Ties = Literal["expected", "best", "worst"]
Direction = Literal["t2c", "c2t"]

DEFAULT_MEASURES = "; ".join(
    f"{way}:{measure}" for way in get_args(Direction) for measure in ("R@1", "R@5", "R@10", "MdR", "MnR")
)

RANKS = {"MdR": "median rank", "MnR": "mean rank", "MRR": "mean of 1 / rank"}

NOTATION = re.compile(r"(t2c|c2t):(?:R@([1-9][0-9]{0,6})|(MdR|MnR|MRR))")


@dataclass(frozen=True)
class RetrievalMeasure:
    """A measure of one direction: R@K with its depth, or a statistic of the ranks."""

    direction: Direction
    statistic: str
    depth: int | None = None

    def __str__(self) -> str:
        return f"{self.direction}:{self.statistic}" + (f"@{self.depth}" if self.depth else "")

    @property
    def is_fraction(self) -> bool:
        """Whether it lies in [0, 1]; else it is a rank."""
        return self.statistic not in ("MdR", "MnR")

    def of_each(self, places: RightPlaces, ties: Ties = "expected") -> Floats:
        """Return what each query counts, (Q,): hits of R@K, ranks of MdR and MnR, reciprocal ranks."""
        if self.depth is not None:
            return recall_of_each(places, self.depth, ties)
        rank = ranks(places, ties)
        return 1 / rank if self.statistic == "MRR" else rank

    def figure(self, of_each: Floats, weight: Floats | None = None) -> float:
        """Return the mean or the median of what each query counts, weighted."""
        if self.statistic == "MdR":
            return weighted_median(of_each, np.ones_like(of_each) if weight is None else weight)
        return float(np.average(of_each, weights=weight))


def parse_retrieval_measures(text: str) -> tuple[RetrievalMeasure, ...]:
    """Read measures separated by semicolons.

    Examples
    --------
    >>> [str(measure) for measure in parse_retrieval_measures("t2c:R@1; c2t:MdR")]
    ['t2c:R@1', 'c2t:MdR']
    """
    measures = []
    for part in text.split(";"):
        match = NOTATION.fullmatch(part.strip())
        if match is None:
            raise MeasureError(
                f"unknown measure {part.strip()!r}, expected t2c: or c2t: with R@K, {', '.join(RANKS)}: "
                "'t2c:R@1; c2t:MdR'"
            )
        direction, depth, statistic = match.groups()
        measures.append(RetrievalMeasure(direction, statistic or "R", int(depth) if depth else None))  # type: ignore[arg-type]
    return tuple(dict.fromkeys(measures))


def recall_of_each(places: RightPlaces, k: int, ties: Ties = "expected") -> Floats:
    """Return for each query the chance that the right item is among the first k, (Q,).

    Examples
    --------
    >>> recall_of_each(RightPlaces(np.array([0, 0, 2]), np.array([0, 3, 0]), 10), 1).tolist()
    [1.0, 0.25, 0.0]
    """
    if ties == "best":
        return np.asarray(places.greater < k, dtype=np.float64)
    if ties == "worst":
        return np.asarray(places.greater + places.equal < k, dtype=np.float64)
    return np.asarray(np.clip((k - places.greater) / (places.equal + 1), 0, 1))


def ranks(places: RightPlaces, ties: Ties = "expected") -> Floats:
    """Return the rank of the right item, from 1, (Q,)."""
    share = {"expected": 0.5, "best": 0.0, "worst": 1.0}[ties]
    return np.asarray(1 + places.greater + share * places.equal)


def weighted_median(values: Floats, weights: Floats) -> float:
    """Return the median of values that count several times; of two middle ones, the mean.

    Examples
    --------
    >>> weighted_median(np.array([3.0, 1.0, 2.0]), np.array([1, 1, 2]))
    2.0
    """
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(weights[order])
    half = upto[-1] / 2
    low = values[order][np.searchsorted(upto, half, side="left")]
    high = values[order][min(np.searchsorted(upto, half, side="right"), len(values) - 1)]
    return float((low + high) / 2)


def largest_depth(measures: Sequence[RetrievalMeasure]) -> int:
    """Return the largest K; 0 where there is none."""
    return max((measure.depth or 0 for measure in measures), default=0)
