"""truemoment collect splits: films of a collection into train, val and test."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from truemoment.base.errors import UsageError
from truemoment.base.request import In, Request, argument, option, seed
from truemoment.cli import binder
from truemoment.cli.delivery import deliver
from truemoment.cli.outputs import status_line
from truemoment.cli.parts import Output


@dataclass(frozen=True, kw_only=True)
class SplitsRequest(Request):
    """The collection, and the shares of its splits."""

    out: In[Path] = argument(metavar="OUT")
    shares: str = option(
        "Shares of the sentences in train, val and test.", "0.75,0.08,0.17", name="--splits", metavar="A,B,C"
    )
    clean: In[Path | None] = option(
        "Films with clean annotations, a name a line (NAME, or NAME, a tab, and val or test): the others are train.",
        metavar="LIST",
    )
    no_compare: bool = option("Do not compare the films by their sound, to find the same film twice.", False)
    seed: int = seed("the order of films of one size")


@binder.command("splits")
def command(request: SplitsRequest, output: Output) -> None:
    """Split the films of a collection by film; films of one group lie in one split.

    \b
    truemoment collect splits OUT --splits 0.8,0.1,0.1
    truemoment collect splits OUT --clean reviewed.txt
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.collection import report as reports
    from truemoment.collection.splitting import split_collection

    if request.clean is not None and not request.clean.is_file():
        raise UsageError(f"--clean {request.clean}: no such file")
    with status_line(show=output.progress) as on_status:
        made = split_collection(
            request.out,
            shares=request.shares,
            clean=request.clean,
            seed=request.seed,
            compare=not request.no_compare,
            on_status=on_status,
        )
    deliver(reports.report_of_splits(made, str(request.out)), lambda: reports.document_of_splits(made), output)
