"""Sweeps over every command: a stranger's modules beside it, a link at every path of its folders, pipes and huge files.

The hunt draws inputs; a sweep tries one hostile thing everywhere. Each yields what was wrong with every trial: a list
of lines, empty where all was well.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from tests.hostile.child import Limits, Outcome, run_forked
from tests.hostile.commands import Command, files_read
from tests.hostile.every import GATHERED, Every, every_command
from tests.hostile.modules import plant_modules
from tests.hostile.place import CANARY
from tests.hostile.rules import snapshot
from tests.hostile.surroundings import HUGE

SECONDS = 300
"""A command that takes longer waits for something."""


# ------------------------------------------------------------------------------------------- modules


def sweep_modules(whole: Path, folder: Path, commands: Sequence[Every], workers: int) -> Iterator[list[str]]:
    """Run commands, each as a program of its own, in a place that is full of modules of a stranger."""

    def run(numbered: tuple[int, Every]) -> list[str]:
        number, of = numbered
        place, pwned = folder / f"place-{number}", folder / f"pwned-{number}"
        shutil.copytree(whole, place, symlinks=True)
        plant_modules(place, pwned)
        done = run_program([str(Path(sys.executable).with_name("truemoment"))], of.words, place)
        shutil.rmtree(place)
        if pwned.exists():
            return [f"{of.name}: imported {' '.join(sorted(set(pwned.read_text().split())))}"]
        return ends_badly(of, done)

    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(run, enumerate(commands))


def run_program(program: Sequence[str], words: Iterable[str], place: Path) -> Outcome:
    """Run a program in a place, without variables that say where modules are."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONSAFEPATH")}
    environment |= {"HOME": str(place.parent), "TRUEMOMENT_CONFIG": str(place / "config.json")}
    done = subprocess.run(
        [*program, *words], cwd=place, env=environment, capture_output=True, timeout=SECONDS, check=False
    )
    return Outcome(done.returncode, done.stdout, done.stderr, 0.0)


def ends_badly(of: Every, outcome: Outcome) -> list[str]:
    """Return what is wrong with the end of a command, if anything."""
    last = outcome.err.decode("utf-8", "replace").strip().splitlines()[-1:]
    if outcome.status in (0, 1) or (outcome.status == 2 and last and last[0].startswith("truemoment: ")):
        return []
    return [f"{of.name}: status {outcome.status}: {' '.join(last)[:200]}"]


# --------------------------------------------------------------------------------------------- links


def sweep_links(
    whole: Path, folder: Path, commands: Sequence[Every], rng: np.random.Generator, most: int
) -> Iterator[list[str]]:
    """Put a link to a file, and one to a folder, at every path that a clean run leaves, or at `most` drawn ones.

    Nothing outside may be changed, and no output may have the secret of the outside.
    """
    for of in commands:
        if not of.folders:
            continue
        done = folder / "done"
        fresh_copy(whole, done)
        clean = run_forked(list(of.words), done, Limits())
        if clean.status not in (0, 1):
            continue  # what is refused on whole files leaves nothing
        paths = [path for name in of.folders if (done / name).is_dir() for path in below(done, name)]
        if len(paths) > most:
            paths = [paths[k] for k in np.sort(rng.choice(len(paths), most, replace=False))]
        for path in paths:
            for kind in ("file", "folder"):
                yield [f"{of.name}: {path} is a link to a {kind}: {why}" for why in with_link(of, done, path, kind)]
        shutil.rmtree(done)


def below(place: Path, name: str) -> list[Path]:
    """Return all paths below a folder of a place, the folder itself left out."""
    return sorted(path.relative_to(place) for path in (place / name).rglob("*"))


