"""truemoment meta power: which differences can be shown with how many queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from truemoment.base.errors import UsageError
from truemoment.cli.command import Command
from truemoment.cli.groups import Output, PageOutput, bound, output_options, page_options
from truemoment.cli.meta.options import finish, load, repetitions_option, sizes_option, system_options
from truemoment.cli.options import count_option, seed_option
from truemoment.studies.meta.loading import SystemSource

if TYPE_CHECKING:
    from truemoment.studies.meta.systems import Unit


@dataclass(frozen=True)
class Planning:
    """What the planning table is for.

    Parameters
    ----------
    level, power
        Significance level of the tests; share of test sets that find a difference.
    comparisons
        Number of comparisons that are corrected for.
    """

    level: float
    power: float
    comparisons: int

    def refuse(self) -> None:
        """Refuse shares out of range."""
        for name, value in (("--level", self.level), ("--power", self.power)):
            if not 0 < value < 1:
                raise UsageError(f"{name}: got {value:g}, expected more than 0 and less than 1")


planning_options = bound(
    "planning",
    Planning,
    click.option(
        "--level", type=float, default=0.05, show_default=True, metavar="P", help="Significance level of the tests."
    ),
    click.option(
        "--power",
        type=float,
        default=0.8,
        show_default=True,
        metavar="P",
        help="Planning: share of test sets that find a difference.",
    ),
    count_option(
        "--comparisons",
        1,
        "Planning: number of comparisons that are corrected for (level / K).",
        least=1,
        most=1_000_000,
        metavar="K",
    ),
    heading="Planning",
)


@click.command("power", cls=Command)
@system_options
@sizes_option("Queries of a subset. [default: 100, 200, 500, 1000, ... and all]")
@repetitions_option
@click.option(
    "--by",
    "unit",
    type=click.Choice(["query", "video"]),
    default="video",
    show_default=True,
    help="Independent units: videos with their queries, or single queries.",
)
@planning_options
@seed_option("the subsets and of simulated systems")
@page_options
@output_options
def command(
    source: SystemSource,
    sizes: tuple[int, ...] | None,
    repetitions: int,
    unit: Unit,
    planning: Planning,
    seed: int,
    page: PageOutput,
    output: Output,
) -> None:
    """Report which differences between systems can be shown with how many queries, by which measure.

    \b
    truemoment meta power runs/*.jsonl --dataset charades-sta --split test
    truemoment meta power runs/*.npz --sizes 500,1000,2000 --comparisons 10
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.evaluation.uncertainty import stream
    from truemoment.studies.meta.power import power
    from truemoment.studies.meta.reports import StudyReport
    from truemoment.studies.meta.reports import power as reports

    planning.refuse()
    systems = load(source, seed, output, page)
    found = power(
        systems.systems,
        stream(seed, "power"),
        sizes=sizes,
        repetitions=repetitions,
        unit=unit,
        level=planning.level,
        power=planning.power,
        comparisons=planning.comparisons,
        progress=output.progress,
    )
    finish([StudyReport.of(reports, found)], output, page, seed=seed, systems=systems)
