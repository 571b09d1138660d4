"""truemoment meta items: which queries are difficult, and which can be guessed."""

from __future__ import annotations

from dataclasses import dataclass

from truemoment.base.errors import UsageError
from truemoment.base.known_names import one_of_known
from truemoment.base.request import option, seed
from truemoment.cli import binder
from truemoment.cli.meta.options import finish, load
from truemoment.cli.parts import Output, PageOutput
from truemoment.studies.meta.request import SystemSource


@dataclass(frozen=True, kw_only=True)
class ItemsRequest(SystemSource):
    """The systems, and those that do not see the video."""

    blind: tuple[str, ...] = option(
        "A system that does not see the video; can be repeated. Also --baselines.", (), metavar="NAME"
    )
    seed: int = seed("simulated systems and baselines")


@binder.command("items")
def command(request: ItemsRequest, page: PageOutput, output: Output) -> None:
    """Estimate how difficult each query is, and how easily it is guessed.

    An item-response model of hits: the ability of each system, the difficulty of each query with
    the part that the queries of a video share, and guessability from blind systems. The first
    measure is used; it must be 0 or 1 on each query.

    \b
    truemoment meta items runs/*.jsonl --baselines --dataset charades-sta --split test \\
        --measures "R@1,IoU=0.5" --html items.html
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.studies.meta.items import items
    from truemoment.studies.meta.reports import StudyReport
    from truemoment.studies.meta.reports import items as reports

    systems = load(request, request.seed, output, page)
    for name in request.blind:
        if name not in systems.systems.names:
            raise UsageError(f"--blind: got {name!r}, expected {one_of_known(name, systems.systems.names)}")
    blinded = tuple(name for name in systems.systems.names if name in {*request.blind, *systems.baselines})
    study = items(systems.systems, systems.systems.measures[0], blinded)
    finish([StudyReport.of(reports, study)], output, page, seed=request.seed, systems=systems)
