"""truemoment baseline: write what a baseline answers, and what that scores."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from truemoment.cli.options import (
    STANDARD_OUTPUT,
    data_options,
    fit_options,
    measuring_options,
    output_options,
    refuse_outputs,
    seed_option,
    told_path,
    write_json,
)
from truemoment.datasets.source import AnnotationSource, files_of
from truemoment.exceptions import UsageError
from truemoment.text import printable

if TYPE_CHECKING:
    import numpy as np


@click.command("baseline")
@click.argument("name", metavar="NAME")
@data_options
@fit_options
@click.option("--fit-measure", metavar="MEASURE", default="R@1,IoU=0.5", show_default=True, help="Of best-constant.")
@click.option(
    "--proposals",
    metavar="SCHEME",
    default="sparse-map:16",
    show_default=True,
    help="Of random-chance and oracle: sparse-map:N, sliding-windows, windowed-grid[:window=FRAMES,fps=F,...].",
)
@click.option(
    "--top", type=click.IntRange(1, 10_000), default=10, show_default=True, metavar="K", help="Answers a query."
)
@click.option(
    "--repeats",
    type=click.IntRange(1, 100_000),
    default=1,
    show_default=True,
    metavar="N",
    help="Runs of a random one.",
)
@measuring_options
@seed_option("the draws")
@click.option("-o", "--out", type=click.Path(path_type=Path), metavar="FILE", help="Where its predictions go.")
@output_options
def command(  # noqa: PLR0915 - a fifth of the statements are imports, made only when it runs
    name: str,
    dataset: str | None,
    annotations: Path | None,
    split: str | None,
    data_dir: Path | None,
    fit_split: str | None,
    fit_annotations: Path | None,
    engine: str,
    fit_measure: str,
    proposals: str,
    top: int,
    repeats: int,
    measures: str | None,
    protocol: str | None,
    seed: int,
    out: Path | None,
    json_path: Path | None,
    style: Literal["md", "latex"] | None,
    quiet: bool,
) -> None:
    """Run a baseline on a split.

    \b
    NAME is predict-all, best-constant, bias-based, mean-map, prior-only, action-aware,
    sentence-neighbours, sentence-network, uniform, random-chance or oracle.

    With --repeats the mean and spread of N runs are told; the first of them is written.

    \b
    truemoment baseline action-aware --dataset charades-sta --split test -o blind.jsonl
    truemoment baseline uniform --dataset charades-sta --split test --repeats 100
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    import numpy as np

    from truemoment.baselines import BASELINES, Choices, make_baseline
    from truemoment.evaluation import evaluate
    from truemoment.io import write_predictions
    from truemoment.language import get_engine
    from truemoment.measures import parse_measure, parse_measures
    from truemoment.proposals import read_proposals
    from truemoment.protocols import get_protocol
    from truemoment.reports import baseline as report

    # Mistakes in the options are told before files are read.
    if name not in BASELINES:
        raise UsageError(f"unknown baseline {name!r}, expected one of {', '.join(BASELINES)}")
    baseline = BASELINES[name]
    if repeats > 1 and not baseline.random:
        raise UsageError(f"--repeats: {name} draws nothing, so every run would be the same")
    refuse_outputs([annotations, fit_annotations, *files_of(dataset, data_dir)], [out, json_path])
    form = "native"
    if out is not None:
        form = {".jsonl": "native", ".json": "native", ".parquet": "parquet"}.get(out.suffix.lower(), "")
        if not form:
            raise UsageError(f"--out: got {told_path(out)}, expected a name that ends in .jsonl or .parquet")
    asked_protocol = None if protocol is None else get_protocol(protocol)
    asked_measures = None if measures is None else parse_measures(measures)
    fit_for, scheme = parse_measure(fit_measure), read_proposals(proposals)
    get_engine(engine)
    data = AnnotationSource(dataset, annotations, split, data_dir)
    reference = data.read()
    train = None
    if baseline.learns:
        train = data.training(reference, fit_split, fit_annotations)
        if train is None:
            raise UsageError(f"{name} learns from a split: give --fit-split NAME or --fit-annotations FILE")
    runs, answers, title = [], [], ""
    children = np.random.default_rng(seed).spawn(repeats)
    for rng in _followed(children, show=repeats > 1 and not quiet and sys.stderr.isatty()):
        grounder = make_baseline(
            name, Choices(rng, fit_for, asked_protocol, scheme, engine=engine, references=reference)
        )
        grounder = grounder if train is None else grounder.fit(train)
        answers.append(grounder.ground(reference.queries, top))
        runs.append(evaluate(reference, answers[-1], asked_measures, asked_protocol))
        title = grounder.name
        del answers[1:]  # those of the first run are written
    if out is not None:
        write_predictions(out, answers[0], reference, format=form)
    told = report.BaselineRun(
        name=name,
        title=title,
        kind=baseline.kind,
        fitted_on=train,
        choices={of: {"measure": fit_measure, "engine": engine, "proposals": proposals}[of] for of in baseline.takes},
        runs=tuple(runs),
        top=top,
        seed=seed,
        out=None if out is None else told_path(out),
    )
    if json_path is not None:
        write_json(json_path, report.document(told))
    if json_path != STANDARD_OUTPUT:
        if style is None:
            click.echo("\n".join(map(printable, report.preamble(told))) + "\n")
        click.echo(report.table(told, style=style or "plain"))
    if not quiet:
        click.echo(f"\n{printable(report.closing(told))}", err=style is not None or json_path == STANDARD_OUTPUT)


def _followed(children: list[np.random.Generator], *, show: bool) -> Iterator[np.random.Generator]:
    """Yield a generator for each run, under a progress bar if there is someone to see it."""
    if not show:
        yield from children
        return
    from tqdm import tqdm

    yield from tqdm(children, desc="runs", leave=False)
