"""The command class: its options under headings, and a suggestion for a command that does not exist."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import click

from truemoment.base.known_names import SYNONYMS, nearest

OWN = "Options"
"""Heading of a command's own options."""

HELP = ["-h", "--help"]
"""Names of the option that shows the help, whoever asks a command first: click keeps its first answer."""

ALL_OPTIONS = "truemoment.all_options"
"""Key of a context whose help lists rare options too."""


def _help_all(context: click.Context, _parameter: click.Parameter, given: bool) -> None:
    if given and not context.resilient_parsing:
        context.meta[ALL_OPTIONS] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


HELP_ALL = click.Option(
    ["--help-all"], is_flag=True, is_eager=True, expose_value=False, hidden=True, callback=_help_all
)


class Command(click.Command):
    """A command whose help lists options under headings, its own options first, and rare ones on request.

    A parameter may have ``heading``, and ``rare`` where only ``--help-all`` lists it.
    """

    verbs: Mapping[str, str] = MappingProxyType({})
    """Commands below this one, and what they do, for the help."""

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        """Return the names of the option that shows the help."""
        del ctx
        return HELP

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, with those of the help."""
        return [*super().get_params(ctx), HELP_ALL]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words of the command line; an option of another name is answered with ours."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            ours = SYNONYMS.get(error.option_name)
            if ours is not None and any(ours in parameter.opts for parameter in self.params):
                ctx.fail(f"No such option {error.option_name!r}. Did you mean {ours!r}?")
            name = error.option_name.removeprefix("--").replace("-", "_")
            for parameter in self.params:
                if isinstance(parameter, click.Argument) and parameter.name == name:
                    place = parameter.make_metavar(ctx)
                    ctx.fail(f"No such option {error.option_name!r}. {place} has no option before it")
            raise
        except click.UsageError as error:
            takes_annotations = any("--annotations" in parameter.opts for parameter in self.params)
            if takes_annotations and error.message.startswith("Got unexpected extra argument"):
                ctx.fail(f"{error.message}. Annotations have an option before them: --annotations FILE")
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options."""
        sections: dict[str, list[tuple[str, str]]] = {OWN: []}
        n_left = 0
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None or isinstance(parameter, click.Argument):  # the usage has it
                continue
            if getattr(parameter, "rare", False) and ALL_OPTIONS not in ctx.meta:
                n_left += 1
            else:
                sections.setdefault(getattr(parameter, "heading", OWN), []).append(record)
        if self.verbs:
            sections["Commands"] = list(self.verbs.items())
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
        if n_left:
            formatter.write(f"\n{n_left} more option{'s' if n_left > 1 else ''}: --help-all\n")


class Group(click.Group):
    """A group that suggests a command for one that does not exist."""

    command_class = Command

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        """Return the names of the option that shows the help."""
        del ctx
        return HELP

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first word names."""
        name = str(args[0])
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            names = self.list_commands(ctx)
            ours = SYNONYMS.get(name)
            meant = ours if ours in names else nearest(name, names)
            ctx.fail(f"No such command {name!r}." + (f" Did you mean {meant!r}?" if meant else ""))
        return super().resolve_command(ctx, args)
