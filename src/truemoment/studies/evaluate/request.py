"""Request of an evaluation."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from truemoment.base.request import MOST_RESAMPLES, AnyFile, In, Out, Running, argument, number, option, seed
from truemoment.studies.request import MappedData, Measuring, ReadingPredictions

if TYPE_CHECKING:
    from truemoment.studies.request import AnyPredictions


@dataclass(frozen=True)
class Evaluate(MappedData, Measuring, ReadingPredictions, Running):
    """Predictions and the annotations against which they are measured."""

    predictions: In[AnyPredictions] = argument()
    _: KW_ONLY
    resamples: int | None = number(
        "Number of resamples of the videos for 95 % intervals. [default: no intervals]", None, 2, MOST_RESAMPLES
    )
    seed: int = seed("the resamples")
    save_scores: Out[AnyFile | None] = option(
        "Save the per-query statistics, for truemoment meta.", metavar="FILE.npz", rare=True
    )
    show_answers: int = number(
        "Show N answers in words with the moments read from them, and N answers without.", 0, 0, 1000, rare=True
    )
    calibration: bool = option(
        "Measure whether scores estimate the IoU: calibration errors, rank correlation, reliability figure.", False
    )
