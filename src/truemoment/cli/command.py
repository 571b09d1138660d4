"""What every command has: its options under headings, and a suggestion for a command that does not exist."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from truemoment.base.known_names import nearest

F = TypeVar("F", bound=Callable[..., Any])

OWN = "Options"
"""Heading of a command's own options."""


def headed(heading: str, decorator: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds options, and lists those without a heading under one in the help."""

    def decorate(function: F) -> F:
        before = set(map(id, getattr(function, "__click_params__", ())))
        decorated = decorator(function)
        for parameter in getattr(decorated, "__click_params__", ()):
            if id(parameter) not in before and not hasattr(parameter, "heading"):
                parameter.heading = heading
        return decorated

    return decorate


class Command(click.Command):
    """A command whose help lists options under the headings of :func:`headed`, its own options first."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options."""
        sections: dict[str, list[tuple[str, str]]] = {OWN: []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                sections.setdefault(getattr(parameter, "heading", OWN), []).append(record)
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


class Group(click.Group):
    """A group that suggests a command for one that does not exist."""

    command_class = Command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first word names."""
        name = str(args[0])
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            meant = nearest(name, self.list_commands(ctx))
            ctx.fail(f"No such command {name!r}." + (f" Did you mean {meant!r}?" if meant else ""))
        return super().resolve_command(ctx, args)
