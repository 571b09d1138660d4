"""truemoment cite: the references of what a report used."""

from __future__ import annotations

from pathlib import Path

import click

from truemoment.base.boundary.files import write_text
from truemoment.cli.groups import Output, output_options
from truemoment.cli.options import FILE, STANDARD_OUTPUT, refuse_outputs


@click.command("cite")
@click.argument("names", nargs=-1, required=True, metavar="REPORT|NAME...")
@click.option(
    "--bibtex",
    "bibtex_path",
    type=FILE,
    metavar="FILE",
    help="Write the BibTeX entries ('-': to standard output, and nothing else goes there).",
)
@output_options
def command(names: tuple[str, ...], bibtex_path: Path | None, output: Output) -> None:
    """Print the references of the measures, datasets, protocols and baselines that a REPORT used.

    REPORT is a JSON file of evaluate, audit, compare, bias or another command. NAME is a measure, dataset, protocol or
    baseline: 'truemoment cite "dR@1,IoU=0.5" charades-cd'.
    """
    from truemoment.cli.api.citations import cite
    from truemoment.cli.delivery import deliver, write_files

    refuse_outputs([Path(name) for name in names if name.endswith(".json")], [bibtex_path, output.json_path])
    found = cite(*names)
    if bibtex_path == STANDARD_OUTPUT:
        write_files(found.report(), found.document, output)
    else:
        if bibtex_path is not None:
            write_text(bibtex_path, f"{found.bibtex()}\n")
        deliver(found.report(), found.document, output)
    if bibtex_path == STANDARD_OUTPUT or not (bibtex_path or output.json_only or output.style):
        click.echo(found.bibtex() if bibtex_path else f"\n{found.bibtex()}")
