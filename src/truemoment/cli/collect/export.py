"""truemoment collect export: what may be passed on, in a new folder."""

from __future__ import annotations

from pathlib import Path

import click

from truemoment.cli.command import Command
from truemoment.cli.options import FILE, refuse_folder, say


@click.command("export", cls=Command)
@click.argument("collection", metavar="OUT", type=FILE)
@click.option("-o", "--out", type=FILE, required=True, metavar="DIR", help="New folder.")
@click.option(
    "--without",
    type=click.Choice(["sentences"]),
    help="Leave out what is protected: identities, times, counts and the card remain.",
)
@click.option("--quiet", is_flag=True, help="Print nothing.")
def command(collection: Path, out: Path, without: str | None, quiet: bool) -> None:
    """Copy a collection's annotations, splits and card into a new folder.

    With --without sentences the folder has what may be passed on: identities of files, times, counts
    and the card.

    \b
    truemoment collect export OUT -o shared --without sentences
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.collection.exporting import export_collection

    refuse_folder(out)

    def tell(names: list[str]) -> None:
        if not quiet:
            say(f"{out}: {', '.join(names)}")

    export_collection(collection, out, with_sentences=without is None, on_complete=tell)
