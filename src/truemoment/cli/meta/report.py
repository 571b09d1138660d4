"""truemoment meta report: all studies of some systems, on one page with an answer in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from truemoment.cli.meta.ambiguity import annotators_option, levels_of, marked_files, noise_option, under_noise
from truemoment.cli.meta.options import (
    Output,
    SystemOptions,
    repetitions_option,
    resamples_option,
    result_options,
    sets_option,
    stream,
    system_options,
    trials_option,
    workers_option,
)
from truemoment.cli.options import followed, seed_option
from truemoment.datasets.source import without_queries_of
from truemoment.exceptions import InputError, UsageError

if TYPE_CHECKING:
    import numpy as np

    from truemoment.cli.meta.options import Chosen
    from truemoment.metaevaluation.ambiguity import Ambiguity
    from truemoment.metaevaluation.selection import Selection
    from truemoment.records import Annotations


Made = TypeVar("Made")


@click.command("report")
@system_options
@trials_option
@sets_option
@noise_option
@annotators_option
@repetitions_option
@resamples_option
@click.option(
    "--validation-split",
    metavar="NAME",
    help="Study selection too, of simulated variants: chosen on this split, tested on --split.",
)
@click.option(
    "--variants",
    type=click.IntRange(2, 10_000),
    default=64,
    show_default=True,
    metavar="N",
    help="Selection: how many simulated variants.",
)
@seed_option("all draws")
@workers_option
@result_options
def command(
    *,
    chosen: SystemOptions,
    trials: int,
    sets: int,
    kinds: tuple[str, ...],
    marked_by: str | None,
    repetitions: int,
    resamples: int,
    validation_split: str | None,
    variants: int,
    seed: int,
    workers: int | None,
    out: Output,
) -> None:
    """Study measures on some systems in every way, and answer in words.

    Which measures agree, which are stable, which to select by, which differences can be
    trusted; and which findings of the AxIoU paper hold here. Label noise needs answers, so it is
    left out where all systems are saved scores.

    \b
    truemoment meta report runs/ --dataset charades-sta --split test --html measures.html
    truemoment meta report --population --baselines --dataset charades-cd --split test-ood \\
        --validation-split val --annotators human-charades --html measures.html --open
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.metaevaluation.agreement import agreement
    from truemoment.metaevaluation.axioms import check_axioms
    from truemoment.metaevaluation.power import power
    from truemoment.metaevaluation.stability import stability
    from truemoment.metaevaluation.studies import Studies
    from truemoment.metaevaluation.theory import theory
    from truemoment.metaevaluation.ties import ties
    from truemoment.reports.metaevaluation.chapters import chapters_of
    from truemoment.reports.metaevaluation.verdict import verdict

    if marked_by is not None and "annotators" not in kinds:
        kinds = (*kinds, "annotators")
    out.check([*chosen.inputs, *marked_files(marked_by, chosen.data.data_dir)], chosen.folders)
    models = {kind: levels_of(kind, marked_by, chosen.data.data_dir) for kind in kinds}
    validation = None if validation_split is None else chosen.data.read(validation_split)
    read = chosen.read(seed, show=out.show)
    if validation is not None:
        _check_apart(validation, read)
    systems, show = read.systems, out.show
    left_out: dict[str, str] = {}

    def made(study: str, make: Callable[[np.random.Generator], Made]) -> Made | None:
        """Make a study, or say why it cannot be made of these systems: the others can."""
        tell(study)
        try:
            return make(stream(seed, study))
        except (UsageError, InputError) as error:
            left_out[study] = str(error)
            return None

    with followed(show=show) as tell:
        ranking = [measure for measure in systems.measures if measure.needs in ("overlaps", "sets")]
        axioms = made("axioms", lambda rng: check_axioms(ranking, rng, protocol=systems.first.protocol))
        agreed = made("agreement", lambda rng: agreement(systems, rng, resamples=resamples))
        tied = made("ties", lambda rng: ties(systems, rng, resamples=resamples))
        separated = made("power", lambda rng: power(systems, rng, repetitions=repetitions))
        in_theory = made("theory", theory)
        selected = None
        if validation is not None:
            selected = made("selection", lambda rng: _selection(chosen, read, validation, variants, resamples, rng))
    stable = made("stability", lambda rng: stability(systems, rng, trials=trials, workers=workers, progress=show))
    noisy: list[Ambiguity] | None = None
    if read.answers:
        noisy = made(
            "ambiguity",
            lambda rng: under_noise(read, models, rng, chosen.how.on_unknown, sets=sets, workers=workers, show=show),
        )
    if silent := [name for name in systems.names if name not in read.answers]:
        left_out["ambiguity"] = (
            f"{', '.join(silent[:3])}{f' and {len(silent) - 3} more' if len(silent) > 3 else ''} are saved scores "
            "without answers to hold against noisy labels"
        )
    studies = Studies(
        systems,
        axioms=axioms or (),
        agreement=agreed,
        stability=stable,
        ties=tied,
        ambiguity=tuple(noisy or ()),
        power=separated,
        selection=selected,
        theory=in_theory,
        notes=(
            *([read.made_up] if read.made_up else []),
            *read.notes,
            *(f"Left out of {study}: {why}." for study, why in left_out.items()),
        ),
        simulated_variants=True,
    )
    out.deliver(chapters_of(studies), read, seed, verdict=verdict(studies))


def _check_apart(validation: Annotations, read: Chosen) -> None:
    """Refuse a split to choose on that holds what is tested on."""
    if read.annotations is None:
        raise UsageError(
            "--validation-split: variants are simulated from annotations: give --dataset, or --annotations"
        )
    without_queries_of(read.annotations, validation, "--validation-split")


def _selection(
    chosen: SystemOptions,
    read: Chosen,
    validation: Annotations,
    n_variants: int,
    resamples: int,
    rng: np.random.Generator,
) -> Selection:
    """Simulate variants of one system on both splits, and select among them by every measure."""
    from truemoment.evaluation import evaluate
    from truemoment.metaevaluation.population import variants
    from truemoment.metaevaluation.selection import select, without_saturated
    from truemoment.metaevaluation.simulation import simulate_each
    from truemoment.metaevaluation.systems import Systems

    for_recipes, for_validation, for_test, for_study = rng.spawn(4)
    recipes = variants(n_variants, for_recipes)
    assert read.annotations is not None  # noqa: S101 - else there is no validation split
    fitted_on = read.fitted_on or chosen.data.training(read.annotations, chosen.fit_split, chosen.fit_annotations)
    sides = []
    for split, draws in ((validation, for_validation), (read.annotations, for_test)):
        of_side = simulate_each(recipes, split, draws, fit=fitted_on)
        scores = {
            name: evaluate(split, answers, read.systems.measures, read.systems.first.protocol)
            for name, answers in of_side
        }
        sides.append(Systems(scores))
    return select(sides[0], without_saturated(sides[1]), for_study, resamples=resamples)
