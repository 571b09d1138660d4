"""truemoment evaluate: measure a prediction file by a stated protocol."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import click

from truemoment.cli.options import (
    MOST_RESAMPLES,
    STANDARD_OUTPUT,
    PredictionOptions,
    chosen_annotations,
    data_options,
    files_of,
    measuring_options,
    output_options,
    reading_options,
    refuse_outputs,
    seed_option,
    told_path,
    write_json,
)
from truemoment.text import printable


@click.command("evaluate")
@click.argument("predictions", type=click.Path(path_type=Path))
@data_options
@measuring_options
@reading_options
@click.option(
    "--resamples",
    type=click.IntRange(2, MOST_RESAMPLES),
    metavar="N",
    help="95 % intervals from N resamples of the videos.",
)
@seed_option("the resamples")
@click.option(
    "--save-scores", type=click.Path(path_type=Path), metavar="FILE.npz", help="Save the per-query statistics."
)
@click.option(
    "--show-answers",
    type=click.IntRange(0, 1000),
    default=0,
    show_default=True,
    metavar="N",
    help="Show N answers in words with what was read, and N that could not be.",
)
@output_options
def command(
    predictions: Path,
    dataset: str | None,
    annotations: Path | None,
    split: str | None,
    data_dir: Path | None,
    protocol: str | None,
    measures: str | None,
    how: PredictionOptions,
    resamples: int | None,
    seed: int,
    save_scores: Path | None,
    show_answers: int,
    json_path: Path | None,
    style: Literal["md", "latex"] | None,
    quiet: bool,
) -> None:
    """Measure PREDICTIONS against the annotations of a split.

    \b
    truemoment evaluate preds.jsonl --dataset charades-cd --split test-ood --data-dir data
    truemoment evaluate preds.jsonl --annotations mine.jsonl --measures "R@1,IoU=0.5; AxIoU@10"
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    import numpy as np

    from truemoment.evaluation import evaluate
    from truemoment.files import sha256_of
    from truemoment.measures import parse_measures
    from truemoment.protocols import get_protocol
    from truemoment.reports import evaluation as report
    from truemoment.uncertainty import bootstrap, interval95

    # Mistakes in the options are told before files are read.
    refuse_outputs([predictions, annotations, *files_of(dataset, data_dir)], [json_path, save_scores])
    asked_protocol = None if protocol is None else get_protocol(protocol)
    asked_measures = None if measures is None else parse_measures(measures)
    reference = chosen_annotations(dataset, annotations, split, data_dir)
    show = not quiet and sys.stderr.isatty()
    answers, match = how.read(predictions, reference, progress=show)
    scores = evaluate(reference, answers, asked_measures, asked_protocol, progress=show)
    intervals = None
    if resamples is not None:
        intervals = interval95(bootstrap(scores, np.random.default_rng(seed), resamples=resamples))
    evaluation = report.Evaluation(
        scores=scores,
        figures=scores.measured(intervals),
        match=match,
        source={"path": told_path(predictions), "sha256": sha256_of(predictions)},
        depth=int(answers.lengths.max(initial=0)),
        resamples=resamples or 0,
        seed=seed,
    )
    if save_scores is not None:
        scores.save(save_scores)
    if json_path is not None:
        write_json(json_path, report.document(evaluation))
    table_only = style is not None
    if json_path != STANDARD_OUTPUT:
        if not table_only:
            click.echo("\n".join(map(printable, report.preamble(evaluation))) + "\n")
        click.echo(report.table(evaluation, style=style or "plain"))
        if show_answers and match.parsing is not None:
            click.echo("\n" + "\n".join(report.answers(match.parsing, show_answers)))
    if not quiet:
        to_error = table_only or json_path == STANDARD_OUTPUT
        said = [f"note: {line}" for line in report.notes(evaluation)] + [report.closing(evaluation)]
        click.echo("\n".join([*([] if to_error else [""]), *map(printable, said)]), err=to_error)
