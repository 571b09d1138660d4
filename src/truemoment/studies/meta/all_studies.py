"""All studies of measures on one set of systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from truemoment.base.errors import InputError, UsageError
from truemoment.base.records import Annotations
from truemoment.base.request import ignore
from truemoment.data.datasets.source import without_queries_of
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.uncertainty import stream
from truemoment.report.words import few
from truemoment.studies.meta.agreement import Agreement, agreement
from truemoment.studies.meta.ambiguity import Ambiguity, under_noise
from truemoment.studies.meta.axioms import AxiomResult, check_axioms
from truemoment.studies.meta.loading import LoadedSystems
from truemoment.studies.meta.noise import NoiseModel
from truemoment.studies.meta.population import variants
from truemoment.studies.meta.power import Power, power
from truemoment.studies.meta.request import Effort, SystemSource
from truemoment.studies.meta.selection import Selection, select, without_saturated
from truemoment.studies.meta.simulation import simulate_each
from truemoment.studies.meta.stability import Stability, stability
from truemoment.studies.meta.systems import Systems
from truemoment.studies.meta.theory import Theory, theory
from truemoment.studies.meta.ties import Ties, ties


@dataclass(frozen=True, eq=False)
class Studies:
    """The results of the studies of measures on the same systems.

    Parameters
    ----------
    axioms
        Whether each measure satisfies each axiom; empty if they were not checked.
    agreement, stability, ties, power, selection, theory
        The result of each study; None if it was not run.
    ambiguity
        One result per model of label noise.
    simulated_variants
        Whether the variants of the selection are simulated.
    """

    systems: Systems
    axioms: tuple[AxiomResult, ...] = ()
    agreement: Agreement | None = None
    stability: Stability | None = None
    ties: Ties | None = None
    ambiguity: tuple[Ambiguity, ...] = ()
    power: Power | None = None
    selection: Selection | None = None
    theory: Theory | None = None
    notes: tuple[str, ...] = ()
    simulated_variants: bool = False


Result = TypeVar("Result")


def all_studies(
    source: SystemSource,
    loaded: LoadedSystems,
    noise: Mapping[str, Sequence[NoiseModel]],
    *,
    validation: Annotations | None = None,
    effort: Effort | None = None,
    on_status: Callable[[str], None] = ignore,
) -> Studies:
    """Run every study that these systems allow; a note gives the reason for each study that is left out.

    `noise` has the levels of each model of label noise. If there is a split `validation`, simulated variants are
    selected on it.
    """
    effort = Effort() if effort is None else effort
    systems = loaded.systems
    _check_validation(loaded, validation)
    left_out: dict[str, str] = {}

    def run(study: str, make: Callable[[np.random.Generator], Result]) -> Result | None:
        on_status(study)
        try:
            return make(stream(effort.seed, study))
        except (UsageError, InputError) as error:
            left_out[study] = str(error)
            return None

    def noisy(rng: np.random.Generator) -> list[Ambiguity]:
        return under_noise(
            loaded, noise, rng, on_unknown=source.how.on_unknown, sets=effort.sets, workers=effort.workers
        )

    def selected(rng: np.random.Generator) -> Selection | None:
        return None if validation is None else _selection(source, loaded, validation, effort, rng)

    ranking = [measure for measure in systems.measures if measure.needs in ("overlaps", "sets")]
    resamples = effort.resamples
    studies = Studies(
        systems,
        axioms=run("axioms", lambda rng: check_axioms(ranking, rng, protocol=systems.first.protocol)) or (),
        agreement=run("agreement", lambda rng: agreement(systems, rng, resamples=resamples)),
        ties=run("ties", lambda rng: ties(systems, rng, resamples=resamples)),
        power=run("power", lambda rng: power(systems, rng, repetitions=effort.repetitions)),
        theory=run("theory", theory),
        selection=run("selection", selected),
        stability=run("stability", lambda rng: stability(systems, rng, trials=effort.trials, workers=effort.workers)),
        ambiguity=tuple((run("ambiguity", noisy) if loaded.predictions else None) or ()),
        simulated_variants=True,
    )
    if unpredicted := [name for name in systems.names if name not in loaded.predictions]:
        left_out["ambiguity"] = f"no predictions in the saved scores {few(unpredicted)}"
    notes = (*loaded.notes, *(f"Not studied, {study}: {why}." for study, why in left_out.items()))
    return replace(studies, notes=notes)


def _check_validation(loaded: LoadedSystems, validation: Annotations | None) -> None:
    if validation is None:
        return
    if loaded.annotations is None:
        raise UsageError(
            "--validation-split: variants are simulated from annotations: give --dataset, or --annotations"
        )
    without_queries_of(loaded.annotations, validation, "--validation-split")


def _selection(
    source: SystemSource, loaded: LoadedSystems, validation: Annotations, effort: Effort, rng: np.random.Generator
) -> Selection:
    """Simulate variants of one system on both splits, and select among them by every measure."""
    assert loaded.annotations is not None  # noqa: S101 - all_studies refuses a validation split without annotations
    for_recipes, for_validation, for_test, for_study = rng.spawn(4)
    recipes = variants(effort.variants, for_recipes)
    fitted_on = loaded.fitted_on or source.training(source.source, loaded.annotations)
    sides = []
    for split, draws in ((validation, for_validation), (loaded.annotations, for_test)):
        scores = {
            name: evaluate(split, predictions, loaded.systems.measures, loaded.systems.first.protocol)
            for name, predictions in simulate_each(recipes, split, draws, fit=fitted_on)
        }
        sides.append(Systems(scores))
    return select(sides[0], without_saturated(sides[1]), for_study, resamples=effort.resamples)
