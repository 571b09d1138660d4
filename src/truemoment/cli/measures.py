"""truemoment measures: list the measures and their notation."""

from __future__ import annotations

import click

from truemoment.cli.command import Group
from truemoment.cli.delivery import show_list
from truemoment.cli.outputs import say


@click.group("measures", cls=Group)
def command() -> None:
    """Measures and their notation."""


@command.command("list")
def list_measures() -> None:
    """List the measures."""
    from truemoment.evaluation.measures import FAMILIES
    from truemoment.evaluation.references import REFERENCE_RULES

    show_list(("notation", "meaning"), [(family.written, family.meaning) for family in FAMILIES.values()])
    say(f"\nSeveral references: add [ref={'|'.join(REFERENCE_RULES)}], e.g. R@1,IoU=0.5[ref=first].")
    click.echo("Several measures: separate them by ';'.")
