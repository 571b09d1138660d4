"""Per-query statistics of several systems, from which every study of measures starts."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats
from truemoment.evaluation.measures import Measure, lower_is_better
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import check_paired, sums_by_video

Unit = Literal["query", "video"]
"""Unit that is drawn: single queries, or videos with all their queries."""

RECALLS = tuple(f"R@{k},IoU={theta}" for k in (1, 5, 10) for theta in (0.3, 0.5, 0.7))
DEFAULT_MEASURES = "; ".join((*RECALLS, "AxIoU@1", "AxIoU@5", "AxIoU@10", "dR@1,IoU=0.5", "dR@1,IoU=0.7"))
"""The twelve measures of the AxIoU paper (Togashi et al. 2022, section 6.2), and Closer Look's discounted recall."""


@dataclass(frozen=True, eq=False)
class Systems:
    """Per-query statistics of S systems, two or more by name, by M measures on the same Q queries of V videos.

    Examples
    --------
    >>> from truemoment import Annotations, Predictions
    >>> from truemoment.evaluation.evaluate import evaluate
    >>> a = Annotations.from_rows([("v#0", "v", 30.0, "a door opens", 2.0, 6.0)])
    >>> def scores(end_s):
    ...     return evaluate(a, Predictions.from_lists({"v#0": [(2.0, end_s)]}), "mIoU; R@1,IoU=0.5")
    >>> systems = Systems({"near": scores(5.0), "far": scores(3.0)})
    >>> systems.figures.tolist()
    [[0.75, 1.0], [0.25, 0.0]]
    """

    scores: Mapping[str, Scores]

    def __post_init__(self) -> None:
        if len(self.scores) < 2:
            got = f"one system ({next(iter(self.scores))})" if self.scores else "no system"
            raise UsageError(f"got {got}, expected two or more")
        check_paired(list(self.scores.values()))
        if not self.first.measures:
            raise UsageError("got systems without any measure, expected one or more")

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the systems."""
        return tuple(self.scores)

    @property
    def first(self) -> Scores:
        """Scores of the first system, with the data, measures and convention of all."""
        return next(iter(self.scores.values()))

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures."""
        return self.first.measures

    @functools.cached_property
    def figures(self) -> Floats:
        """Figures, fractions, NaN if undefined; shape (S, M)."""
        return np.array([[scores.value(measure) for measure in self.measures] for scores in self.scores.values()])

    @property
    def direction(self) -> Floats:
        """1 for measures for which more is better, -1 for the others; shape (M,)."""
        return direction_of(self.measures)

    def on_queries(self, row: int) -> tuple[Floats, Floats]:
        """Return the numerators and the weights of a measure, by its row, on each query; shape (S, Q) each."""
        every = self.scores.values()
        return np.stack([scores.numerator[row] for scores in every]), np.stack([scores.weight[row] for scores in every])

    def units(self, unit: Unit) -> tuple[Floats, Floats]:
        """Return the sums of numerators and of weights over the queries of each unit.

        Returns
        -------
        numerator, weight : (U, S, M)
            One row per query or video, in the order in which they first occur.
        """
        if unit == "video":
            sums = [sums_by_video(scores) for scores in self.scores.values()]
            return np.stack([pair[0] for pair in sums], axis=1), np.stack([pair[1] for pair in sums], axis=1)
        tables = (
            np.stack([getattr(scores, name).T for scores in self.scores.values()], axis=1)
            for name in ("numerator", "weight")
        )
        numerator, weight = tables
        return numerator, weight


def direction_of(measures: Sequence[Measure]) -> Floats:
    """Return 1 for measures for which more is better, -1 for the others; shape (M,)."""
    return np.array([-1.0 if lower_is_better(measure) else 1.0 for measure in measures])


def figures_of(numerator: Floats, weight: Floats) -> Floats:
    """Return figures from sums of numerators and weights, whose shapes broadcast; NaN without weight."""
    defined = weight > 0
    return np.asarray(np.where(defined, numerator / np.where(defined, weight, 1), np.nan))