def with_link(of: Every, done: Path, path: Path, kind: str) -> list[str]:
    """Run a command where a path of an earlier run is a link out of the place; return what is wrong."""
    place, outside = done.parent / "place", done.parent / "outside"
    fresh_copy(done, place)
    shutil.rmtree(outside, ignore_errors=True)
    (outside / "folder" / "inner").mkdir(parents=True)
    for name in ("secret.txt", "folder/secret.txt"):
        (outside / name).write_text(CANARY)
    target = place / path
    content = outside / "folder"
    if target.is_dir():
        shutil.copytree(target, outside / "folder", dirs_exist_ok=True)  # so that what is looked for is found there
        shutil.rmtree(target)
    else:
        content = outside / "copy"
        shutil.copy(target, content)
        target.unlink()
    target.symlink_to(content if kind == "folder" else outside / "secret.txt")
    before = snapshot(outside)
    outcome = run_forked(list(of.words), place, Limits())
    wrong = ["a file outside was changed"] if snapshot(outside) != before else []
    wrong += [line.removeprefix(f"{of.name}: ") for line in ends_badly(of, outcome)]
    if CANARY.encode() in outcome.out + outcome.err or any(holds_canary(place, done)):
        wrong.append("the secret of a file outside is in an output")
    return wrong


def holds_canary(place: Path, done: Path) -> Iterator[bool]:
    """Whether new files of a place have the secret."""
    for path in place.rglob("*"):
        if path.is_file() and not path.is_symlink() and not (done / path.relative_to(place)).exists():
            yield CANARY.encode() in path.read_bytes()


# -------------------------------------------------------------------------------- pipes and huge files


def sweep_pipes(whole: Path, folder: Path, commands: Sequence[Every]) -> Iterator[list[str]]:
    """Put a pipe without a writer in the place of every file that a command reads."""
    return in_place_of_files(whole, folder, commands, "is a pipe", os.mkfifo)


def sweep_huge(whole: Path, folder: Path, commands: Sequence[Every]) -> Iterator[list[str]]:
    """Put a sparse file of 20 GB in the place of every file that a command reads."""

    def make(path: Path) -> None:
        with path.open("wb") as stream:
            stream.truncate(HUGE)

    return in_place_of_files(whole, folder, commands, "has 20 GB", make)


def in_place_of_files(
    whole: Path, folder: Path, commands: Sequence[Every], what: str, make: Callable[[Path], None]
) -> Iterator[list[str]]:
    """Replace each file that a command reads, one at a time, and run it; return what is wrong."""
    place = folder / "place"
    for of in commands:
        reads = (*of.reads, *(name for name in of.folders if (whole / name).exists()))
        for file in dict.fromkeys(files_read(Command(of.words, reads), whole)):
            fresh_copy(whole, place)
            (place / file).unlink()
            make(place / file)
            outcome = run_forked(list(of.words), place, Limits())
            yield [f"{line} ({file} {what}; {outcome.seconds:.0f} s)" for line in ends_badly(of, outcome)]


# ---------------------------------------------------------------------------------------------- all


def fresh_copy(of: Path, to: Path) -> None:
    """Copy a folder to a place where there is none afterwards."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(of, to, symlinks=True)


def gather(whole: Path) -> None:
    """Add the collection that commands of `collect` read to the whole files."""
    done = run_forked(list(GATHERED), whole, Limits())
    assert done.status == 0, done.err.decode()


SWEEPS = ("modules", "links", "pipes", "huge")


def sweep(kind: str, whole: Path, seed: int, workers: int, *, most: int = 10**9, only: str = "") -> Iterator[list[str]]:
    """Run a sweep over every command, or those whose line begins with `only`."""
    commands = [of for of in every_command() if of.name.startswith(only)]
    with tempfile.TemporaryDirectory(prefix="sweep-") as name:
        folder = Path(name)
        match kind:
            case "modules":
                yield from sweep_modules(whole, folder, commands, workers)
            case "links":
                yield from sweep_links(whole, folder, commands, np.random.default_rng(seed), most)
            case "pipes":
                yield from sweep_pipes(whole, folder, commands)
            case _:
                yield from sweep_huge(whole, folder, commands)
