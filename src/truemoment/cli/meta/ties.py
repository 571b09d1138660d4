"""truemoment meta ties: on how many queries a measure tells no two systems apart."""

from __future__ import annotations

import click

from truemoment.cli.meta.options import Output, SystemOptions, result_options, system_options
from truemoment.cli.options import MOST_RESAMPLES, seed_option


@click.command("ties")
@system_options
@click.option(
    "--resamples",
    type=click.IntRange(2, MOST_RESAMPLES),
    default=1000,
    show_default=True,
    metavar="N",
    help="Resamples of the videos, for intervals.",
)
@seed_option("the resamples, and of simulated systems")
@result_options
def command(chosen: SystemOptions, resamples: int, seed: int, out: Output) -> None:
    """Tell on how many queries each measure gives all systems the same value.

    \b
    truemoment meta ties runs/*.jsonl --dataset charades-sta --split test --figures figures
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.metaevaluation.ties import ties
    from truemoment.reports.metaevaluation.ties import chapter

    out.check(chosen.inputs)
    read = chosen.read(seed, show=out.show)
    out.deliver([chapter(ties(read.systems, read.rng, resamples=resamples))], read, seed)
