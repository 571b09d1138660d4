"""truemoment meta population: write the predictions of simulated systems, a file each."""

from __future__ import annotations

from pathlib import Path

import click

from truemoment.base.boundary.files import atomic_folder
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver
from truemoment.cli.groups import Measuring, Output, data_options, measuring_options, output_options
from truemoment.cli.options import FILE, count_option, refuse_folder, refuse_outputs, seed_option
from truemoment.data.datasets.source import AnnotationSource

MEASURES = "R@1,IoU=0.5; R@1,IoU=0.7; R@5,IoU=0.5"

TOP, MOST_PREDICTIONS = 10, 60
"""Those of the simulation, TOP and PLACES * COPIES, which is not imported before it is needed."""


@click.command("population", cls=Command)
@data_options
# fit_options would add --engine, which finds verbs for baselines: simulated systems read no words
@click.option("--fit-split", metavar="NAME", help="Split whose moments biased systems use. [default: train]")
@click.option(
    "--fit-annotations", type=FILE, metavar="FILE", help="Your own annotations for that, in place of a split."
)
@click.option(
    "--variants",
    "n_variants",
    type=click.IntRange(2, 10_000),
    metavar="N",
    help="N variants of one system, as from a search for hyper-parameters, in place of different systems.",
)
@count_option("--top", TOP, "Predictions per query.", least=1, most=MOST_PREDICTIONS, metavar="K")
@measuring_options
@seed_option("recipes and draws")
@click.option("-o", "--out", type=FILE, required=True, metavar="DIR", help="Output folder.")
@output_options
def command(
    data: AnnotationSource,
    fit_split: str | None,
    fit_annotations: Path | None,
    n_variants: int | None,
    top: int,
    measuring: Measuring,
    seed: int,
    out: Path,
    output: Output,
) -> None:
    """Simulate systems of known quality, and write their predictions.

    Each is a native prediction file whose first line has its recipe. Simulated systems know the
    references: use them to study measures, never as methods. The same seed gives the same
    recipes on every split, and the systems that --population adds elsewhere.

    \b
    truemoment meta population --dataset charades-sta --split test -o systems/
    truemoment meta population --dataset charades-cd --split val --variants 64 -o val/
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    import numpy as np

    from truemoment.data.formats import write_predictions
    from truemoment.evaluation.evaluate import evaluate
    from truemoment.evaluation.measures import parse_measures
    from truemoment.evaluation.scores import Scores
    from truemoment.studies.meta.population import default_population, variants
    from truemoment.studies.meta.reports.population import PopulationRun, document, report
    from truemoment.studies.meta.simulation import simulate_each
    from truemoment.studies.meta.systems import Systems

    refuse_folder(out)
    refuse_outputs([*data.files(), fit_annotations], [output.json_path])
    measures, protocol = parse_measures(measuring.measures or MEASURES), measuring.parsed_protocol()
    measures += tuple(measure for measure in parse_measures("mIoU") if measure not in measures)
    references = data.read()
    train = data.training(references, fit_split, fit_annotations)
    for_predictions, for_recipes = np.random.default_rng(seed).spawn(2)
    recipes = default_population() if n_variants is None else variants(n_variants, for_recipes)
    fitted_on = "" if train is None else f"{train.dataset}/{train.split}"
    scores: dict[str, Scores] = {}

    def deliver_report() -> None:
        run = PopulationRun(recipes, Systems(scores), fitted_on, seed, top, str(out))
        deliver(report(run), lambda: document(run), output)

    with atomic_folder(out, deliver_report) as folder:
        simulated = simulate_each(recipes, references, for_predictions, fit=train, top=top, progress=output.progress)
        for recipe, (name, predictions) in zip(recipes, simulated, strict=True):
            made_by = {"simulated": recipe.recipe, "seed": seed, "top": top}
            write_predictions(folder / f"{name}.jsonl", predictions, references, made_by=made_by)
            scores[name] = evaluate(references, predictions, measures, protocol)
