"""``truemoment.baseline``: what a method without learning from video scores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from truemoment.base.records import Predictions
from truemoment.baselines import BASELINES
from truemoment.baselines.running import BaselineRun, check_repeats, run_baseline
from truemoment.cli.api.records import AnyAnnotations, read_annotations, source_of
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.protocols import Protocol
from truemoment.evaluation.scores import Scores
from truemoment.report.model import Report
from truemoment.report.result import Result
from truemoment.studies.evaluate import report_baseline as reports


@dataclass(frozen=True, repr=False, eq=False)
class BaselineResult(Result):
    """Runs of a baseline that report themselves.

    Parameters
    ----------
    run
        Predictions of the first run, scores of all runs.
    """

    run: BaselineRun

    @property
    def predictions(self) -> Predictions:
        """Predictions of the first run."""
        return self.run.predictions

    @property
    def scores(self) -> Scores:
        """Scores of the first run."""
        return self.run.runs[0]

    def report(self) -> Report:
        """Return the report for people."""
        return reports.report(self.run)

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment baseline --json`` writes it."""
        return reports.document(self.run)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row a measure: mean and standard deviation over the runs."""
        return [
            {"measure": str(measure), "value": float(self.run.mean[m]), "spread": float(self.run.spread[m])}
            for m, measure in enumerate(self.scores.measures)
        ]

    def __repr__(self) -> str:
        """Return the baseline and its first figure, in one line."""
        scores = self.scores
        first = scores.measures[0]
        value = scores.protocol.percent(float(self.run.mean[0]))
        return f"{self.run.title} on {scores.dataset}/{scores.split}: {first} {value}"


def baseline(
    name: str,
    annotations: AnyAnnotations | None = None,
    *,
    dataset: str | os.PathLike[str] | None = None,
    split: str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    train: AnyAnnotations | None = None,
    fit_split: str | None = None,
    measures: str | Sequence[Measure | str] | None = None,
    protocol: str | Protocol | None = None,
    top: int = 10,
    repeats: int = 1,
    seed: int = 0,
    fit_measure: str = "R@1,IoU=0.5",
    proposals: str = "sparse-map:16",
    engine: str = "lexicon",
) -> BaselineResult:
    """Run a baseline on a split.

    Parameters
    ----------
    name
        One of :data:`truemoment.baselines.BASELINES`, for instance ``sentence-network`` or ``best-constant``.
    annotations
        The split on which it is measured: a record, or a JSON Lines file.
    dataset, split, data_dir
        Name of a dataset and a split, and the folder with the datasets (or the variable ``TRUEMOMENT_DATA``).
    train, fit_split
        Annotations, or the name of a split, that the baseline is fitted on. [default: the split ``train``]
    measures, protocol
        What is measured, and how. [default: the dataset's own]
    top
        Number of predictions of each query.
    repeats
        Number of runs of a baseline that draws.
    seed
        Seed of all draws.
    fit_measure, proposals, engine
        Measure that the baseline is fitted for, its proposals, and the language engine that finds verbs, where it
        uses them.

    Returns
    -------
    BaselineResult
        Its predictions and scores; it shows its report in a notebook.

    Raises
    ------
    UsageError
        If the baseline is unknown, has nothing to learn from, or it is not clear which annotations are meant.
    MissingFileError, InputError
        If a file is missing or malformed.
    """
    check_repeats(name, repeats)
    source = source_of(annotations, dataset, split, data_dir)
    reference = read_annotations(annotations) if source is None else source.read()
    fitted_on = None if train is None else read_annotations(train)
    if fitted_on is None and source is not None and BASELINES[name].learns:
        fitted_on = source.training(reference, fit_split)
    found = run_baseline(
        name,
        reference,
        train=fitted_on,
        measures=measures,
        protocol=protocol,
        top=top,
        repeats=repeats,
        seed=seed,
        fit_measure=fit_measure,
        proposals=proposals,
        engine=engine,
    )
    return BaselineResult(found)
