"""truemoment meta items: which queries are difficult, and which can be guessed."""

from __future__ import annotations

import click

from truemoment.base.errors import UsageError
from truemoment.base.known_names import one_of_known
from truemoment.cli.command import Command
from truemoment.cli.groups import Output, PageOutput, output_options, page_options
from truemoment.cli.meta.options import finish, load, system_options
from truemoment.cli.options import seed_option
from truemoment.studies.meta.loading import SystemSource


@click.command("items", cls=Command)
@system_options
@click.option(
    "--blind",
    multiple=True,
    metavar="NAME",
    help="A system that does not see the video; can be repeated. Also --baselines.",
)
@seed_option("simulated systems and baselines")
@page_options
@output_options
def command(source: SystemSource, blind: tuple[str, ...], seed: int, page: PageOutput, output: Output) -> None:
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

    systems = load(source, seed, output, page)
    for name in blind:
        if name not in systems.systems.names:
            raise UsageError(f"--blind: got {name!r}, expected {one_of_known(name, systems.systems.names)}")
    blinded = tuple(name for name in systems.systems.names if name in {*blind, *systems.baselines})
    found = items(systems.systems, systems.systems.measures[0], blinded)
    finish([StudyReport.of(reports, found)], output, page, seed=seed, systems=systems)
