"""truemoment meta agreement: rank systems by every measure, and say which measures agree."""

from __future__ import annotations

import click

from truemoment.cli.meta.options import Output, SystemOptions, result_options, system_options
from truemoment.cli.options import MOST_RESAMPLES, seed_option


@click.command("agreement")
@system_options
@click.option(
    "--resamples",
    type=click.IntRange(2, MOST_RESAMPLES),
    default=1000,
    show_default=True,
    metavar="N",
    help="Resamples of the videos, for intervals.",
)
@seed_option("the resamples, and of what is simulated")
@result_options
def command(chosen: SystemOptions, resamples: int, seed: int, out: Output) -> None:
    """Rank systems by every measure, and say which measures agree (Kendall's tau-b).

    \b
    truemoment meta agreement runs/*.jsonl --dataset charades-sta --split test --html agreement.html
    truemoment meta agreement a.npz b.npz c.npz --figures figures/
    truemoment meta agreement --population --baselines --dataset charades-sta --split test
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.metaevaluation.agreement import agreement
    from truemoment.reports.metaevaluation.agreement import chapter

    out.check(chosen.inputs)
    read = chosen.read(seed, show=out.show)
    found = agreement(read.systems, read.rng, resamples=resamples, progress=out.show)
    out.deliver([chapter(found)], read, seed)
