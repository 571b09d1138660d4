"""BestConstant: the one share of the video that scores best on the fit split, for a named measure.

No method that ignores video and query can beat it there, so it is the plainest floor of a measure. On Charades-STA,
fitted on train for R@1,IoU=0.5, it is the first 30 % of the video.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truemoment.base.errors import MeasureError
from truemoment.base.intervals import Floats
from truemoment.base.records import Annotations, Predictions, Queries
from truemoment.baselines.base import constant_answers, grid_of_moments, rank_constants
from truemoment.evaluation.evaluate import evaluate_constants
from truemoment.evaluation.measures import Measure, as_measure
from truemoment.evaluation.protocols import Protocol


@dataclass(frozen=True, eq=False)
class BestConstant:
    """Predict the constant that is best for a measure on the fit split for every query.

    The grid has a step of `step_norm` of the video; the earliest, then the shortest, of equal constants wins. `ranked`,
    once fitted, has the constants (start, end, figure on the fit split), best first, without near-duplicates.
    """

    measure: str | Measure = "R@1,IoU=0.5"
    protocol: str | Protocol | None = None
    step_norm: float = 0.05
    ranked: Floats | None = None

    @property
    def name(self) -> str:
        """Name with the constant, once fitted."""
        if self.ranked is None:
            return f"best constant for {self.measure}"
        return f"best constant ({100 * self.ranked[0, 0]:.4g}-{100 * self.ranked[0, 1]:.4g} % of the video)"

    def fit(self, train: Annotations, val: Annotations | None = None) -> BestConstant:
        """Try every constant of the grid on `train`."""
        del val
        measure = as_measure(self.measure)
        (best,) = best_constants([measure], train, protocol=self.protocol, step_norm=self.step_norm)
        if best is None:
            raise MeasureError(f"{measure}: undefined on {train.dataset}/{train.split}, so no constant is best for it")
        return best

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Predict the constants, best first."""
        return constant_answers(queries, self.ranked, top=top, name=self.name)


def best_constants(
    measures: Sequence[Measure], train: Annotations, *, protocol: str | Protocol | None = None, step_norm: float = 0.05
) -> list[BestConstant | None]:
    """Fit a constant for each measure in one pass over the grid; None for a measure that is undefined on `train`.

    Queries without a moment are left out: there, every constant is wrong.
    """
    grid = grid_of_moments(step_norm)
    figures = evaluate_constants(train.with_moments(), grid[:, 0], grid[:, 1], measures, protocol)
    return [
        None
        if np.isnan(of_measure).all()
        else BestConstant(measure, protocol, step_norm, rank_constants(grid, of_measure))
        for measure, of_measure in zip(measures, figures.T, strict=True)
    ]
