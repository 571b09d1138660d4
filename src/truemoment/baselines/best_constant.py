"""BestConstant: the one share of the video that scores best on the fit split, for a named measure.

Nothing that never looks at video and query can beat it there, so it is the plainest floor of a measure. On
Charades-STA, fitted on train for R@1,IoU=0.5, it is the first 30 % of the video.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from truemoment.baselines.base import constant_answers, grid_of_moments, rank_constants
from truemoment.evaluation import evaluate_constants
from truemoment.intervals import Floats
from truemoment.measures import Measure, parse_measure
from truemoment.protocols import Protocol
from truemoment.records import Annotations, Predictions, Queries


@dataclass(frozen=True)
class BestConstant:
    """Answer every query with the constant that is best on the fit split.

    Parameters
    ----------
    measure
        What "best" means, in words or as a value.
    protocol
        The convention it is measured by; None for the dataset's.
    step_norm
        Grid of starts and ends, as a fraction of the video. Of equal constants the earliest, then the shortest, wins.
    ranked : (K, 3)
        Once fitted: the constants (start, end, figure on the fit split), best first, near-duplicates left out.

    Raises
    ------
    MeasureError
        If the measure cannot be read.
    """

    measure: str | Measure = "R@1,IoU=0.5"
    protocol: str | Protocol | None = None
    step_norm: float = 0.05
    ranked: Floats | None = None

    @property
    def name(self) -> str:
        """Says which constant it is, once fitted."""
        if self.ranked is None:
            return f"best constant for {self.measure}"
        return f"best constant ({100 * self.ranked[0, 0]:.0f}-{100 * self.ranked[0, 1]:.0f} % of the video)"

    def fit(self, train: Annotations, val: Annotations | None = None) -> BestConstant:
        """Try every constant of the grid on `train`.

        Raises
        ------
        MeasureError
            If a duration is not known, or the measure is of clip ratings or undefined there.
        """
        del val
        measure = parse_measure(self.measure) if isinstance(self.measure, str) else self.measure
        return best_constants([measure], train, protocol=self.protocol, step_norm=self.step_norm)[0]

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Answer with the constants, best first.

        Raises
        ------
        UsageError
            If it is not fitted.
        InputError
            If a video's duration is not known.
        """
        return constant_answers(queries, self.ranked, top=top, name=self.name)


def best_constants(
    measures: Sequence[Measure], train: Annotations, *, protocol: str | Protocol | None = None, step_norm: float = 0.05
) -> list[BestConstant]:
    """Fit a constant for each measure in one pass over the grid.

    Raises
    ------
    MeasureError
        If a duration is not known, or a measure is of clip ratings.
    """
    grid = grid_of_moments(step_norm)
    figures = evaluate_constants(train, grid[:, 0], grid[:, 1], measures, protocol)
    return [
        BestConstant(measure, protocol, step_norm, rank_constants(grid, of_measure))
        for measure, of_measure in zip(measures, figures.T, strict=True)
    ]
