"""truemoment meta population: write the predictions of simulated systems, a file each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from truemoment.base.boundary.files import atomic_folder
from truemoment.base.request import In, NewFolder, number, option, seed
from truemoment.cli import binder
from truemoment.cli.delivery import deliver
from truemoment.cli.parts import Output
from truemoment.studies.request import MappedData, Measuring

MEASURES = "R@1,IoU=0.5; R@1,IoU=0.7; R@5,IoU=0.5"

TOP, MOST_PREDICTIONS = 10, 60
"""Those of the simulation, TOP and PLACES * COPIES, which is not imported before it is needed."""


@dataclass(frozen=True, kw_only=True)
class PopulationRequest(MappedData, Measuring):
    """The split, and the systems that are simulated."""

    fit_split: str | None = option("Split whose moments biased systems use. [default: train]", metavar="NAME")
    fit_annotations: In[Path | None] = option(
        "File of your own annotations with these moments, in place of a split.", metavar="FILE"
    )
    n_variants: int | None = number(
        "N variants of one system, as from a search for hyper-parameters, in place of different systems.",
        None,
        2,
        10_000,
        name="--variants",
    )
    top: int = number("Predictions per query.", TOP, 1, MOST_PREDICTIONS, metavar="K")
    seed: int = seed("recipes and draws")
    out: NewFolder[Path] = option("Output folder.", name="-o --out", metavar="DIR", required=True)


@binder.command("population")
def command(request: PopulationRequest, output: Output) -> None:
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

    seed, top, n_variants, out = request.seed, request.top, request.n_variants, request.out
    measures = parse_measures(request.measures_text or MEASURES)
    measures += tuple(measure for measure in parse_measures("mIoU") if measure not in measures)
    references = request.reference()
    train = request.source.training(references, request.fit_split, request.fit_annotations)
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
            scores[name] = evaluate(references, predictions, measures, request.protocol)
