"""truemoment meta agreement: rank systems by every measure, and compare the rankings."""

from __future__ import annotations

import click

from truemoment.cli.command import Command
from truemoment.cli.groups import Output, PageOutput, output_options, page_options
from truemoment.cli.meta.options import finish, load, resamples_option, system_options
from truemoment.cli.options import seed_option
from truemoment.studies.meta.loading import SystemSource


@click.command("agreement", cls=Command)
@system_options
@resamples_option
@seed_option("the resamples and of simulated systems")
@page_options
@output_options
def command(source: SystemSource, resamples: int, seed: int, page: PageOutput, output: Output) -> None:
    """Rank systems by every measure, and compare the rankings (Kendall's tau-b).

    \b
    truemoment meta agreement runs/*.jsonl --dataset charades-sta --split test --html agreement.html
    truemoment meta agreement a.npz b.npz c.npz --figures figures/
    truemoment meta agreement --population --baselines --dataset charades-sta --split test
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.evaluation.uncertainty import stream
    from truemoment.studies.meta.agreement import agreement
    from truemoment.studies.meta.reports import StudyReport
    from truemoment.studies.meta.reports import agreement as reports

    systems = load(source, seed, output, page)
    found = agreement(systems.systems, stream(seed, "agreement"), resamples=resamples, progress=output.progress)
    finish([StudyReport.of(reports, found)], output, page, seed=seed, systems=systems)
