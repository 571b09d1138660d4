"""truemoment baseline: write the predictions of a baseline, and measure them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import click

from truemoment.base.errors import UsageError
from truemoment.cli import completing
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver
from truemoment.cli.groups import Measuring, Output, bound, data_options, measuring_options, output_options
from truemoment.cli.options import FILE, count_option, fit_options, refuse_outputs, seed_option
from truemoment.cli.threads import threads_option
from truemoment.data.datasets.source import AnnotationSource

T = TypeVar("T")

FORMATS = {".jsonl": "native", ".json": "native", ".parquet": "parquet"}
"""Formats of predictions by the ending of the file."""


@dataclass(frozen=True)
class FitOptions:
    """What a baseline learns from, and what it is made of, as the options write it."""

    fit_split: str | None
    fit_annotations: Path | None
    engine: str
    fit_measure: str
    proposals: str


learning_options = bound(
    "learning",
    FitOptions,
    fit_options,
    click.option(
        "--fit-measure",
        metavar="MEASURE",
        default="R@1,IoU=0.5",
        show_default=True,
        help="Measure for which best-constant and the models of sentences are fitted.",
    ),
    click.option(
        "--proposals",
        metavar="SCHEME",
        default="sparse-map:16",
        show_default=True,
        help="Proposals of mean-map, random-chance and oracle: sparse-map:N, sliding-windows, "
        "windowed-grid[:window=FRAMES,fps=F,...].",
    ),
    heading="Fitting",
)


@click.command("baseline", cls=Command)
@click.argument("name", metavar="NAME", shell_complete=completing.baselines)
@data_options
@learning_options
@count_option("--top", 10, "Largest number of predictions a query.", least=1, most=10_000, metavar="K")
@count_option("--repeats", 1, "Number of runs of a baseline that draws.", least=1, most=100_000)
@measuring_options
@seed_option("the draws")
@click.option("-o", "--out", type=FILE, metavar="FILE", help="File for the predictions.")
@threads_option(None)
@output_options
def command(
    name: str,
    data: AnnotationSource,
    learning: FitOptions,
    top: int,
    repeats: int,
    measuring: Measuring,
    seed: int,
    out: Path | None,
    output: Output,
) -> None:
    """Run a baseline on a split.

    \b
    NAME is predict-all, best-constant, bias-based, mean-map, prior-only, action-aware,
    sentence-neighbours, sentence-network, order-table, paragraph-network, uniform,
    random-chance, order-by-start, split-constant or oracle.

    With --repeats the mean and spread of N runs are reported; the first run is written.

    \b
    truemoment baseline action-aware --dataset charades-sta --split test -o blind.jsonl
    truemoment baseline uniform --dataset charades-sta --split test --repeats 100
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.baselines import BASELINES
    from truemoment.baselines.proposals import read_proposals
    from truemoment.baselines.running import check_repeats, run_baseline
    from truemoment.data.formats import write_predictions
    from truemoment.data.language import get_engine
    from truemoment.evaluation.measures import parse_measure
    from truemoment.studies.evaluate import report_baseline as reports

    check_repeats(name, repeats)  # mistakes in the options are refused before files are read
    refuse_outputs([learning.fit_annotations, *data.files()], [out, output.json_path])
    form = _format(out)
    measures, protocol = measuring.parsed_measures(), measuring.parsed_protocol()
    parse_measure(learning.fit_measure)
    read_proposals(learning.proposals)
    get_engine(learning.engine)
    annotations = data.read()
    learns = BASELINES[name].learns
    run = run_baseline(
        name,
        annotations,
        train=data.training(annotations, learning.fit_split, learning.fit_annotations) if learns else None,
        measures=measures,
        protocol=protocol,
        fit_measure=learning.fit_measure,
        proposals=learning.proposals,
        engine=learning.engine,
        top=top,
        repeats=repeats,
        seed=seed,
        progress=_with_bar if repeats > 1 and output.progress else iter,
    )
    if out is not None:
        write_predictions(out, run.predictions, annotations, format=form)
    written = None if out is None else str(out)
    deliver(reports.report(run, written), lambda: reports.document(run, written), output)


def _format(out: Path | None) -> str:
    """Return the format of the predictions by the ending of their file."""
    if out is None:
        return "native"
    if out.suffix.lower() not in FORMATS:
        raise UsageError(f"--out: got {out}, expected a name that ends in .jsonl or .parquet")
    return FORMATS[out.suffix.lower()]


def _with_bar(runs: Sequence[T]) -> Iterable[T]:
    from tqdm import tqdm

    return tqdm(runs, desc="runs", leave=False)
