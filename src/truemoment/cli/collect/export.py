"""truemoment collect export: what may be passed on, in a new folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from truemoment.base.request import NewFolder, Request, argument, option
from truemoment.cli import binder
from truemoment.cli.outputs import refuse_folder, say


@dataclass(frozen=True, kw_only=True)
class ExportRequest(Request):
    """The collection, and the new folder."""

    collection: Path = argument(metavar="OUT")
    out: NewFolder[Path] = option("New folder.", name="-o --out", metavar="DIR", required=True)
    without: Literal["sentences"] | None = option(
        "Leave out protected text; identities, times, counts and the card remain."
    )
    quiet: bool = option("Print nothing.", False)


@binder.command("export")
def command(request: ExportRequest) -> None:
    """Copy a collection's annotations, splits and card into a new folder.

    With --without sentences the folder may be passed on: it has identities of files, times, counts
    and the card.

    \b
    truemoment collect export OUT -o shared --without sentences
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.collection.exporting import export_collection

    refuse_folder(request.out)

    def report_files(names: list[str]) -> None:
        if not request.quiet:
            say(f"{request.out}: {', '.join(names)}")

    export_collection(request.collection, request.out, with_sentences=request.without is None, on_complete=report_files)
