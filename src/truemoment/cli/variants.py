"""truemoment variants: train variants of one method, and save their scores for studies of model selection."""

from __future__ import annotations

from pathlib import Path

import click

from truemoment.base.boundary.text import printable
from truemoment.base.errors import UsageError
from truemoment.cli.command import Command
from truemoment.cli.delivery import suggest
from truemoment.cli.groups import Learning, Output, learning_options
from truemoment.cli.options import FILE, refuse_files, refuse_outputs, say, seed_option, status_line
from truemoment.cli.threads import OF_MODELS, threads_option

NMS = "1,0.3,0.35,0.4,0.45,0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0.9,0.95,0.99"


@click.command("variants", cls=Command)
@click.argument("recipe", metavar="RECIPE")
@learning_options
@click.option(
    "--learning-rates",
    default="0.0003,0.001,0.003",
    show_default=True,
    metavar="A,B",
    help="Learning rates: a run for each.",
)
@click.option("--nms", default=NMS, show_default=True, metavar="A,B", help="NMS thresholds; 1 for no suppression.")
@click.option("--no-shuffled", is_flag=True, help="Leave out the variants on shuffled videos.")
@click.option("--measures", metavar="'A; B'", help="Measures to save. [default: those of all studies of measures]")
@seed_option("weights, order and all draws")
@click.option(
    "-o", "--out", type=FILE, required=True, metavar="DIR", help="Output folder. Existing variants in it are kept."
)
@click.option("--quiet", is_flag=True, help="No report, and no progress on standard error.")
@threads_option(OF_MODELS)
def command(
    recipe: str,
    learning: Learning,
    learning_rates: str,
    nms: str,
    no_shuffled: bool,
    measures: str | None,
    seed: int,
    out: Path,
    quiet: bool,
) -> None:
    """Train RECIPE at several learning rates, and save the scores of its variants.

    A variant is a learning rate, an epoch, an NMS threshold, and original or shuffled videos. The
    scores go to DIR/val, DIR/test-ood and so on, where 'truemoment meta selection' reads them. The
    same command resumes an interrupted grid.

    \b
    truemoment variants tan2d --dataset charades-cd --features perception:0.3 -o grid
    truemoment meta selection --validation grid/val --test grid/test-ood
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.evaluation.measures import parse_measures
    from truemoment.learning.training.grounding import require_grounding
    from truemoment.learning.training.recipes import read_recipe
    from truemoment.learning.training.run import Run, RunSources
    from truemoment.learning.training.variants import VariantGrid, make_variants
    from truemoment.studies.meta.systems import DEFAULT_MEASURES

    loaded = read_recipe(recipe, learning.changes)
    require_grounding(loaded, f"{loaded.model} ranks clips, expected a recipe of a model that answers with moments")
    if measures is not None:
        parse_measures(measures)
    grid = VariantGrid(
        _numbers("--learning-rates", learning_rates, 1e-9, 10.0),
        _numbers("--nms", nms, 0.0, 1.0),
        shuffled=loaded.family.sees_video and not no_shuffled,
    )
    refuse_files({"-o": out})
    refuse_outputs(learning.files(), [out])
    run = Run.resolve(loaded, RunSources(learning.source, learning.features, tests=learning.tests), seed)
    output = Output(json_path=None, style=None, quiet=quiet)
    with status_line(show=output.progress) as on_status:
        n_variants = make_variants(run, grid, out, measures=measures or DEFAULT_MEASURES, on_status=on_status)
    if quiet:
        return
    splits = [run.val.split, *run.tests]
    where = f"{out}, scores on {printable(', '.join(splits))}"
    click.echo(f"{n_variants:,} variants of {loaded.model} in {where}")
    for note in run.notes:
        say(f"note: {note}")
    words = ["truemoment", "meta", "selection", "--validation", str(out / splits[0])]
    suggest("which measure chooses well among them?", [*words, "--test", str(out / splits[-1])], output)


def _numbers(option: str, text: str, low: float, high: float) -> tuple[float, ...]:
    from truemoment.base.boundary.files import read_number

    numbers = tuple(read_number(part) for part in text.split(","))
    if not all(low <= number <= high for number in numbers) or len(set(numbers)) < len(numbers):
        raise UsageError(f"{option}: got {text!r}, expected different numbers from {low:g} to {high:g}, e.g. 0.3,0.5")
    return numbers
