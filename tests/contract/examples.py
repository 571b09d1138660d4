"""A command of every verb that ends well, and the options of the verb: both are taken from what is there already."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import click
from tests.hostile.every import REFUSED, SERVED, every_command, verbs
from tests.hostile.place import MINE

from truemoment.cli.group import cli

CHOSEN = {
    "compare": ("compare", "two=a.jsonl", "two=b.jsonl", "one=c.jsonl", "--fit-split", "none", *MINE),
    "contamination": ("contamination", "a.jsonl", "--fresh-annotations", "people.jsonl", *MINE),
    "baseline": ("baseline", "uniform", "--repeats", "3", "-o", "new.jsonl", *MINE),
    "bias": ("bias", "--annotations", "mine.jsonl", "--draws", "20"),
    "index": ("index", "red.mp4", "videos/test0.mp4", "-o", "new", "--model", "scenes"),
    "meta theory": ("meta", "theory", "--draws", "20", "--ranks", "3", "--noise", "0.1"),
    "meta report": (
        *("meta", "report", "a.jsonl", "b.jsonl", *MINE, "--trials", "10", "--sets", "3", "--repetitions", "3"),
        *("--measures", "R@1,IoU=0.5; mIoU"),
    ),
    "meta stability": ("meta", "stability", "scores.npz", "again=scores.npz", "--trials", "20", "--sizes", "3,6"),
    "meta ambiguity": (
        *("meta", "ambiguity", "a.jsonl", "b.jsonl", "--annotations", "people.jsonl", "--split", "test", "--sets", "5"),
    ),
    "meta selection": (
        *("meta", "selection", "--validation", "files", "--test", "files", *MINE, "--measures", "mIoU"),
        *("--validation-annotations", "mine.jsonl", "--validation-split", "test"),
    ),
}
"""Words of verbs whose words in tests/hostile compute too long for this, or have no document."""

FEW = {"--permutations": "99", "--resamples": "200"}
"""Values of options that set how much is computed."""

APART = {
    "predict run": {"--workers"},  # of runs on windows of whole films
    "search": {"--resamples", "--seed", "--workers", "--figures"},  # of --sweep and of clusters
}
"""Options that do not fit the example."""

WITHOUT = {
    **SERVED,
    **dict.fromkeys(("datasets fetch", "predict endpoint", "predict prompts"), "needs a server"),
    **dict.fromkeys(
        ("collect clips", "collect splits", "collect estimate", "reproduce"), "needs more than the place has"
    ),
    "meta power": "needs 30 queries or more: tests/golden",
}
"""Verbs without an example, and why."""

STATED = frozenset({"--json", "--html", "--figures", "--table", "--csv", "--workers", "--jobs", *FEW})
"""Options with a value that the contract sets itself."""


@dataclass(frozen=True)
class Example:
    """A verb, words of it that end well, and its options."""

    verb: str
    words: tuple[str, ...]
    options: frozenset[str]

    def having(self, **values: str) -> list[str]:
        """Return those of some options that the verb has, each with its value; "" for an option without one."""
        chosen = {f"--{name}": value for name, value in values.items() if f"--{name}" in self.options}
        return [word for name, value in chosen.items() for word in (name, value) if word]


def options_of(verb: str) -> frozenset[str]:
    """Return the options of a verb."""
    command: click.Command = cli
    for word in verb.split():
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word) or command
    return frozenset(name for of in command.params if isinstance(of, click.Option) for name in of.opts)


@functools.cache
def examples() -> dict[str, Example]:
    """Return the verbs with an example."""
    ends_well = [of for of in every_command() if of not in REFUSED]
    made = {}
    for verb in verbs():
        if verb not in WITHOUT:
            words = CHOSEN.get(verb) or next((of.words for of in ends_well if f"{of.name} ".startswith(f"{verb} ")), ())
            assert words or " " in verb, f"{verb}: has no words (tests/hostile/every.py)"
            options = options_of(verb) - APART.get(verb, set())
            few = [word for name, value in FEW.items() if name in options for word in (name, value)]
            made[verb] = Example(verb, (*_without_stated(words or verb.split()), *few), options)
    return made


def _without_stated(words: tuple[str, ...] | list[str]) -> list[str]:
    """Leave out the options that the contract sets, with their values."""
    skipped = {at + by for at, word in enumerate(words) if word in STATED for by in (0, 1)}
    return [word for at, word in enumerate(words) if at not in skipped]
