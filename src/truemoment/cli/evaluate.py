"""truemoment evaluate: measure predictions."""

from __future__ import annotations

from pathlib import Path

import click

from truemoment.base.boundary.files import source_of
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver
from truemoment.cli.groups import (
    Measuring,
    Output,
    PageOutput,
    data_options,
    measuring_options,
    output_options,
    page_options,
)
from truemoment.cli.options import (
    FILE,
    MOST_RESAMPLES,
    PredictionOptions,
    count_option,
    reading_options,
    refuse_outputs,
    seed_option,
)
from truemoment.data.datasets.source import AnnotationSource


@click.command("evaluate", cls=Command)
@click.argument("predictions", type=FILE)
@data_options
@measuring_options
@reading_options
@count_option(
    "--resamples",
    None,
    "Number of resamples of the videos for 95 % intervals. [default: no intervals]",
    least=2,
    most=MOST_RESAMPLES,
)
@seed_option("the resamples")
@click.option("--save-scores", type=FILE, metavar="FILE.npz", help="Save the per-query statistics.")
@count_option(
    "--show-answers",
    0,
    "Show N answers in words with the moments read from them, and N answers without.",
    least=0,
    most=1000,
)
@click.option(
    "--calibration",
    is_flag=True,
    help="Measure whether scores estimate the IoU: calibration errors, rank correlation, reliability figure.",
)
@page_options
@output_options
def command(
    predictions: Path,
    data: AnnotationSource,
    measuring: Measuring,
    how: PredictionOptions,
    resamples: int | None,
    seed: int,
    save_scores: Path | None,
    show_answers: int,
    calibration: bool,
    page: PageOutput,
    output: Output,
) -> None:
    """Measure PREDICTIONS against the annotations of a split.

    \b
    truemoment evaluate preds.jsonl --dataset charades-cd --split test-ood --data-dir data
    truemoment evaluate preds.jsonl --annotations mine.jsonl --measures "R@1,IoU=0.5; AxIoU@10"
    truemoment evaluate preds.jsonl --annotations mine.jsonl --calibration --html page.html
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    import numpy as np

    from truemoment.data.language.paragraphs import order_in_signature
    from truemoment.evaluation.evaluate import evaluate
    from truemoment.evaluation.uncertainty import bootstrap, interval95, stream
    from truemoment.studies.diagnosis import calibration as calibrating
    from truemoment.studies.evaluate import report as reports

    page.refuse()
    refuse_outputs([predictions, *data.files()], [page.html, output.json_path, save_scores])
    measures, protocol = measuring.parsed_measures(), measuring.parsed_protocol()  # refused before files are read
    reference = data.read()
    answers, match = how.read(predictions, reference, progress=output.progress)
    scores = evaluate(reference, answers, measures, protocol, progress=output.progress)
    intervals = None
    if resamples is not None:
        intervals = interval95(bootstrap(scores, np.random.default_rng(seed), resamples=resamples))
    of_scores = None
    if calibration:
        rng = stream(seed, "calibration")
        of_scores = calibrating.calibration(reference, answers, rng, resamples=resamples or calibrating.RESAMPLES)
    found = reports.EvaluatedFile(
        scores=scores,
        figures=scores.measured(intervals),
        match=match,
        source=source_of(predictions),
        depth=int(answers.lengths.max(initial=0)),
        resamples=resamples or 0,
        seed=seed,
        calibration=of_scores,
        order=order_in_signature(reference),
    )
    if save_scores is not None:
        scores.save(save_scores)
    deliver(reports.report(found, n_answers=show_answers), lambda: reports.document(found), output, page)
