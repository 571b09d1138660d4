"""truemoment meta agreement: rank systems by every measure, and say which measures agree."""

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


@click.command("agreement")
@system_options
@resamples_option
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

    out.check(chosen.inputs, chosen.folders)
    read = chosen.read(seed, show=out.show)
    found = agreement(read.systems, stream(seed, "agreement"), resamples=resamples, progress=out.show)
    out.deliver([chapter(found)], read, seed)
