"""Runs of a baseline on a split: it is fitted, answers every query, and is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats
from truemoment.base.records import Annotations, Predictions
from truemoment.baselines import BASELINES, Choices, get_baseline, make_baseline
from truemoment.baselines.proposals import read_proposals
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import Measure, parse_measure
from truemoment.evaluation.protocols import Protocol
from truemoment.evaluation.scores import Scores


@dataclass(frozen=True, eq=False)
class BaselineRun:
    """Runs of a baseline on a split.

    `name` is that in :data:`~truemoment.baselines.BASELINES`, and `title` its name once it is fitted. `predictions` are
    those of the first run, and `runs` the scores of each. `choices` are the settings that its predictions depend on
    (measure, engine or proposals), by name.
    """

    name: str
    title: str
    predictions: Predictions
    runs: tuple[Scores, ...]
    train: Annotations | None
    choices: Mapping[str, str]
    top: int
    seed: int

    @property
    def figures(self) -> Floats:
        """Figure of each measure in each run, shape (runs, M); NaN where it is undefined."""
        return np.array([[run.value(measure) for measure in run.measures] for run in self.runs])

    @property
    def mean(self) -> Floats:
        """Mean over the runs, shape (M,)."""
        return np.asarray(self.figures.mean(axis=0))

    @property
    def spread(self) -> Floats:
        """Sample standard deviation over the runs, shape (M,); NaN for a single run."""
        figures = self.figures
        return np.asarray(figures.std(axis=0, ddof=1) if len(figures) > 1 else np.full(figures.shape[1], np.nan))


def run_baseline(
    name: str,
    annotations: Annotations,
    *,
    train: Annotations | None = None,
    measures: str | Sequence[Measure | str] | None = None,
    protocol: str | Protocol | None = None,
    fit_measure: str = "R@1,IoU=0.5",
    proposals: str = "sparse-map:16",
    engine: str = "lexicon",
    top: int = 10,
    repeats: int = 1,
    seed: int = 0,
    progress: Callable[[Sequence[np.random.Generator]], Iterable[np.random.Generator]] = iter,
) -> BaselineRun:
    """Run a baseline of :data:`~truemoment.baselines.BASELINES` on a split.

    Parameters
    ----------
    train
        The split on which it is fitted; None for a baseline that learns nothing.
    measures, protocol
        As for :func:`truemoment.evaluate`.
    fit_measure, proposals, engine
        Settings of baselines that take them, see :func:`truemoment.baselines.proposals.read_proposals` and
        :func:`truemoment.data.language.get_engine`.
    top, repeats
        Largest number of predictions per query, and number of runs; more than 1 only for a baseline that draws.
    progress
        Iterates over the generators of the runs, for instance under a progress bar.

    Examples
    --------
    >>> a = Annotations.from_rows([("v#0", "v", 30.0, "a door opens", 0.0, 15.0)])
    >>> run_baseline("predict-all", a, measures="mIoU").mean
    array([0.5])
    """
    check_repeats(name, repeats)
    baseline = BASELINES[name]
    if baseline.learns and train is None:
        raise UsageError(f"{name} learns from a split: give --fit-split NAME or --fit-annotations FILE")
    scheme, measure = read_proposals(proposals), parse_measure(fit_measure)
    scores: list[Scores] = []
    first: list[Predictions] = []
    title = ""
    for rng in progress(np.random.default_rng(seed).spawn(repeats)):
        settings = Choices(rng, measure, protocol, scheme, engine=engine, references=annotations)
        grounder = make_baseline(name, settings)
        grounder = grounder.fit(train) if baseline.learns and train is not None else grounder
        predictions = grounder.ground(annotations.queries, top)
        scores.append(evaluate(annotations, predictions, measures, protocol))
        first = first or [predictions]
        title = grounder.name
    values = {"measure": fit_measure, "engine": engine, "proposals": proposals}
    train = train if baseline.learns else None
    choices = {choice: values[choice] for choice in baseline.takes}
    return BaselineRun(name, title, first[0], tuple(scores), train, choices, top, seed)


def check_repeats(name: str, repeats: int) -> None:
    """Refuse an unknown baseline, and several runs of one that draws nothing."""
    if not get_baseline(name).random and repeats > 1:
        raise UsageError(f"--repeats: {name} draws nothing, so every run would be the same")
