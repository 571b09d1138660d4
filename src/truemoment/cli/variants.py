"""truemoment variants: train variants of one method, and save their scores for studies of model selection."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from truemoment.cli.options import (
    followed,
    learning_options,
    refuse_files,
    refuse_outputs,
    seed_option,
    source_file,
    told_path,
)
from truemoment.cli.train import prepare
from truemoment.datasets.source import AnnotationSource, files_of
from truemoment.exceptions import UsageError
from truemoment.text import printable

NMS = "1,0.3,0.35,0.4,0.45,0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0.9,0.95,0.99"


@click.command("variants")
@click.argument("recipe", metavar="RECIPE")
@learning_options
@click.option("--learning-rates", default="0.0003,0.001,0.003", show_default=True, metavar="A,B", help="A run each.")
@click.option("--nms", default=NMS, show_default=True, metavar="A,B", help="Thresholds of suppression; 1 is none.")
@click.option("--no-shuffled", is_flag=True, help="Leave out the variants that are shown shuffled videos.")
@click.option("--measures", metavar="'A; B'", help="What is saved. [default: those of all studies of measures]")
@seed_option("weights, order and all draws")
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Goes on if it is there."
)
@click.option("--quiet", is_flag=True, help="No report, and no progress on standard error.")
def command(
    recipe: str,
    dataset: str | None,
    annotations: Path | None,
    data_dir: Path | None,
    features: str | None,
    learning_rates: str,
    nms: str,
    no_shuffled: bool,
    tests: tuple[str, ...],
    changes: tuple[str, ...],
    measures: str | None,
    seed: int,
    out: Path,
    quiet: bool,
) -> None:
    """Train RECIPE at several learning rates, and save the scores of its variants.

    A variant is a learning rate, an epoch, a threshold of suppression, and original or shuffled
    videos. The scores go to DIR/val, DIR/test-ood and so on, as 'truemoment meta selection' takes
    them. What is there already is not made again.

    \b
    truemoment variants tan2d --dataset charades-cd --features perception:0.3 -o grid
    truemoment meta selection --validation grid/val --test grid/test-ood
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.measures import parse_measures
    from truemoment.metaevaluation.systems import DEFAULT_MEASURES
    from truemoment.models import get_family
    from truemoment.training.recipes import read_recipe
    from truemoment.training.variants import Grid, make_variants

    asked = read_recipe(recipe, changes)
    if measures is not None:
        parse_measures(measures)
    sees = "video" in get_family(asked.model).needs
    grid = Grid(
        _numbers("--learning-rates", learning_rates, 1e-9, 10.0),
        _numbers("--nms", nms, 0.0, 1.0),
        shuffled=sees and not no_shuffled,
    )
    refuse_files({"-o": out})
    refuse_outputs([annotations, source_file(features), *files_of(dataset, data_dir)], [out])
    data = AnnotationSource(dataset, annotations, None, data_dir)
    task, answered = prepare(
        asked,
        data,
        features=features,
        train_split="train",
        select_split=None,
        force=False,
        tests=tests,
        skip_missing=False,
        seed=seed,
    )
    show = not quiet and sys.stderr.isatty()
    with followed(show=show) as tell:
        n_variants = make_variants(task, grid, out, answered, measures=measures or DEFAULT_MEASURES, tell=tell)
    if not quiet:
        splits = [task.val.split, *answered]
        click.echo(
            f"{n_variants:,} variants of {asked.model} in {told_path(out)}, scores on {printable(', '.join(splits))}"
        )
        for note in task.notes:
            click.echo(printable(f"note: {note}"))
        folders = [told_path(out / splits[0]), "--test", told_path(out / splits[-1])]
        click.echo("which measure chooses well among them?")
        click.echo(f"  truemoment meta selection --validation {' '.join(folders)}")


def _numbers(option: str, text: str, low: float, high: float) -> tuple[float, ...]:
    from truemoment.files import read_number

    found = tuple(read_number(part) for part in text.split(","))
    if not all(low <= number <= high for number in found) or len(set(found)) < len(found):
        raise UsageError(f"{option}: got {text!r}, expected different numbers from {low:g} to {high:g}, e.g. 0.3,0.5")
    return found
