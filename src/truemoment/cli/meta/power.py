"""truemoment meta power: which differences can be shown with how many queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from truemoment.cli.meta.options import (
    Output,
    SystemOptions,
    numbers,
    repetitions_option,
    result_options,
    stream,
    system_options,
)
from truemoment.cli.options import seed_option
from truemoment.exceptions import UsageError

if TYPE_CHECKING:
    from truemoment.metaevaluation.systems import Unit


@click.command("power")
@system_options
@click.option(
    "--sizes",
    metavar="N,N,...",
    callback=numbers,
    help="Queries of a subset. [default: 100, 200, 500, 1000, ... and all]",
)
@repetitions_option
@click.option(
    "--by",
    "unit",
    type=click.Choice(["query", "video"]),
    default="video",
    show_default=True,
    help="What is independent: videos with their queries, or single queries.",
)
@click.option(
    "--level", type=float, default=0.05, show_default=True, metavar="P", help="Significance level of the tests."
)
@click.option(
    "--power",
    "power_",
    type=float,
    default=0.8,
    show_default=True,
    metavar="P",
    help="Planning: share of test sets that find a difference.",
)
@click.option(
    "--comparisons",
    type=click.IntRange(1, 1_000_000),
    default=1,
    show_default=True,
    metavar="K",
    help="Planning: how many comparisons are corrected for (level / K).",
)
@seed_option("the subsets, and of simulated systems")
@result_options
def command(
    chosen: SystemOptions,
    sizes: tuple[int, ...] | None,
    repetitions: int,
    unit: Unit,
    level: float,
    power_: float,
    comparisons: int,
    seed: int,
    out: Output,
) -> None:
    """Tell which differences between systems can be shown with how many queries, by which measure.

    \b
    truemoment meta power runs/*.jsonl --dataset charades-sta --split test
    truemoment meta power runs/*.npz --sizes 500,1000,2000 --comparisons 10
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.metaevaluation.power import power
    from truemoment.reports.metaevaluation.power import chapter

    for name, value in (("--level", level), ("--power", power_)):
        if not 0 < value < 1:
            raise UsageError(f"{name}: got {value:g}, expected more than 0 and less than 1")
    out.check(chosen.inputs, chosen.folders)
    read = chosen.read(seed, show=out.show)
    found = power(
        read.systems,
        stream(seed, "power"),
        sizes=sizes,
        repetitions=repetitions,
        unit=unit,
        level=level,
        power=power_,
        comparisons=comparisons,
        progress=out.show,
    )
    out.deliver([chapter(found)], read, seed)
