"""truemoment meta power: which differences can be shown with how many queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from truemoment.base.errors import UsageError
from truemoment.base.request import Request, number, option, seed
from truemoment.cli import binder
from truemoment.cli.meta.options import finish, load, sizes
from truemoment.cli.parts import Output, PageOutput
from truemoment.studies.meta.request import SystemSource


@dataclass(frozen=True, kw_only=True)
class Planning(Request):
    """What the planning table is for."""

    HEADING = "Planning"

    level: float = option("Significance level of the tests.", 0.05, metavar="P")
    power: float = option("Planning: share of test sets that find a difference.", 0.8, metavar="P")
    comparisons: int = number(
        "Planning: number of comparisons that are corrected for (level / K).", 1, 1, 1_000_000, metavar="K"
    )

    def check(self) -> None:
        """Refuse shares out of range."""
        for name, value in (("--level", self.level), ("--power", self.power)):
            if not 0 < value < 1:
                raise UsageError(f"{name}: got {value:g}, expected more than 0 and less than 1")


@dataclass(frozen=True, kw_only=True)
class PowerRequest(SystemSource):
    """The systems, and the subsets of the queries."""

    sizes: tuple[int, ...] | None = sizes(
        "Sizes of the subsets, in queries. [default: 100, 200, 500, 1000, ... and all]"
    )
    repetitions: int = number("Power: subsets of each size.", 50, 2, 100_000)
    unit: Literal["query", "video"] = option(
        "Independent units: videos with their queries, or single queries.", "video", name="--by"
    )
    seed: int = seed("the subsets and of simulated systems")


@binder.command("power")
def command(request: PowerRequest, planning: Planning, page: PageOutput, output: Output) -> None:
    """Report which differences between systems can be shown with how many queries, by which measure.

    \b
    truemoment meta power runs/*.jsonl --dataset charades-sta --split test
    truemoment meta power runs/*.npz --sizes 500,1000,2000 --comparisons 10
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.evaluation.uncertainty import stream
    from truemoment.studies.meta.power import power
    from truemoment.studies.meta.reports import StudyReport
    from truemoment.studies.meta.reports import power as reports

    systems = load(request, request.seed, output, page)
    study = power(
        systems.systems,
        stream(request.seed, "power"),
        sizes=request.sizes,
        repetitions=request.repetitions,
        unit=request.unit,
        level=planning.level,
        power=planning.power,
        comparisons=planning.comparisons,
        progress=output.progress,
    )
    finish([StudyReport.of(reports, study)], output, page, seed=request.seed, systems=systems)
