"""``truemoment.evaluate``: measure predictions."""

from __future__ import annotations

import numpy as np

from truemoment.base.records import Annotations
from truemoment.base.request import function_of
from truemoment.data.language.paragraphs import order_in_signature
from truemoment.evaluation.evaluate import evaluate as measure
from truemoment.evaluation.evaluate import note_on_durations
from truemoment.evaluation.uncertainty import bootstrap, interval95, stream
from truemoment.studies.evaluate.calibration import RESAMPLES, calibration
from truemoment.studies.evaluate.report import Evaluation
from truemoment.studies.evaluate.request import Evaluate
from truemoment.studies.request import named_value, path_of, source_of_predictions


def run(request: Evaluate) -> Evaluation:
    """Measure predictions against annotations.

    Parameters
    ----------
    predictions
        A record, or a file in any format that TrueMoment reads. Queries without a prediction count as the protocol
        defines it, and so do queries without a reference moment.

    Returns
    -------
    Evaluation
        The :class:`Scores`, which show their report in a notebook.

    Raises
    ------
    UsageError
        If it is not clear which annotations are meant.
    InputError, MatchError, MeasureError, ProtocolError
        If a file is malformed, predictions match no query, or a measure or protocol cannot be read or computed.

    Examples
    --------
    >>> from truemoment import Annotations, Predictions, evaluate
    >>> annotations = Annotations.from_rows([("v#0", "v", 30.0, "a door opens", 2.0, 6.0)])
    >>> answers = Predictions.from_lists({"v#0": [(2.0, 5.0)]})
    >>> evaluate(answers, annotations=annotations, measures="R@1,IoU=0.5; mIoU")
    Evaluation on own/all: R@1,IoU=0.5 100.00, mIoU 75.00
    """
    source, progress = request.predictions, request.progress
    reference = request.reference()
    predictions, match = request.read(source, reference, progress=progress)
    scores = measure(
        reference, predictions, request.measures, request.protocol, on_unknown=request.on_unknown, progress=progress
    )
    intervals = of_scores = None
    if request.resamples is not None:
        intervals = interval95(bootstrap(scores, np.random.default_rng(request.seed), resamples=request.resamples))
    if request.calibration:
        rng = stream(request.seed, "calibration")
        of_scores = calibration(reference, predictions, rng, resamples=request.resamples or RESAMPLES)
    if (file := path_of(request.save_scores)) is not None:
        scores.save(file)
    no_length, outside = _unhittable(reference)
    note = note_on_durations(scores.protocol, reference, scores.measures) if request.measures is None else ""
    return Evaluation.of(
        scores,
        match,
        source_of_predictions(named_value(source, "predictions"), predictions),
        int(predictions.lengths.max(initial=0)),
        ci95=intervals,
        resamples=request.resamples or 0,
        seed=request.seed,
        calibration=of_scores,
        order=order_in_signature(reference),
        on_durations=note,
        n_answers=request.show_answers,
        no_length=no_length,
        outside=outside,
        equal_scores=predictions.scored and len(np.unique(predictions.score)) == 1,
    )


def _unhittable(reference: Annotations) -> tuple[int, int]:
    """Return the number of queries with only references of no length, and with only these or others outside."""
    no_length = reference.end_s <= reference.start_s
    outside = (reference.start_s >= reference.duration_s) | (reference.end_s <= 0)
    first = reference.offsets[:-1]
    all_empty = np.logical_and.reduceat(no_length, first)
    return int(all_empty.sum()), int((np.logical_and.reduceat(no_length | outside, first) & ~all_empty).sum())


evaluate = function_of(Evaluate, run, "evaluate")
