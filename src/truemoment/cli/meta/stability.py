"""truemoment meta stability: self-agreement of measures on subsets of the queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from truemoment.cli.meta.options import (
    Output,
    SystemOptions,
    numbers,
    result_options,
    stream,
    system_options,
    trials_option,
    workers_option,
)
from truemoment.cli.options import seed_option

if TYPE_CHECKING:
    from truemoment.metaevaluation.systems import Unit


@click.command("stability")
@system_options
@click.option(
    "--sizes",
    metavar="N,N,...",
    callback=numbers,
    help="Queries of a subset. [default: ten sizes up to half of the queries, or all where they may overlap]",
)
@trials_option
@click.option(
    "--by",
    "unit",
    type=click.Choice(["query", "video"]),
    default="query",
    show_default=True,
    help="Draw queries, or videos with all of their queries.",
)
@click.option("--overlapping", is_flag=True, help="Draw the two subsets each for itself. [default: they share nothing]")
@seed_option("the subsets, and of what is simulated")
@workers_option
@result_options
def command(
    chosen: SystemOptions,
    sizes: tuple[int, ...] | None,
    trials: int,
    unit: Unit,
    overlapping: bool,
    seed: int,
    workers: int | None,
    out: Output,
) -> None:
    """Rank systems on pairs of subsets of the queries, and tell how far the rankings agree.

    \b
    truemoment meta stability runs/ --dataset charades-sta --split test --html stability.html
    truemoment meta stability --population --dataset charades-sta --split test --by video
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.metaevaluation.stability import stability, units_of
    from truemoment.reports.metaevaluation.stability import chapter

    out.check(chosen.inputs, chosen.folders)
    read = chosen.read(seed, show=out.show)
    found = stability(
        read.systems,
        stream(seed, "stability"),
        sizes=None if sizes is None else units_of(sizes, read.systems, unit, overlapping=overlapping),
        trials=trials,
        unit=unit,
        overlapping=overlapping,
        workers=workers,
        progress=out.show,
    )
    out.deliver([chapter(found)], read, seed)
