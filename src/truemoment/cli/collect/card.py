"""truemoment collect card: the data card of a collection."""

from __future__ import annotations

from pathlib import Path

import click

from truemoment.cli.command import Command
from truemoment.cli.options import FILE


@click.command("card", cls=Command)
@click.argument("out", metavar="OUT", type=FILE)
@click.option("--quiet", is_flag=True, help="Do not print the card.")
def command(out: Path, quiet: bool) -> None:
    """Write annotations, MAD's form and the data card of a collection again, and print the card.

    \b
    truemoment collect card OUT
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.collection.assembling import assemble_again
    from truemoment.collection.card import card_text

    card = assemble_again(out)
    if not quiet:
        click.echo(card_text(card), nl=False)
