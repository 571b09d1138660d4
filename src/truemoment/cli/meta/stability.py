"""truemoment meta stability: self-agreement of measures on subsets of the queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from truemoment.cli.command import Command
from truemoment.cli.groups import Output, PageOutput, output_options, page_options
from truemoment.cli.meta.options import finish, load, sizes_option, system_options, trials_option, workers_option
from truemoment.cli.options import seed_option
from truemoment.studies.meta.loading import SystemSource

if TYPE_CHECKING:
    from truemoment.studies.meta.systems import Unit


@click.command("stability", cls=Command)
@system_options
@sizes_option("Queries of a subset. [default: ten sizes up to half of the queries, or up to all if subsets overlap]")
@trials_option
@click.option(
    "--by",
    "unit",
    type=click.Choice(["query", "video"]),
    default="query",
    show_default=True,
    help="Draw queries, or videos with all of their queries.",
)
@click.option("--overlapping", is_flag=True, help="Draw the two subsets independently. [default: disjoint subsets]")
@seed_option("the subsets and of simulated systems")
@workers_option
@page_options
@output_options
def command(
    source: SystemSource,
    sizes: tuple[int, ...] | None,
    trials: int,
    unit: Unit,
    overlapping: bool,
    seed: int,
    workers: int | None,
    page: PageOutput,
    output: Output,
) -> None:
    """Rank systems on pairs of subsets of the queries, and measure how far the rankings agree.

    \b
    truemoment meta stability runs/ --dataset charades-sta --split test --html stability.html
    truemoment meta stability --population --dataset charades-sta --split test --by video
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.evaluation.uncertainty import stream
    from truemoment.studies.meta.reports import StudyReport
    from truemoment.studies.meta.reports import stability as reports
    from truemoment.studies.meta.stability import stability, units_of

    systems = load(source, seed, output, page)
    found = stability(
        systems.systems,
        stream(seed, "stability"),
        sizes=None if sizes is None else units_of(sizes, systems.systems, unit, overlapping=overlapping),
        trials=trials,
        unit=unit,
        overlapping=overlapping,
        workers=workers,
        progress=output.progress,
    )
    finish([StudyReport.of(reports, found)], output, page, seed=seed, systems=systems)
