"""truemoment cite: the references of what a report used."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import click

from truemoment.base.request import In, Out, Request, argument, option
from truemoment.cli import binder
from truemoment.cli.delivery import deliver, write_files
from truemoment.cli.outputs import STANDARD_OUTPUT, write_text
from truemoment.cli.parts import Output


@dataclass(frozen=True, kw_only=True)
class CiteRequest(Request):
    """What is cited."""

    names: In[tuple[str, ...]] = argument(metavar="REPORT|NAME...")
    bibtex_path: Out[Path | None] = option(
        "Write the BibTeX entries ('-': to standard output, and nothing else goes there).",
        name="--bibtex",
        metavar="FILE",
    )


@binder.command("cite")
def command(request: CiteRequest, output: Output) -> None:
    """Print the references of the measures, datasets, protocols and baselines that a REPORT used.

    REPORT is a JSON file of evaluate, audit, compare, bias or another command. NAME is a measure, dataset, protocol or
    baseline: 'truemoment cite "dR@1,IoU=0.5" charades-cd'.
    """
    from truemoment.cli.api.citations import cite

    citations = cite(*request.names)
    if request.bibtex_path == STANDARD_OUTPUT:
        write_files(citations.report(), citations.document, output)
    else:
        if request.bibtex_path is not None:
            write_text(request.bibtex_path, f"{citations.bibtex()}\n")
        deliver(citations.report(), citations.document, replace(output, full=True))
    if request.bibtex_path == STANDARD_OUTPUT or not (request.bibtex_path or output.json_only or output.style):
        click.echo(citations.bibtex() if request.bibtex_path else f"\n{citations.bibtex()}")
