"""The verbs of the command line, each imported when it is used."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import click

from truemoment.base.version import __version__
from truemoment.cli.command import Group

COMMANDS = MappingProxyType(
    {
        "demo": "The main job on a built-in world: no data, no network.",
        "audit": "Compare predictions with methods that never see the video.",
        "evaluate": "Measure a prediction file by a stated protocol.",
        "compare": "Compare methods: paired, with corrected p values.",
        "leaderboard": "Make a site of a folder of prediction files.",
        "bias": "Report the location, verb and duration biases of a dataset.",
        "resplit": "Split a dataset again, so that guessing helps less.",
        "meta": "Study measures: which agree, are stable, or select well.",
        "humans": "Measure how well annotators agree, also with the references.",
        "contamination": "Report whether predictions recall official annotations.",
        "annotate": "Let people mark moments in a browser.",
        "browse": "Look at answers by query, or search an index, on a page.",
        "train": "Train a model by a recipe, and predict the test splits.",
        "predict": "Predict with a served or a trained model.",
        "sweep": "Train methods over values of a dial, with floors beside.",
        "bench": "Train the methods of a table, and compare them with floors.",
        "mixtures": "Train on shares of a clean and a noisy set, and compare.",
        "variants": "Train variants of a method for studies of model selection.",
        "features": "List videos, missing videos and frame rate of features.",
        "index": "Index videos for search.",
        "search": "Find the moments that a sentence describes.",
        "retrieve": "Rank clips by text and texts by clip.",
        "collect": "Collect sentences from films with audio description.",
        "convert": "Write a prediction file in another format.",
        "baseline": "Write the predictions of a blind baseline or the oracle.",
        "reproduce": "Compute published tables again, and compare the figures.",
        "cite": "Print the references of what a report used.",
        "datasets": "List, describe, check or fetch datasets.",
        "protocols": "List the evaluation conventions, or show one field by field.",
        "measures": "List the measures and how they are written.",
        "config": "Show or change what the command line remembers.",
        "completion": "Print the script that completes commands in a shell.",
    }
)


class LazyGroup(Group):
    """A group whose verbs, with their help, are modules of a package that are imported when used."""

    def __init__(self, *, package: str, verbs: Mapping[str, str], **settings: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(**settings)
        self.package, self.verbs = package, verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of the help."""
        del ctx
        return list(self.verbs)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a verb."""
        del ctx
        if name not in self.verbs:
            return None
        command = importlib.import_module(f"{self.package}.{name}").command
        if not isinstance(command, click.Command):
            raise TypeError(f"{self.package}.{name}.command is no command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(self.verbs.items()))


@click.group(
    cls=LazyGroup,
    package="truemoment.cli",
    verbs=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="truemoment %(version)s")
def cli() -> None:
    """Show whether a model found the moments, or guessed where moments usually are.

    Every command takes --debug, which shows the traceback of an error.
    """
