"""truemoment meta stability: self-agreement of measures on subsets of the queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from truemoment.base.request import number, option, seed
from truemoment.cli import binder
from truemoment.cli.meta.options import finish, load, sizes, workers
from truemoment.cli.parts import Output, PageOutput
from truemoment.studies.meta.request import SystemSource


@dataclass(frozen=True, kw_only=True)
class StabilityRequest(SystemSource):
    """The systems, and the subsets of the queries."""

    sizes: tuple[int, ...] | None = sizes(
        "Sizes of the subsets, in queries. [default: ten sizes up to half of them, or up to all if subsets overlap]"
    )
    trials: int = number("Stability: pairs of subsets of each size.", 5000, 2, 1_000_000)
    unit: Literal["query", "video"] = option("Draw queries, or videos with all of their queries.", "query", name="--by")
    overlapping: bool = option("Draw the two subsets independently. [default: disjoint subsets]", False)
    seed: int = seed("the subsets and of simulated systems")
    workers: int | None = workers()


@binder.command("stability")
def command(request: StabilityRequest, page: PageOutput, output: Output) -> None:
    """Rank systems on pairs of subsets of the queries, and measure how far the rankings agree.

    \b
    truemoment meta stability runs/ --dataset charades-sta --split test --html stability.html
    truemoment meta stability --population --dataset charades-sta --split test --by video
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.evaluation.uncertainty import stream
    from truemoment.studies.meta.reports import StudyReport
    from truemoment.studies.meta.reports import stability as reports
    from truemoment.studies.meta.stability import stability, units_of

    sizes, unit, overlapping = request.sizes, request.unit, request.overlapping
    systems = load(request, request.seed, output, page)
    study = stability(
        systems.systems,
        stream(request.seed, "stability"),
        sizes=None if sizes is None else units_of(sizes, systems.systems, unit, overlapping=overlapping),
        trials=request.trials,
        unit=unit,
        overlapping=overlapping,
        workers=request.workers,
        progress=output.progress,
    )
    finish([StudyReport.of(reports, study)], output, page, seed=request.seed, systems=systems)
