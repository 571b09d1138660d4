"""truemoment collect statistics: the figures of a collection beside the published ones of MAD."""

from __future__ import annotations

from pathlib import Path

import click

from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver
from truemoment.cli.groups import Output, output_options
from truemoment.cli.options import FILE, refuse_outputs


@click.command("statistics", cls=Command)
@click.argument("out", metavar="OUT", type=FILE)
@output_options
def command(out: Path, output: Output) -> None:
    """Print the statistics of a collection beside Tables 1 and 7 of MAD.

    \b
    truemoment collect statistics OUT
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.collection import report_statistics as reports

    refuse_outputs([out], [output.json_path])
    found = reports.statistics_of(out)
    deliver(reports.report(found), lambda: reports.document(found), output)
