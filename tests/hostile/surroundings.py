"""What is hostile around a file: what stands in its place, its name, the options, the environment, the limits."""

from __future__ import annotations

import functools
import os
import shutil
from pathlib import Path

import click
import numpy as np
from tests.hostile.child import Limits
from tests.hostile.mutators import NUMBERS, PAYLOADS

from truemoment.cli.group import CommandGroup, cli

HUGE = 20_000_000_000
"""Bytes of a sparse file, which takes no room on the disk."""

OPTIONS = (
    "--seed",
    "--resamples",
    "--measures",
    "--protocol",
    "--split",
    "--dataset",
    "--format",
    "--axis",
    "--json",
    "--table",
    "--html",
    "--figures",
    "--data-dir",
    "--annotations",
    "--top",
    "--fps",
    "--permutations",
    "--draws",
    "-o",
    "--to",
    "--on-unknown",
    "--on-negative",
    "--save-scores",
    "--threads",
    "--workers",
    "--nothing",
    "-x",
    "--fit-split",
    "--set",
)
WORDS = (
    "R@1",
    "R1@0.5",
    "R@0,IoU=0.5",
    "R@1,IoU=2",
    "mIoU;;",
    "AxIoU@10,p=geometric(9)",
    "mIoU[ref=none]",
    "dR@1,IoU=0.5[x]",
    "default,times=none",
    "closer-look,nms=-1",
    "2d-tan",
    "charades-sta",
    "train",
    "nowhere/deeper/file.json",
    "/dev/full",
    "/dev/null",
    "a.jsonl",
    "mine.jsonl",
    "videos",
    ".",
    "..",
    "../outside/new.json",
    "-",
    "md",
    "native",
    "seconds",
    "1",
    "3",
)

ENVIRONMENTS: tuple[dict[str, str], ...] = (
    {"HOME": "/dev/null/nowhere"},
    {"TMPDIR": "/dev/null/nowhere"},
    {"TRUEMOMENT_DATA": "/dev/null/nowhere"},
    {"TRUEMOMENT_CACHE": "/dev/null"},
    {"TRUEMOMENT_CACHE": "/dev/null/nowhere/below"},
    {"COLUMNS": "1"},
    {"COLUMNS": "-5", "LINES": "x"},
    {"COLUMNS": "1000000"},
    {"MPLBACKEND": "module://nothing"},
    {"MPLCONFIGDIR": "/dev/null"},
    {"TZ": "Nowhere/None"},
    {"TERM": "dumb", "NO_COLOR": "1"},
    {"LANG": "tr_TR.UTF-8", "LC_ALL": "C"},
    {"XDG_CONFIG_HOME": "/dev/null"},
    {"http_proxy": "http://\x1b[31m:1", "HTTPS_PROXY": "socks5://x"},
    {"LOCAL_RANK": "one", "WORLD_SIZE": "many"},
    {"LOCAL_RANK": "0"},
)

LIMITS = (
    Limits(memory=30_000_000),
    Limits(memory=150_000_000),
    Limits(open_files=4),
    Limits(open_files=12),
    Limits(file_size=0),
    Limits(file_size=900),
    Limits(closed=(0,)),
    Limits(closed=(1,)),
    Limits(closed=(2,)),
    Limits(closed=(0, 1, 2)),
)


VALUES = (*WORDS, *WORDS, *NUMBERS, *(of for of in PAYLOADS if not of.startswith("/")))
"""Values of options: none names a file of the machine, which an option of output would replace."""


@functools.cache
def own_options(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the options with a value of the command that words begin with."""
    command: click.Command = cli
    for word in words:
        verb = command.get_command(click.Context(command), word) if isinstance(command, click.Group) else None
        if verb is None:
            break
        command = verb
    command = command.own if isinstance(command, CommandGroup) else command
    return tuple(of.opts[-1] for of in command.params if isinstance(of, click.Option) and not of.is_flag)


def options_changed(words: list[str], rng: np.random.Generator) -> list[str]:
    """Add an option, of the command's own or any, or change a word behind the command's name."""
    own = own_options(tuple(words))
    words = list(words)
    value = VALUES[int(rng.integers(len(VALUES)))]
    at = int(rng.integers(1, len(words) + 1))
    match int(rng.integers(5)):
        case 0:
            words += [OPTIONS[int(rng.integers(len(OPTIONS)))], value]
        case 1 | 2 if own:
            words += [own[int(rng.integers(len(own)))], value]
        case 3 if at < len(words):
            words[at] = value
        case _:
            del words[at:]
    # No command that listens, and none that reads what is not in the place.
    return [word.encode("utf-8", "surrogateescape" if word != "\ud800" else "replace").decode() for word in words]


def put_in_place_of(path: Path, rng: np.random.Generator) -> str:
    """Put something that is no ordinary file where a file was; return what."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    match int(rng.integers(9)):
        case 0:
            return "nothing"
        case 7:
            os.mkfifo(path)
            return "a pipe without a writer"
        case 8:
            with path.open("wb") as stream:
                stream.truncate(HUGE)
            return "a sparse file of 20 GB"
        case 1:
            path.mkdir()
            return "a folder"
        case 2:
            path.symlink_to("../outside/secret.txt")
            return "a link to another file"
        case 3:
            path.symlink_to(path.name)
            return "a link to itself"
        case 4:
            path.symlink_to("nowhere")
            return "a link to nothing"
        case 5:
            path.symlink_to("/dev/null")
            return "the null device"
        case _:
            path.symlink_to(path.parent.absolute())
            return "a link to its own folder"


NAMES = (
    "\x1b[31mred",
    "\u202eright",
    "a\nb",
    "a b",
    "-dash",
    "a=b",
    "ü" * 60,
    "x" * 200,
    "a'b\"c",
    "$(touch pwned)",
    "%s{0}",
    "#",
    "<script>alert(1)",
    "a\\b",
    "~",
    "*",
    "a,b;c",
    "\udcff",
    "con",
    "a.gz",
)


def renamed(words: list[str], name: str, place: Path, rng: np.random.Generator) -> list[str] | None:
    """Rename a file that a command reads, and its words with it; None if no word is its name."""
    if name not in words:
        return None
    end = Path(name).suffix if rng.random() < 0.8 else ""
    new = NAMES[int(rng.integers(len(NAMES)))] + end
    shutil.move(place / name, place / new)
    return [new if word == name else word for word in words]
