"""Runs of the methods of a comparison: the scores of each file, and the figure of several runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.base.records import Predictions
from truemoment.baselines.equal_depth import evaluate_to_depths
from truemoment.baselines.floors import Setting
from truemoment.data.formats import MatchReport
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import interval95, resample_figures
from truemoment.studies.compare.request import PredictionInput
from truemoment.studies.request import source_of_predictions


class FileRun(NamedTuple):
    """A run of a method: its scores on lists of equal depth, its file, and the length of its longest list."""

    scores: Scores
    match: MatchReport
    source: dict[str, str]
    depth: int


def measure_runs(
    inputs: Sequence[tuple[Predictions, MatchReport]],
    sources: Sequence[PredictionInput],
    setting: Setting,
    depths: Sequence[int | None],
    *,
    progress: bool,
) -> list[FileRun]:
    """Return the runs of a method, measured on lists of equal depth."""
    runs = []
    for source, (predictions, match) in zip(sources, inputs, strict=True):
        scores = evaluate_to_depths(
            setting.annotations, predictions, setting.measures, depths, setting.protocol, progress=progress
        )
        about = source_of_predictions(source, predictions)
        runs.append(FileRun(scores, match, about, longest_list(predictions)))
    return runs


def longest_list(predictions: Predictions) -> int:
    """Return the length of the longest list of predictions."""
    return int(predictions.lengths.max(initial=0))


def mean_scores(runs: Sequence[Scores]) -> Scores:
    """Return the mean over runs of a method on the same queries."""
    return replace(
        runs[0],
        numerator=np.mean([run.numerator for run in runs], axis=0),
        weight=np.mean([run.weight for run in runs], axis=0),
    )


def mean_figures(runs: Sequence[Scores]) -> Floats:
    """Return the mean over runs of each measure, (M,)."""
    return np.asarray(np.mean([[run.value(measure) for measure in run.measures] for run in runs], axis=0))


def mean_interval(runs: Sequence[Scores], rng: np.random.Generator, *, resamples: int) -> Floats:
    """Return 95 % intervals of the mean over runs, by resampling videos, (M, 2)."""
    return interval95(resample_figures(runs, rng, resamples=resamples).mean(axis=1))
