"""truemoment meta report: all studies of some systems, on one page with an answer in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from truemoment.cli.meta.ambiguity import annotators_option, levels_of, marked_files, noise_option, under_noise
from truemoment.cli.meta.options import (
    Output,
    SystemOptions,
    result_options,
    system_options,
    workers_option,
)
from truemoment.cli.options import MOST_RESAMPLES, apart, followed, seed_option
from truemoment.exceptions import UsageError

if TYPE_CHECKING:
    import numpy as np

    from truemoment.cli.meta.options import Chosen
    from truemoment.metaevaluation.ambiguity import Ambiguity
    from truemoment.metaevaluation.selection import Selection
    from truemoment.records import Annotations


@click.command("report")
@system_options
@click.option(
    "--trials",
    type=click.IntRange(2, 1_000_000),
    default=5000,
    show_default=True,
    metavar="N",
    help="Stability: pairs of subsets of each size.",
)
@click.option(
    "--sets",
    type=click.IntRange(2, MOST_RESAMPLES),
    default=100,
    show_default=True,
    metavar="N",
    help="Label noise: noisy sets a level.",
)
@noise_option
@annotators_option
@click.option(
    "--repetitions",
    type=click.IntRange(2, 100_000),
    default=50,
    show_default=True,
    metavar="N",
    help="Power: subsets of each size.",
)
@click.option(
    "--resamples",
    type=click.IntRange(2, MOST_RESAMPLES),
    default=1000,
    show_default=True,
    metavar="N",
    help="Resamples of the videos, for intervals.",
)
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
    out.check([*chosen.inputs, *marked_files(marked_by)])
    models = {kind: levels_of(kind, marked_by, chosen.data.data_dir) for kind in kinds}
    read = chosen.read(seed, show=out.show)
    validation = _validation(chosen, read, validation_split)
    systems, show = read.systems, out.show
    children = iter(read.rng.spawn(8))
    with followed(show=show) as tell:
        tell("axioms")
        ranking = [measure for measure in systems.measures if measure.needs in ("overlaps", "sets")]
        axioms = check_axioms(ranking, next(children), protocol=systems.first.protocol)
        tell("agreement")
        agreed = agreement(systems, next(children), resamples=resamples)
        tell("ties")
        tied = ties(systems, next(children), resamples=resamples)
        tell("power")
        separated = power(systems, next(children), repetitions=repetitions)
        tell("theory")
        in_theory = theory(next(children))
        for_selection = next(children)
        selected = None
        if validation is not None:
            tell("selection")
            selected = _selection(chosen, read, validation, variants, resamples, for_selection)
    stable = stability(systems, next(children), trials=trials, workers=workers, progress=show)
    noisy: list[Ambiguity] = []
    if read.answers:
        noisy = under_noise(read, models, next(children), chosen.how.on_unknown, sets=sets, workers=workers, show=show)
    studies = Studies(
        systems,
        axioms=axioms,
        agreement=agreed,
        stability=stable,
        ties=tied,
        ambiguity=tuple(noisy),
        power=separated,
        selection=selected,
        theory=in_theory,
        made_up=read.made_up,
        simulated_variants=True,
    )
    out.deliver(chapters_of(studies), read, seed, verdict=verdict(studies))


def _validation(chosen: SystemOptions, read: Chosen, split: str | None) -> Annotations | None:
    """The split that variants are chosen on; None where selection was not asked for.

    Raises
    ------
    UsageError
        If there is nothing to simulate variants from, or the split holds the queries they are tested on.
    """
    if split is None:
        return None
    if read.annotations is None:
        raise UsageError(
            "--validation-split: variants are simulated from annotations: give --dataset, or --annotations"
        )
    return apart(chosen.data.read(split), read.annotations, "--validation-split")


def _selection(
    chosen: SystemOptions,
    read: Chosen,
    validation: Annotations,
    n_variants: int,
    resamples: int,
    rng: np.random.Generator,
) -> Selection:
    """Simulate variants of one system on both splits, and select among them by every measure.

    Raises
    ------
    UsageError, InputError
        If variants cannot be simulated there.
    """
    from truemoment.evaluation import evaluate
    from truemoment.metaevaluation.population import simulate_each, variants
    from truemoment.metaevaluation.selection import select, without_saturated
    from truemoment.metaevaluation.systems import Systems

    for_recipes, for_validation, for_test, for_study = rng.spawn(4)
    recipes = variants(n_variants, for_recipes)
    assert read.annotations is not None  # noqa: S101 - else there is no validation split
    fitted_on = read.fitted_on or chosen.data.to_fit_on(read.annotations, chosen.fit_split, chosen.fit_annotations)
    sides = []
    for split, draws in ((validation, for_validation), (read.annotations, for_test)):
        of_side = simulate_each(recipes, split, draws, fit=fitted_on)
        scores = {
            name: evaluate(split, answers, read.systems.measures, read.systems.first.protocol)
            for name, answers in of_side
        }
        sides.append(Systems(scores))
    return select(sides[0], without_saturated(sides[1]), for_study, resamples=resamples)
