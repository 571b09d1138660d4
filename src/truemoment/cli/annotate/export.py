"""truemoment annotate export: write what people marked."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from truemoment.base.errors import UsageError
from truemoment.cli.annotate.shared import folder_of, study_argument
from truemoment.cli.command import Command
from truemoment.cli.options import FILE, refuse_files, say
from truemoment.data.datasets.random_order import ORDERS, Order


@click.command("export", cls=Command)
@study_argument
@click.option("-o", "out", type=FILE, required=True, metavar="DIR", help="Output folder.")
@click.option(
    "--moments",
    type=click.Choice(["all", "longest", "hull"]),
    default="all",
    show_default=True,
    help="What becomes of several moments of one answer.",
)
@click.option(
    "--order",
    type=click.Choice(list(ORDERS)),
    help="Order of a video's queries: random, with new ids that do not reveal that of the source; or as in the source, "
    "with its ids. [default: random; file if queries had moments before]",
)
@click.option("--quiet", is_flag=True, help="No list of what was written.")
def command(
    study: Path, out: Path, moments: Literal["all", "longest", "hull"], order: Order | None, quiet: bool
) -> None:
    """Write annotations.jsonl, answers.jsonl, hidden-challenges.csv and a datasheet of STUDY.

    It may be served meanwhile. Other commands read the files:

    \b
    truemoment humans --annotations marked/answers.jsonl
    truemoment evaluate preds.jsonl --annotations marked/annotations.jsonl
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.web.annotating.exporting import export_study
    from truemoment.web.annotating.store import opened

    folder = folder_of(study)
    folder.settings()
    refuse_files({"-o": out})
    if out.resolve() == study.resolve():
        raise UsageError(f"-o {out}: is the study itself, expected another folder")
    with opened(folder.database) as connection:
        found = export_study(folder, connection, out, moments=moments, order=order)
    if quiet:
        return
    for name, count in found.files.items():
        say(f"{out / name}: {count:,} lines")
    say(f"{out / 'datasheet.md'}")
    click.echo(f"order: {ORDERS[found.order]}")
    verdicts = ", ".join(f"{name} {count:,}" for name, count in sorted(found.agreement.verdicts.items()))
    click.echo(f"answers: {verdicts or 'none'}")
    if found.not_single:
        click.echo(
            f"note: {found.not_single:,} queries have several moments of one person; --moments longest or hull makes "
            "one of them"
        )
