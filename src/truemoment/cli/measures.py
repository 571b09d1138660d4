"""truemoment measures: list the measures and how they are written."""

from __future__ import annotations

import click

from truemoment.measures import FAMILIES
from truemoment.references import REFERENCE_RULES


@click.group("measures")
def command() -> None:
    """Measures and the grammar in which they are asked for."""


@command.command("list")
def list_measures() -> None:
    """List the measures, a line each."""
    from truemoment.reports.render.tabular import render

    rows = [[family.written, family.meaning] for family in FAMILIES.values()]
    click.echo(render(["written", "what it is"], rows))
    click.echo(f"\nSeveral references: add [ref={'|'.join(REFERENCE_RULES)}], e.g. R@1,IoU=0.5[ref=first].")
    click.echo("Several measures: separate them by ';'.")
