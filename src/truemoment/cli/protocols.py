"""truemoment protocols: list the evaluation conventions, or show the fields of one."""

from __future__ import annotations

from dataclasses import dataclass

import click

from truemoment.base.boundary.keyed import write_value
from truemoment.base.request import Request, argument
from truemoment.cli import binder
from truemoment.cli.command import Group
from truemoment.cli.delivery import show, show_list
from truemoment.report.model import Cell, Report, Section, Table


@click.group("protocols", cls=Group)
def command() -> None:
    """Evaluation conventions: ours, those of papers and of published evaluators."""


@command.command("list")
def list_protocols() -> None:
    """List the protocols."""
    from truemoment.evaluation.protocols import PROTOCOLS

    show_list(("protocol", "meaning"), [(protocol.name, protocol.summary) for protocol in PROTOCOLS.values()])


@dataclass(frozen=True, kw_only=True)
class ProtocolRequest(Request):
    """The protocol."""

    name: str = argument(complete="protocols")


@binder.command("show", command)
def show_protocol(request: ProtocolRequest) -> None:
    """Show every field of protocol NAME and its source.

    NAME may change fields: 'default,comparison=>=,tolerance=none'.
    """
    from truemoment.evaluation.protocols import CONVENTION_FIELDS, get_protocol

    protocol = get_protocol(request.name)
    rows = tuple(
        (
            Cell(field),
            Cell(write_value(getattr(protocol, field))),
            Cell(protocol.read_in.get(field, "the source above")),
        )
        for field in CONVENTION_FIELDS
    )
    table = Table("", ("field", "value", "source, or reason"), (("", rows),), text_columns=(0, 1, 2))
    report = Report(
        title=protocol.name,
        facts=((protocol.name, protocol.summary), ("source", protocol.source), ("measures", protocol.measures)),
        sections=(Section("fields", "Fields", (table,)),),
        signature=f"signature: {protocol.signature()}",
    )
    show(report)
