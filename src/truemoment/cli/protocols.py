"""truemoment protocols: list the evaluation conventions, or show one field by field."""

from __future__ import annotations

import textwrap

import click

from truemoment.keyed import write_value
from truemoment.protocols import CONVENTION_FIELDS, PROTOCOLS, get_protocol


@click.group("protocols")
def command() -> None:
    """Evaluation conventions: ours, each paper's, each published evaluator's."""


@command.command("list")
def list_protocols() -> None:
    """List the protocols, a line each."""
    from truemoment.reports.render.tabular import render

    rows = [[protocol.name, protocol.summary] for protocol in PROTOCOLS.values()]
    click.echo(render(["protocol", "what it is"], rows))


@command.command("show")
@click.argument("name")
def show_protocol(name: str) -> None:
    """Show every field of protocol NAME and where it was read.

    NAME may change fields: 'default,comparison=>=,tolerance=none'.
    """
    from truemoment.reports.render.tabular import render

    protocol = get_protocol(name)
    click.echo(f"{protocol.name}: {protocol.summary}\nread in: {protocol.source}\n")
    rows = []
    for field in CONVENTION_FIELDS:
        where = textwrap.wrap(protocol.read_in.get(field, "the source above"))
        rows.append([field, write_value(getattr(protocol, field)), where[0]])
        rows += [["", "", line] for line in where[1:]]
    click.echo(render(["field", "value", "where it was read, or why"], rows))
    click.echo(f"\nmeasures: {protocol.measures}\nsignature: {protocol.signature()}")
