"""truemoment meta ties: on how many queries a measure gives all systems the same value."""

from __future__ import annotations

import click

from truemoment.cli.command import Command
from truemoment.cli.groups import Output, PageOutput, output_options, page_options
from truemoment.cli.meta.options import finish, load, resamples_option, system_options
from truemoment.cli.options import seed_option
from truemoment.studies.meta.loading import SystemSource


@click.command("ties", cls=Command)
@system_options
@resamples_option
@seed_option("the resamples and of simulated systems")
@page_options
@output_options
def command(source: SystemSource, resamples: int, seed: int, page: PageOutput, output: Output) -> None:
    """Report on how many queries each measure gives all systems the same value.

    \b
    truemoment meta ties runs/*.jsonl --dataset charades-sta --split test --figures figures
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.evaluation.uncertainty import stream
    from truemoment.studies.meta.reports import StudyReport
    from truemoment.studies.meta.reports import ties as reports
    from truemoment.studies.meta.ties import ties

    systems = load(source, seed, output, page)
    found = ties(systems.systems, stream(seed, "ties"), resamples=resamples)
    finish([StudyReport.of(reports, found)], output, page, seed=seed, systems=systems)
