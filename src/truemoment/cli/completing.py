"""Values that a shell completes: datasets, splits, protocols, measures, recipes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import ShellComplete, get_completion_class

from truemoment.base.errors import UsageError

VARIABLE = "_TRUEMOMENT_COMPLETE"
"""Set by the script of ``truemoment completion``: the instruction of the shell."""

SHELLS = ("bash", "zsh", "fish")

Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def complete_names(names: Callable[[click.Context], Iterable[str]]) -> Complete:
    """Return a function that completes a value by names."""
    return lambda context, _, begun: [name for name in names(context) if name.startswith(begun)]


@complete_names
def datasets(_: click.Context) -> Iterable[str]:
    """Complete the name of a dataset."""
    from truemoment.data.datasets import DATASETS

    return DATASETS


@complete_names
def splits(context: click.Context) -> Iterable[str]:
    """Complete a split of the dataset that is given."""
    from truemoment.data.datasets import get_dataset

    name = context.params.get("dataset")
    return [split.name for split in get_dataset(name).splits] if name else ()


@complete_names
def protocols(_: click.Context) -> Iterable[str]:
    """Complete the name of a protocol."""
    from truemoment.evaluation.protocols import PROTOCOLS

    return PROTOCOLS


@complete_names
def measures(_: click.Context) -> Iterable[str]:
    """Complete a measure of the default protocol."""
    from truemoment.evaluation.measures import parse_measures
    from truemoment.evaluation.protocols import get_protocol

    return map(str, parse_measures(get_protocol("default").measures))


@complete_names
def recipes(_: click.Context) -> Iterable[str]:
    """Complete the name of a recipe."""
    from truemoment.learning.training.recipes import names

    return names()


@complete_names
def baselines(_: click.Context) -> Iterable[str]:
    """Complete the name of a baseline."""
    from truemoment.baselines import BASELINES

    return BASELINES


@complete_names
def formats(_: click.Context) -> Iterable[str]:
    """Complete the name of a prediction format."""
    from truemoment.data.formats import FORMATS

    return FORMATS


def script(shell: str) -> str:
    """Return the script that a shell sources."""
    completion = _completion(shell)
    return completion.source_template % completion.source_vars()


def answer(instruction: str) -> str:
    """Return the completions for an instruction such as ``bash_complete``; nothing for another."""
    shell, _, what = instruction.partition("_")
    if shell not in SHELLS or what != "complete":
        return ""
    try:
        words = _completion(shell)
        words.get_completion_args()
    except (KeyError, ValueError):
        problem = f"{VARIABLE}={instruction}: expected the words in COMP_WORDS and the place of one in COMP_CWORD"
        raise UsageError(f"{problem}, as the script of 'truemoment completion' sets them") from None
    return words.complete()


def _completion(shell: str) -> ShellComplete:
    from truemoment.cli.group import cli

    kind = get_completion_class(shell)
    if kind is None:
        raise UsageError(f"unknown shell {shell!r}, expected one of {', '.join(SHELLS)}")
    return kind(cli, {}, "truemoment", VARIABLE)
