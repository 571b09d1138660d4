"""``truemoment.baseline``: the scores of a method that does not see the video."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from truemoment.base.boundary.text import printable
from truemoment.base.records import Predictions
from truemoment.base.request import function_of
from truemoment.baselines import BASELINES
from truemoment.baselines.proposals import read_proposals
from truemoment.baselines.running import BaselineRun, check_repeats, run_baseline
from truemoment.data.formats import write_predictions
from truemoment.data.language import get_engine
from truemoment.evaluation.head import head
from truemoment.evaluation.measures import parse_measure
from truemoment.evaluation.progress import with_progress
from truemoment.evaluation.scores import Scores
from truemoment.report.model import Cell, Report, Section, Table
from truemoment.report.result import Result
from truemoment.report.words import UNDEFINED, counted, points
from truemoment.studies.baseline.request import BaselineRequest

SCHEMA = "truemoment/baseline/1"


@dataclass(frozen=True, repr=False, eq=False)
class BaselineResult(Result):
    """Runs of a baseline, with report, document and rows.

    Parameters
    ----------
    run
        Predictions of the first run, scores of all runs.
    out
        Path of the predictions of the first run; None if they were not written.
    """

    run: BaselineRun
    out: str | None = None

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
        scores = self.scores
        fitted = "" if self.run.train is None else f", fitted on {self.run.train.dataset}/{self.run.train.split}"
        data = f"{scores.dataset}/{scores.split}: {counted(len(scores), 'query', 'queries')}, "
        facts = [
            ("baseline", f"{self.run.name} ({BASELINES[self.run.name].kind}): {self.run.title}{fitted}"),
            ("data", data + counted(scores.n_videos, "video")),
        ]
        if self.out is not None:
            facts.append(("predictions", f"{self.out} (first run)" if len(self.run.runs) > 1 else self.out))
        return Report(
            title=f"{self.run.title} on {scores.dataset}, {scores.split}",
            facts=tuple(facts),
            sections=(Section("measures", "Measures", (self._table(),)),),
            signature=self.signature(),
        )

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment baseline --json`` writes it."""
        return {
            **head(SCHEMA, self.scores),
            "baseline": self.run.name,
            "title": self.run.title,
            "kind": BASELINES[self.run.name].kind,
            "fitted_on": None if self.run.train is None else f"{self.run.train.dataset}/{self.run.train.split}",
            "fitted_on_sha256": None if self.run.train is None else self.run.train.sha256,
            "choices": self.run.choices,
            "predictions": self.out,
            "top": self.run.top,
            "runs": len(self.run.runs),
            "seed": self.run.seed,
            "measures": [
                replace(figure, value=mean, on_threshold=None).as_dict()
                | ({"spread": spread} if np.isfinite(spread) else {})
                for figure, mean, spread in zip(self.scores.measured(), self.run.mean, self.run.spread, strict=True)
            ],
        }

    def _table(self) -> Table:
        """Return the table of measures, in percent as the protocol prints them."""
        scores = self.scores
        several = len(self.run.runs) > 1
        headings = ("measure", f"mean % of {len(self.run.runs)} runs", "spread") if several else ("measure", "%")
        rows = []
        for measure, mean, spread in zip(
            scores.measures, self.run.mean.tolist(), self.run.spread.tolist(), strict=True
        ):
            figure = UNDEFINED if np.isnan(mean) else scores.protocol.percent(mean)
            rows.append(tuple(map(Cell, (str(measure), figure, *([points(spread, 2)] if several else [])))))
        return Table("", headings, (("", tuple(rows)),))

    def signature(self) -> str:
        """Return the signature of the figures."""
        parts = [self.scores.signature(), f"baseline:{self.run.name}"]
        if self.run.train is not None:
            parts.append(f"fit:{self.run.train.dataset}/{self.run.train.split}#{self.run.train.sha256[:8]}")
        parts += [f"{name}:{choice}" for name, choice in self.run.choices.items()]
        parts += [f"top:{self.run.top}", f"seed:{self.run.seed}"]
        return "|".join([*parts, f"runs:{len(self.run.runs)}"] if len(self.run.runs) > 1 else parts)

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


def run(request: BaselineRequest) -> BaselineResult:
    """Run a baseline on a split.

    Parameters
    ----------
    name
        One of :data:`truemoment.baselines.BASELINES`, for instance ``sentence-network`` or ``best-constant``.

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
    name, form = request.name, request.format
    check_repeats(name, request.repeats)  # mistakes in the options are refused before files are read
    parse_measure(request.fit_measure)
    read_proposals(request.proposals)
    get_engine(request.engine)
    annotations = request.reference()
    result = run_baseline(
        name,
        annotations,
        train=request.training(request.origin, annotations) if BASELINES[name].learns else None,
        measures=request.measures,
        protocol=request.protocol,
        fit_measure=request.fit_measure,
        proposals=request.proposals,
        engine=request.engine,
        top=request.top,
        repeats=request.repeats,
        seed=request.seed,
        progress=partial(with_progress, description="runs", show=request.progress, fewest=2),
    )
    if request.out is None:
        return BaselineResult(result)
    write_predictions(Path(request.out), result.predictions, annotations, format=form)
    return BaselineResult(result, printable(str(request.out)))


baseline = function_of(BaselineRequest, run, "baseline")
