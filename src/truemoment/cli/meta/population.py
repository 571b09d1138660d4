"""truemoment meta population: write the answers of simulated systems, a file each."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import click

from truemoment.cli.options import (
    STANDARD_OUTPUT,
    data_options,
    measuring_options,
    output_options,
    refuse_folder,
    refuse_outputs,
    seed_option,
    told_path,
    write_json,
)
from truemoment.datasets.source import AnnotationSource, files_of
from truemoment.files import atomic_folder

MEASURES = "R@1,IoU=0.5; R@1,IoU=0.7; R@5,IoU=0.5"

TOP, MOST_ANSWERS = 10, 60
"""Those of the simulation, TOP and PLACES * COPIES, which is not read before it is needed."""


@click.command("population")
@data_options
# fit_options would bring --engine, which finds verbs for baselines: simulated systems read no words
@click.option("--fit-split", metavar="NAME", help="Split whose moments biased systems lean on. [default: train]")
@click.option(
    "--fit-annotations",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Your own annotations for that, in place of a split.",
)
@click.option(
    "--variants",
    "n_variants",
    type=click.IntRange(2, 10_000),
    metavar="N",
    help="Variants of one system, as a search for hyper-parameters leaves, in place of different systems.",
)
@click.option(
    "--top",
    type=click.IntRange(1, MOST_ANSWERS),
    default=TOP,
    show_default=True,
    metavar="K",
    help="Answers a query.",
)
@measuring_options
@seed_option("recipes and draws")
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="The folder to make.")
@output_options
def command(
    *,
    dataset: str | None,
    annotations: Path | None,
    split: str | None,
    data_dir: Path | None,
    fit_split: str | None,
    fit_annotations: Path | None,
    n_variants: int | None,
    top: int,
    measures: str | None,
    protocol: str | None,
    seed: int,
    out: Path,
    json_path: Path | None,
    style: Literal["md", "latex"] | None,
    quiet: bool,
) -> None:
    """Simulate systems of known quality, and write what they answer.

    Each is a native prediction file whose first line holds its recipe. They are
    handed the references: material to study measures with, never methods. The
    same seed gives the same recipes on every split, and what --population adds
    elsewhere.

    \b
    truemoment meta population --dataset charades-sta --split test -o systems/
    truemoment meta population --dataset charades-cd --split val --variants 64 -o val/
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    import numpy as np

    from truemoment.evaluation import evaluate
    from truemoment.io import write_predictions
    from truemoment.measures import parse_measures
    from truemoment.metaevaluation.population import default_population, variants
    from truemoment.metaevaluation.simulation import simulate_each
    from truemoment.metaevaluation.systems import Systems
    from truemoment.protocols import get_protocol
    from truemoment.reports.metaevaluation import delivery
    from truemoment.reports.metaevaluation.population import PopulationRun, chapter, document

    refuse_folder(out)
    refuse_outputs([annotations, fit_annotations, *files_of(dataset, data_dir)], [json_path])
    asked = parse_measures(MEASURES if measures is None else measures)
    asked += tuple(measure for measure in parse_measures("mIoU") if measure not in asked)
    asked_protocol = None if protocol is None else get_protocol(protocol)
    data = AnnotationSource(dataset, annotations, split, data_dir)
    references = data.read()
    train = data.training(references, fit_split, fit_annotations)
    for_answers, for_recipes = np.random.default_rng(seed).spawn(2)
    recipes = default_population() if n_variants is None else variants(n_variants, for_recipes)
    show = not quiet and sys.stderr.isatty()
    scores = {}
    with atomic_folder(out) as folder:
        answered = simulate_each(recipes, references, for_answers, fit=train, top=top, progress=show)
        for recipe, (name, answers) in zip(recipes, answered, strict=True):
            made_by = {"simulated": recipe.recipe, "seed": seed, "top": top}
            write_predictions(folder / f"{name}.jsonl", answers, references, made_by=made_by)
            scores[name] = evaluate(references, answers, asked, asked_protocol)
    run = PopulationRun(
        recipes,
        Systems(scores),
        "" if train is None else f"{train.dataset}/{train.split}",
        seed,
        top,
        told_path(out),
    )
    if json_path is not None:
        write_json(json_path, document(run))
    if json_path != STANDARD_OUTPUT:
        click.echo("\n".join(delivery.lines([chapter(run)], style=style or "plain")))
    if not quiet:
        click.echo(f"\nwritten to {told_path(out)}", err=style is not None or json_path == STANDARD_OUTPUT)
