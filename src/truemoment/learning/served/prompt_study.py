"""Prompt sensitivity: the same queries asked with several prompts, and how much figures and answers depend on them.

The figure of the best of several prompts is too high for that prompt: it was selected on the same queries. The
differences of all pairs of prompts therefore have simultaneous intervals
(:mod:`truemoment.studies.compare.comparison`): they are valid whichever prompt is selected.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats, temporal_iou
from truemoment.base.records import UNREADABLE_STATUSES, Annotations, Predictions, Queries
from truemoment.data.formats import read_predictions
from truemoment.evaluation.evaluate import evaluate, resolve_protocol
from truemoment.evaluation.uncertainty import DEFAULT_DRAW_SETTINGS, DrawSettings, stream
from truemoment.learning.served.grounder import ServedModel
from truemoment.learning.served.prediction import ServedPrediction, predict_with_endpoint
from truemoment.studies.compare.comparison import Comparison, compare
from truemoment.studies.evaluate.first_answers import first_answers
from truemoment.studies.humans.scores import measures_of_one_answer

SAME_S = 0.05
"""Times this close are the same."""


class PromptAgreement(NamedTuple):
    """Agreement of the first answers of two prompts.

    Parameters
    ----------
    n_both
        Number of queries with an answer to both.
    mean_iou
        Mean IoU of the two answers; NaN where there are none.
    same
        Share of the queries whose two answers are equal to 0.05 s.
    """

    first: str
    second: str
    n_both: int
    mean_iou: float
    same: float


@dataclass(frozen=True, eq=False)
class PromptStudy:
    """Predictions of a served model with several prompts.

    Parameters
    ----------
    predictions
        Predictions by the name of the prompt.
    comparison
        Figures and their differences; None where no asked query has a reference moment.
    agreement
        Agreement of each pair of prompts.
    """

    predictions: Mapping[str, ServedPrediction]
    comparison: Comparison | None
    agreement: tuple[PromptAgreement, ...]
    draws: DrawSettings

    def unread(self, prompt: str) -> int:
        """Return the number of queries whose answer could not be read, or is missing."""
        predicted = self.predictions[prompt]
        return len(predicted.answers.unanswered) + sum(
            predicted.statuses.get(status, 0) for status in UNREADABLE_STATUSES
        )

    def abstained(self, prompt: str) -> int:
        """Return the number of answers that the video has no such moment."""
        return self.predictions[prompt].statuses.get("no answer", 0)

    @property
    def spread(self) -> Floats:
        """Highest less lowest figure over the prompts, (M,); empty without figures."""
        return np.empty(0) if self.comparison is None else np.asarray(np.ptp(self.comparison.mean, axis=0))

    @property
    def deviation(self) -> Floats:
        """Standard deviation of the figures over the prompts, (M,); empty without figures."""
        return np.empty(0) if self.comparison is None else self.comparison.mean.std(axis=0, ddof=1)


def out_of(out: Path, prompt: str) -> Path:
    """Return the file of the predictions with one prompt.

    Examples
    --------
    >>> print(out_of(Path("answers.jsonl"), "clock"))
    answers.clock.jsonl
    """
    return out.with_name(f"{out.stem}.{prompt}{out.suffix}")


def predict_with_prompts(
    models: Mapping[str, ServedModel],
    annotations: Annotations,
    queries: Queries,
    outs: Mapping[str, Path],
    draws: DrawSettings = DEFAULT_DRAW_SETTINGS,
) -> PromptStudy:
    """Ask each model, one per prompt, about the same queries; write the predictions of each, and compare them."""
    if len(models) < 2:
        raise UsageError(f"got {len(models)} prompts, expected two or more")
    predicted = {name: predict_with_endpoint(model, annotations, queries, outs[name]) for name, model in models.items()}
    answered = annotations.in_order(queries.query_id)
    predictions = {name: read_predictions(outs[name], answered, name=name)[0] for name in predicted}
    return PromptStudy(predicted, _compare(answered, predictions, draws), _agreement(answered, predictions), draws)


def _compare(
    annotations: Annotations, predictions: Mapping[str, Predictions], draws: DrawSettings
) -> Comparison | None:
    if annotations.without_moment.all():
        return None
    protocol = resolve_protocol(None, annotations)
    measures = measures_of_one_answer(None, protocol)
    groups = {name: [evaluate(annotations, answers, measures, protocol)] for name, answers in predictions.items()}
    return compare(groups, stream(draws.seed, "prompts"), resamples=draws.resamples, permutations=draws.permutations)


def _agreement(annotations: Annotations, predictions: Mapping[str, Predictions]) -> tuple[PromptAgreement, ...]:
    answers = {name: first_answers(annotations, predicted) for name, predicted in predictions.items()}
    agreements = []
    for (first, a), (second, b) in itertools.combinations(answers.items(), 2):
        both = a.answered & b.answered
        times = [values[both] for values in (a.start_s, a.end_s, b.start_s, b.end_s)]
        same = (np.abs(times[0] - times[2]) <= SAME_S) & (np.abs(times[1] - times[3]) <= SAME_S)
        n_both = int(both.sum())
        iou, equal = (float(np.mean(values)) if n_both else float("nan") for values in (temporal_iou(*times), same))
        agreements.append(PromptAgreement(first, second, n_both, iou, equal))
    return tuple(agreements)
