"""truemoment meta ties: on how many queries a measure tells no two systems apart."""

from __future__ import annotations

import click

from truemoment.cli.meta.options import (
    Output,
    SystemOptions,
    resamples_option,
    result_options,
    stream,
    system_options,
)
from truemoment.cli.options import seed_option


@click.command("ties")
@system_options
@resamples_option
@seed_option("the resamples, and of simulated systems")
@result_options
def command(chosen: SystemOptions, resamples: int, seed: int, out: Output) -> None:
    """Tell on how many queries each measure gives all systems the same value.

    \b
    truemoment meta ties runs/*.jsonl --dataset charades-sta --split test --figures figures
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.metaevaluation.ties import ties
    from truemoment.reports.metaevaluation.ties import chapter

    out.check(chosen.inputs, chosen.folders)
    read = chosen.read(seed, show=out.show)
    out.deliver([chapter(ties(read.systems, stream(seed, "ties"), resamples=resamples))], read, seed)
