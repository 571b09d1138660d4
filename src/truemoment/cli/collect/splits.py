"""truemoment collect splits: films of a collection into train, val and test."""

from __future__ import annotations

from pathlib import Path

import click

from truemoment.base.errors import UsageError
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver
from truemoment.cli.groups import Output, output_options
from truemoment.cli.options import FILE, refuse_outputs, seed_option, status_line


@click.command("splits", cls=Command)
@click.argument("out", metavar="OUT", type=FILE)
@click.option(
    "--splits",
    "shares",
    metavar="A,B,C",
    default="0.75,0.08,0.17",
    show_default=True,
    help="Shares of the sentences in train, val and test.",
)
@click.option(
    "--clean",
    type=FILE,
    metavar="LIST",
    help="Films with clean annotations, a name a line (NAME, or NAME, a tab, and val or test): the others are train.",
)
@click.option(
    "--no-compare", is_flag=True, help="Do not compare the films by their sound, to find the same film twice."
)
@seed_option("the order of films of one size")
@output_options
def command(out: Path, shares: str, clean: Path | None, no_compare: bool, seed: int, output: Output) -> None:
    """Split the films of a collection by film; films of one group lie in one split.

    \b
    truemoment collect splits OUT --splits 0.8,0.1,0.1
    truemoment collect splits OUT --clean reviewed.txt
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.collection import report as reports
    from truemoment.collection.splitting import split_collection

    if clean is not None and not clean.is_file():
        raise UsageError(f"--clean {clean}: no such file")
    refuse_outputs([out, clean], [output.json_path])
    with status_line(show=output.progress) as on_status:
        made = split_collection(out, shares=shares, clean=clean, seed=seed, compare=not no_compare, on_status=on_status)
    deliver(reports.report_of_splits(made, str(out)), lambda: reports.document_of_splits(made), output)
