"""``truemoment.evaluate``: measure predictions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats
from truemoment.base.records import OnUnknown, Predictions
from truemoment.cli.api.records import AnyAnnotations, AnyPredictions, read, read_annotations
from truemoment.data.formats import MatchReport
from truemoment.data.language.paragraphs import order_in_signature
from truemoment.evaluation import evaluate as measuring
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.protocols import Protocol
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import bootstrap, interval95, stream
from truemoment.report.model import Report
from truemoment.report.result import Result
from truemoment.studies.diagnosis import calibration as calibrating
from truemoment.studies.diagnosis.calibration import ScoreCalibration
from truemoment.studies.evaluate import report as reports


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Scores, Result):
    """Scores, with what was read and how: it reports itself.

    Parameters
    ----------
    match
        How rows of the file matched queries.
    source
        ``path`` and ``sha256`` of the prediction file.
    longest
        Number of predictions of the query that has most.
    ci95 : (M, 2)
        95 % intervals; None if none were computed.
    resamples, seed
        Resamples of the videos, and their seed.
    calibration
        Calibration of the scores; None if it was not requested.
    order
        Order of a video's sentences, where it predicts their moments: ``by start``.
    """

    match: MatchReport = field(default_factory=lambda: MatchReport("record", "no file", 0))
    source: Mapping[str, str] = field(default_factory=dict)
    longest: int = 0
    ci95: Floats | None = None
    resamples: int = 0
    seed: int = 0
    calibration: ScoreCalibration | None = None
    order: str = ""

    @property
    def _evaluated(self) -> reports.EvaluatedFile:
        source = {"path": "predictions", "sha256": ""} | dict(self.source)
        figures = self.measured(self.ci95)
        return reports.EvaluatedFile(
            self, figures, self.match, source, self.longest, self.resamples, self.seed, self.calibration, self.order
        )

    def report(self) -> Report:
        """Return the report for people."""
        return reports.report(self._evaluated)

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment evaluate --json`` writes it."""
        return reports.document(self._evaluated)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row a measure: value, ends of its interval, number of queries."""
        return [
            {
                "measure": figure.measure,
                "value": figure.value,
                **({} if figure.ci95 is None else dict(zip(("low", "high"), figure.ci95, strict=True))),
                "n_queries": figure.n_queries,
            }
            for figure in self.measured(self.ci95)
        ]

    def __repr__(self) -> str:
        """Return data and first figures, in one line."""
        figures = [
            f"{one.measure} {'undefined' if one.value is None else self.protocol.percent(one.value)}"
            for one in self.measured()[:3]
        ]
        more = ", ..." if len(self.measures) > len(figures) else ""
        return f"Evaluation on {self.dataset}/{self.split}: {', '.join(figures)}{more}"


def evaluate(
    annotations: AnyAnnotations | Predictions | None = None,
    predictions: AnyPredictions | None = None,
    measures: str | Sequence[Measure | str] | None = None,
    protocol: str | Protocol | None = None,
    *,
    dataset: str | os.PathLike[str] | None = None,
    split: str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    on_unknown: OnUnknown = "refuse",
    resamples: int | None = None,
    seed: int = 0,
    calibration: bool = False,
    progress: bool = False,
) -> Evaluation:
    """Measure predictions against annotations.

    ``evaluate(annotations, predictions)`` takes records or files; ``evaluate(predictions, dataset=..., split=...)``
    reads the annotations of a dataset.

    Parameters
    ----------
    annotations
        The references: a record, or a JSON Lines file. With `dataset`, the predictions.
    predictions
        A record, or a file in any format that TrueMoment reads. Queries without a prediction count as the protocol
        defines it, and so do queries without a reference moment.
    measures
        Text (``"R@1,IoU=0.5; mIoU"``) or values; the protocol's own by default.
    protocol
        A name, a name with changed fields, or a value. [default: ``default``; ``moment-detr`` for QVHighlights]
    dataset, split, data_dir
        Name of a dataset and a split, and the folder with the datasets (or the variable ``TRUEMOMENT_DATA``).
    on_unknown
        ``"refuse"`` or ``"ignore"`` predictions for queries that are not annotated.
    resamples
        Number of resamples of the videos for 95 % intervals; None for no intervals.
    seed
        Seed of the resamples.
    calibration
        Whether the calibration of the scores is measured, with 1,000 resamples unless `resamples` has a number.
    progress
        Whether a progress bar is shown on standard error.

    Returns
    -------
    Evaluation
        The :class:`Scores`, which show their report in a notebook.

    Raises
    ------
    UsageError
        If it is not clear which annotations or predictions are meant.
    InputError, MatchError, MeasureError, ProtocolError
        If a file is malformed, predictions match no query, or a measure or protocol cannot be read or computed.

    Examples
    --------
    >>> from truemoment import Annotations, Predictions, evaluate
    >>> annotations = Annotations.from_rows([("v#0", "v", 30.0, "a door opens", 2.0, 6.0)])
    >>> evaluate(annotations, Predictions.from_lists({"v#0": [(2.0, 5.0)]}), "R@1,IoU=0.5; mIoU")
    Evaluation on own/all: R@1,IoU=0.5 100.00, mIoU 75.00
    """
    if dataset is not None and predictions is None:
        annotations, predictions = None, annotations
    if predictions is None:
        raise UsageError("which predictions? give annotations and predictions, or predictions, dataset and split")
    if isinstance(annotations, Predictions):
        raise UsageError("got predictions as the first argument, expected annotations; or name a dataset and a split")
    reference = read_annotations(annotations, dataset, split, data_dir)
    found = read(predictions, reference, on_unknown=on_unknown, progress=progress)
    scores = measuring.evaluate(
        reference, found.predictions, measures, protocol, on_unknown=on_unknown, progress=progress
    )
    intervals = None
    if resamples is not None:
        intervals = interval95(bootstrap(scores, np.random.default_rng(seed), resamples=resamples))
    of_scores = None
    if calibration:
        rng = stream(seed, "calibration")
        of_scores = calibrating.calibration(
            reference, found.predictions, rng, resamples=resamples or calibrating.RESAMPLES
        )
    lengths = found.predictions.lengths
    n_queries = len(found.predictions.query_id)
    return Evaluation(
        **{of.name: getattr(scores, of.name) for of in fields(Scores)},
        match=found.match or MatchReport("record", "no file", n_queries, by_id=n_queries, moments=int(lengths.sum())),
        source=found.source,
        longest=int(lengths.max(initial=0)),
        ci95=intervals,
        resamples=resamples or 0,
        seed=seed,
        calibration=of_scores,
        order=order_in_signature(reference),
    )
