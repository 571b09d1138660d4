"""Every verb of the command line, with words that end well on whole files (tests/hostile/crash_place.py)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import click
from tests.hostile import commands, crashes
from tests.hostile.commands import SEARCHED
from tests.hostile.crash_place import FILM, TRACK
from tests.hostile.place import MINE, SMALL

from truemoment.cli.group import CommandGroup, cli

SERVED = {
    "annotate serve": "a server, see tests/hostile/servers.py",
    "annotate start": "the same server on a new study",
    "annotate demo": "the same server on rendered videos",
    "browse": "a server",
    "open": "a server",
    "search page": "the same server for an index",
}
"""Verbs that end only when they are interrupted."""


@dataclass(frozen=True)
class Every:
    """A command that ends well.

    Parameters
    ----------
    words
        The command, run in a place of whole files.
    folders
        Folders of ours that it reads or writes: studies, indexes, runs, collections and others.
    reads
        Files that it reads.
    quick
        Whether it takes less than some seconds.
    """

    words: tuple[str, ...]
    folders: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    quick: bool = True

    @property
    def name(self) -> str:
        """The command as a line."""
        return " ".join(self.words)


def _of(line: str, folders: str = "", *more: str, quick: bool = True) -> Every:
    return Every((*line.split(), *more), tuple(folders.split()), (), quick)


GATHERED = ("collect", "run", FILM, "--described", TRACK, "--speech", "tones", "-o", "gathered")
"""Makes the collection that other commands of `collect` read."""

MORE: tuple[Every, ...] = (
    _of("meta axioms --measures R@1,IoU=0.5"),
    _of("meta theory --figures figures", "figures"),
    _of("meta population -o systems --variants 4", "systems", *MINE),
    _of("meta report a.jsonl b.jsonl", "", *MINE, quick=False),
    _of("contamination --write-probes probes", "probes", *MINE),
    _of("variants blind-tan --annotations mine.jsonl -o grid", "grid", "--set=train.epochs=1", *SMALL, quick=False),
    _of("leaderboard board -o site", "site board", quick=False),
    _of("demo --videos 40 --no-open --out demo", "demo", quick=False),
    _of("demo --search --minutes 1 --no-open --out demo", "demo", quick=False),
    _of("collect review gathered --html new.html", "gathered"),
    _of("collect card gathered", "gathered"),
    _of("collect statistics gathered", "gathered"),
    _of("collect export gathered -o new", "gathered new"),
    _of("search red red.index --clips clips --thumbnails thumbs", "red.index clips thumbs"),
    _of("index calibrate red.index --sentences read-me.md", "red.index"),
    _of("search sweep features.npz --lengths 10,inf --resamples 20 --figures new", "new", *SEARCHED, *MINE),
    _of("predict run run -o new.jsonl", "run new.parts", *MINE),
    _of("convert-checkpoint published.ckpt --model moment-detr -o new", "new"),
    _of("features extract red.mp4 -o new --layout npz --model scenes", "new"),
    _of("features change features.npz --change prepended-noise:2 -o new", "new", *MINE),
    _of("evaluate a.jsonl --figures new", "new", *MINE),
    _of("bias --annotations mine.jsonl --permutations 99 --draws 99 --figures new", "new", quick=False),
    _of("datasets info tacos"),
    _of("datasets list"),
    _of("protocols list"),
    _of("protocols show 2d-tan"),
    _of("measures list"),
    _of("config set data-dir data"),
    _of("config unset data-dir"),
    _of("completion bash"),
)

FOLDERS = {"study": "study", "red.index": "red.index", "run": "run", "anew": "anew", "new": "new"}
"""Names in the place of the hunt that are folders of ours."""

REFUSED: tuple[Every, ...] = (
    _of("meta power a.jsonl b.jsonl", "", *MINE),
    _of("meta selection --validation systems --test systems"),
    _of("reproduce closer-look-1 --data-dir data"),
    _of("collect clips red.index red.index --annotations mine.jsonl -o new.json"),
    _of("collect estimate gathered a.jsonl", "gathered"),
    _of("collect splits gathered --splits 0.8,0.1,0.1", "gathered"),
)
"""Words that are refused on the small files of the place, after they were read."""


def with_workers() -> list[Every]:
    """Return the commands that start processes, with two of them."""
    long = [of for of in crashes.COMMANDS if of.workers]
    return [Every((*of.words, of.workers, "2"), (of.out,), (), quick=False) for of in long]


def every_command() -> list[Every]:
    """Return all commands, those of the hunt and of the crashes among them; each line once."""
    found: dict[tuple[str, ...], Every] = {}
    for of in commands.COMMANDS:
        if "formats/" not in " ".join(of.words) and not of.fails:
            named = {*of.reads, *of.writes, *of.words}
            folders = tuple(FOLDERS[name] for name in FOLDERS if name in named)
            found[of.words] = Every(of.words, folders, of.reads, of.weight >= 0.2)
    for long in crashes.COMMANDS:
        if long.name != "fetch":
            found.setdefault(long.words, Every(long.words, (long.out.split("/")[0],), (), quick=False))
    return [*found.values(), *with_workers(), *MORE, *REFUSED]


def verbs(command: click.Command = cli, words: tuple[str, ...] = ()) -> Iterator[str]:
    """Return the words of every verb of the command line."""
    if isinstance(command, CommandGroup):
        yield " ".join(words)
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            verb = command.get_command(click.Context(command), name)
            assert verb is not None
            yield from verbs(verb, (*words, name))
    else:
        yield " ".join(words)


def uncovered() -> list[str]:
    """Return the verbs that no command here has, and that are not served or fetched."""
    lines = [f"{of.name} " for of in every_command()]
    lines += [" ".join(of.words) for of in commands.COMMANDS if of.fails]  # hunted without the server that they need
    known = {*SERVED, "datasets fetch"}  # fetching needs a server, see tacos_from_here
    return [verb for verb in verbs() if verb not in known and not any(line.startswith(f"{verb} ") for line in lines)]
