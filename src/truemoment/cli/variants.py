"""truemoment variants: train variants of one method, and save their scores for studies of model selection."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from truemoment.base.boundary.text import printable
from truemoment.base.errors import UsageError
from truemoment.base.request import Request, Resumed, argument, option, seed
from truemoment.cli import binder
from truemoment.cli.delivery import suggest
from truemoment.cli.outputs import refuse_files, say, status_line
from truemoment.cli.parts import ModelThreads, Output
from truemoment.learning.training.request import Learning

NMS = "1,0.3,0.35,0.4,0.45,0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0.9,0.95,0.99"


@dataclass(frozen=True, kw_only=True)
class VariantsRequest(Request):
    """The recipe, and its variants."""

    recipe: str = argument(metavar="RECIPE")
    learning_rates: str = option("Learning rates: a run for each.", "0.0003,0.001,0.003", metavar="A,B")
    nms: str = option("NMS thresholds; 1 for no suppression.", NMS, metavar="A,B")
    no_shuffled: bool = option("Leave out the variants on shuffled videos.", False)
    measures: str | None = option("Measures to save. [default: those of all studies of measures]", metavar="'A; B'")
    seed: int = seed("weights, order and all draws")
    out: Resumed[Path] = option(
        "Output folder. Existing variants in it are kept.", name="-o --out", metavar="DIR", required=True
    )
    quiet: bool = option("No report, and no progress on standard error.", False)


@binder.command("variants")
def command(request: VariantsRequest, learning: Learning, _threads: ModelThreads) -> None:
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

    loaded = read_recipe(request.recipe, learning.changes)
    require_grounding(loaded, f"{loaded.model} ranks clips, expected a recipe of a model that answers with moments")
    if request.measures is not None:
        parse_measures(request.measures)
    grid = VariantGrid(
        _numbers("--learning-rates", request.learning_rates, 1e-9, 10.0),
        _numbers("--nms", request.nms, 0.0, 1.0),
        shuffled=loaded.family.sees_video and not request.no_shuffled,
    )
    refuse_files({"-o": request.out})
    run = Run.resolve(loaded, RunSources(learning.source, learning.features, tests=learning.tests), request.seed)
    run.require_tests()
    output = Output(quiet=request.quiet)
    with status_line(show=output.progress) as on_status:
        n_variants = make_variants(
            run, grid, request.out, measures=request.measures or DEFAULT_MEASURES, on_status=on_status
        )
    if request.quiet:
        return
    splits = [run.val.split, *run.tests]
    where = f"{request.out}, scores on {printable(', '.join(splits))}"
    say(f"{n_variants:,} variants of {loaded.model} in {where}")
    for note in run.notes:
        say(f"note: {note}")
    words = ["truemoment", "meta", "selection", "--validation", str(request.out / splits[0])]
    suggest("which measure chooses well among them?", [*words, "--test", str(request.out / splits[-1])], output)


def _numbers(option: str, text: str, low: float, high: float) -> tuple[float, ...]:
    from truemoment.base.boundary.files import read_number

    numbers = tuple(read_number(part) for part in text.split(","))
    if not all(low <= number <= high for number in numbers) or len(set(numbers)) < len(numbers):
        raise UsageError(f"{option}: got {text!r}, expected different numbers from {low:g} to {high:g}, e.g. 0.3,0.5")
    return numbers
