"""truemoment collect card: the data card of a collection."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from truemoment.base.request import Request, argument, option
from truemoment.cli import binder


@dataclass(frozen=True, kw_only=True)
class CardRequest(Request):
    """The collection."""

    out: Path = argument(metavar="OUT")
    quiet: bool = option("Do not print the card.", False)


@binder.command("card")
def command(request: CardRequest) -> None:
    """Write annotations, MAD's form and the data card of a collection again, and print the card.

    \b
    truemoment collect card OUT
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.collection.assembling import reassemble
    from truemoment.collection.card import card_text

    card = reassemble(request.out)
    if not request.quiet:
        click.echo(card_text(card), nl=False)
