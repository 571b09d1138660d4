"""The verbs of the command line, each imported when it is used."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from truemoment.base.registry import Registry
from truemoment.base.version import __version__
from truemoment.cli.command import Command, Group

JOBS = MappingProxyType(
    {
        "Measure and compare models": {
            "demo": "Audit two methods on a built-in world, without data.",
            "open": "Open a folder of results on one page.",
            "audit": "Compare predictions with methods that see no video.",
            "evaluate": "Measure a prediction file by a stated protocol.",
            "compare": "Compare methods: paired, with corrected p-values.",
            "contamination": "Report whether predictions recall official annotations.",
            "browse": "Look at answers by query, or search an index, on a page.",
            "leaderboard": "Make a site of a folder of prediction files.",
            "baseline": "Write the predictions of a blind baseline or the oracle.",
        },
        "Datasets and annotations": {
            "datasets": "List, describe, check or fetch datasets.",
            "bias": "Report location, verb and duration biases of a dataset.",
            "resplit": "Split a dataset again, so that guessing helps less.",
            "humans": "Measure how well annotators agree, and with references.",
            "annotate": "Let people mark moments in a browser.",
            "collect": "Collect sentences from films with audio description.",
        },
        "Train and run models": {
            "train": "Train a model by a recipe, and predict the test splits.",
            "predict": "Predict with a served or a trained model.",
            "sweep": "Train methods over values of a dial, with floors beside.",
            "bench": "Train the methods of a table, and compare with floors.",
            "mixtures": "Train on shares of a clean and a noisy set, and compare.",
            "convert-checkpoint": "Make a run of published weights.",
            "variants": "Train variants of a method to study model selection.",
            "features": "List what features contain, or make features of videos.",
        },
        "Search videos": {
            "index": "Index videos for search.",
            "search": "Find the moments that a sentence describes.",
            "retrieve": "Rank clips by text and texts by clip.",
        },
        "Measures and papers": {
            "meta": "Study measures: which agree, are stable, or select well.",
            "measures": "List the measures and how they are written.",
            "protocols": "List evaluation conventions, or show one by its fields.",
            "reproduce": "Compute published tables again, and compare the figures.",
            "cite": "Print the references of what a report used.",
        },
        "Files and settings": {
            "convert": "Write a prediction file in another format.",
            "config": "Show or change what the command line remembers.",
            "completion": "Print the script that completes commands in a shell.",
        },
    }
)
"""The commands and what they do, by the job that they are for."""

COMMANDS = MappingProxyType({name: what for commands in JOBS.values() for name, what in commands.items()})


class LazyGroup(Group):
    """A group whose verbs, with their help, are modules of a package that are imported when used."""

    def __init__(
        self,
        *,
        package: str,
        verbs: Mapping[str, str],
        jobs: Mapping[str, Mapping[str, str]] | None = None,
        others: Mapping[str, click.Command] = MappingProxyType({}),
        **settings: Any,  # noqa: ANN401 - click's
    ) -> None:
        super().__init__(**settings)
        self.package, self.verbs, self.jobs, self.others = package, verbs, jobs or {"Commands": verbs}, others

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of the help."""
        del ctx
        return [*self.verbs, *self.others]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a verb."""
        del ctx
        if name not in self.verbs:
            return self.others.get(name)
        command = importlib.import_module(f"{self.package}.{name.replace('-', '_')}").command
        if not isinstance(command, click.Command):
            raise TypeError(f"{self.package}.{name}.command is no command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs without importing them."""
        del ctx
        width = max(map(len, [*self.verbs, *self.others]))
        others = {name: command.get_short_help_str(limit=60) for name, command in self.others.items()}
        for job, verbs in (*self.jobs.items(), *([("From other packages", others)] if others else [])):
            with formatter.section(job):
                formatter.write_dl([(name.ljust(width), what) for name, what in verbs.items()])


class CommandGroup(LazyGroup):
    """A command with commands below it: a first word that names none of them is a word of the command itself.

    Parameters
    ----------
    own
        The command itself, whose help lists the commands below it.
    package, verbs
        As for :class:`LazyGroup`.
    reads_files
        Whether its words are files, of which one that exists comes before a command of the same name.
    """

    def __init__(self, own: Command, package: str, verbs: Mapping[str, str], *, reads_files: bool = False) -> None:
        super().__init__(package=package, verbs=verbs, name=own.name, help=own.help)
        own.verbs = verbs
        self.own, self.reads_files = own, reads_files

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - click's
    ) -> click.Context:
        """Return the context of the group for the name of a command below it, else that of the command itself."""
        if args and args[0] in self.verbs and not (self.reads_files and Path(args[0]).exists()):
            return super().make_context(info_name, args, parent, **extra)
        return self.own.make_context(info_name, args, parent, **extra)


@click.group(
    cls=LazyGroup,
    package="truemoment.cli",
    verbs=COMMANDS,
    jobs=JOBS,
    others=Registry[click.Command]("commands", {}, click.Command, reserved=COMMANDS),
    context_settings={"max_content_width": 100},
)
@click.version_option(__version__, message="truemoment %(version)s")
def cli() -> None:
    """Show whether a model found the moments, or guessed where moments usually are.

    Every command takes --debug, which shows the traceback of an error.
    """
