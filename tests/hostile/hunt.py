"""The hunt: draws inputs by seed, runs a command on each in a fork, and keeps what breaks a rule."""

from __future__ import annotations

import gc
import json
import os
import shlex
import shutil
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from tests.hostile.child import Limits, Outcome, run_forked
from tests.hostile.commands import COMMANDS, Command, files_read
from tests.hostile.imports import import_early, import_late
from tests.hostile.mutators import MUTATORS, TEXT
from tests.hostile.place import CANARY, make_place
from tests.hostile.rules import Happened, Snapshot, broken_rules, snapshot
from tests.hostile.surroundings import ENVIRONMENTS, LIMITS, options_changed, put_in_place_of, renamed

KINDS, SHARES = ("content", "place", "options", "name", "environment", "limits"), (0.74, 0.07, 0.08, 0.05, 0.03, 0.03)


OUTSIDE = "secret.txt"
"""A file outside the place, to which links lead."""


OUTPUTS = ("--json", "--html", "--csv", "--save-scores", "-o", "--out", "--raw")
"""Options whose file may be replaced, where the command does not read it."""


FAULTS = ("board/", "of video '", "query '", "-split ", "(queries ")
"""How an error names the video or the queries at fault, where a file is whole and lacks something."""


@dataclass(frozen=True)
class Finding:
    """An input that a command handled badly: which one, what broke, and how to run it again."""

    number: int
    kind: str
    command: str
    broken: list[str]
    error: str
    kept: str


class Hunter:
    """One process of the hunt, with a place of its own.

    Parameters
    ----------
    folder
        A new folder for its work.
    whole
        The place as it was made; it is copied.
    keep
        Where findings are kept.
    """

    def __init__(self, folder: Path, whole: Path, keep: Path) -> None:
        self.folder, self.whole, self.keep = folder, whole, keep
        self.place = folder / "place"
        self.home, self.temporary, outside = (folder / name for name in ("home", "tmp", "outside"))
        for path in (self.home, self.temporary, outside):
            path.mkdir(parents=True)
        (outside / OUTSIDE).write_text(CANARY)
        self.outside = snapshot(outside)
        self.drawn: set[Command] = set()
        self.passed: set[Command] = set()
        """Commands that ended well on an input, with their own options."""
        secrets = dict.fromkeys(("OPENAI_API_KEY", "HF_TOKEN", "TRUEMOMENT_API_KEY"), f"{CANARY}-key")
        folders = {"HOME": str(self.home), "TMPDIR": str(self.temporary), "XDG_CACHE_HOME": str(self.home / ".cache")}
        folders |= {"XDG_DATA_HOME": str(self.home / ".local" / "share")}
        os.environ.update(secrets | folders | {"TRUEMOMENT_CACHE": str(self.home / ".cache" / "truemoment")})
        os.environ["TRUEMOMENT_CONFIG"] = str(self.place / "config.json")
        shutil.copytree(whole, self.place, symlinks=True)
        self.state = snapshot(self.place)

    def _restore(self, now: Snapshot) -> None:
        """Make the place, as it is now, whole again: remove what is new, and copy what is no longer what it was."""
        if now == self.state:
            return
        for name in sorted(set(now) - set(self.state), reverse=True):  # what lies in a folder goes before it
            _remove(self.place / name)
        for name in sorted(self.state):
            if now.get(name) == self.state[name]:
                continue
            path, source = self.place / name, self.whole / name
            if source.is_dir() and not source.is_symlink():
                if not path.is_dir() or path.is_symlink():
                    _remove(path)
                    path.mkdir()
                continue
            _remove(path)
            shutil.copy2(source, path, follow_symlinks=False)
        self.state = snapshot(self.place)

    def hunt(self, seed: int, number: int) -> Finding | None:
        """Run the input of a number; return what it found."""
        command, rng = _command_of(seed, number)
        self.drawn.add(command)
        kind = str(rng.choice(KINDS, p=SHARES))
        words, limits, named, what = self._draw(command, kind, rng)
        before = snapshot(self.place)
        outcome = run_forked(words, self.place, limits)
        if outcome.status in (0, 1) and kind != "options":
            self.passed.add(command)
        after = snapshot(self.place)
        hears = not limits.closed and limits.file_size is None  # the limit holds for its streams, too
        written = Counter(word for option, word in pairwise(words) if option in OUTPUTS)
        replaced = [word for word, count in written.items() if words.count(word) == count]
        writes = (*command.writes, *replaced)
        happened = Happened(words, writes, named, hears, outcome, before, after, self.place, self.home, self.temporary)
        broken = broken_rules(happened)
        broken += self._changed_outside(words)
        finding = self._kept(seed, number, f"{kind}: {what}", words, outcome, broken) if broken else None
        self._restore(after)
        for left in (*self.temporary.iterdir(), self.home / ".local"):
            _remove(left)
        return finding

    def _changed_outside(self, words: list[str]) -> list[str]:
        """Return what is wrong outside the place, where a command may write what its words name, and clear it away."""
        outside = self.folder / "outside"
        named = tuple(f"{Path(word).with_suffix('')}." for word in words if word.startswith("../outside/"))
        added = set(snapshot(outside)) - set(self.outside)  # also new.raw.jsonl beside new.json
        new = {name for name in added if f"../outside/{name}" in words or f"../outside/{name}".startswith(named)}
        for name in new:
            _remove(outside / name)
        return ["a file outside the place was changed"] if snapshot(outside) != self.outside else []

    def check_whole(self) -> None:
        """Run commands that were drawn and never ended well on whole files: what fails there finds nothing."""
        failed = []
        for command in self.drawn - self.passed:
            outcome = run_forked(list(command.words), self.place, Limits())
            if outcome.status not in (0, 1) and not command.fails:
                failed.append(f"{shlex.join(command.words)}: status {outcome.status}: {outcome.err.decode()}")
            self._restore(snapshot(self.place))
        if failed:
            raise SystemExit("\n".join(["commands fail on whole files:", *failed]))

    def _draw(
        self, command: Command, kind: str, rng: np.random.Generator
    ) -> tuple[list[str], Limits, tuple[str, ...], str]:
        """Make the place or the command hostile: the words, the limits, names of which an error has one, and what."""
        words, limits = list(command.words), Limits()
        file = rng.choice(np.array(files_read(command, self.place), dtype=object))
        named = () if command.fails else self._names(file, command)
        if kind == "place" and str(file) in command.copies:
            kind = "content"
        if kind == "content":
            mutators = MUTATORS.get(file.suffix, TEXT)
            mutate = mutators[int(rng.integers(len(mutators)))]
            path = self.place / file
            content = mutate(path.read_bytes(), rng)
            path.write_bytes(content)
            return words, limits, named, f"{file} {mutate.__name__}"
        if kind == "place":
            return words, limits, named, f"{file} is {put_in_place_of(self.place / file, rng)}"
        if kind == "options":
            return options_changed(words, rng), limits, (), "options"
        if kind == "name":
            again = renamed(words, str(file), self.place, rng)
            return again or words, limits, (), f"{file} renamed"
        if kind == "environment":
            environment = ENVIRONMENTS[int(rng.integers(len(ENVIRONMENTS)))]
            return words, Limits(environment=environment), (), str(environment)
        limits = LIMITS[int(rng.integers(len(LIMITS)))]
        return words, limits, (), str(limits)

    def _names(self, file: Path, command: Command) -> tuple[str, ...]:
        """Return names of which an error about a file has one: a reader may find the fault in the file beside it."""
        others = [word for word in command.words if (self.place / word).is_file()]
        return file.name, *command.reads, *others, OUTSIDE, *FAULTS

    def _kept(
        self, seed: int, number: int, kind: str, words: list[str], outcome: Outcome, broken: list[str]
    ) -> Finding:
        """Keep the place, the command and its output."""
        folder = self.keep / f"{seed}-{number:06}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        changed = {name for name, state in snapshot(self.place).items() if self.state.get(name) != state}
        for name in changed:
            path, to = self.place / name, folder / "files" / name
            if path.is_file() or path.is_symlink():
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, to, follow_symlinks=False)
        (folder / "stdout").write_bytes(outcome.out)
        (folder / "stderr").write_bytes(outcome.err)
        command = shlex.join(["truemoment", *words])
        finding = Finding(number, kind, command, broken, outcome.err[-300:].decode("utf-8", "replace"), str(folder))
        (folder / "finding.json").write_text(json.dumps(asdict(finding), indent=1))
        return finding


def _remove(path: Path) -> None:
    """Remove a file, a link or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _command_of(seed: int, number: int) -> tuple[Command, np.random.Generator]:
    """Draw the command of an input; return the generator that draws the rest, too."""
    rng = np.random.default_rng([seed, number])
    weights = np.array([command.weight for command in COMMANDS])
    return COMMANDS[int(rng.choice(len(COMMANDS), p=weights / weights.sum()))], rng


@dataclass(frozen=True)
class Hunt:
    """A hunt: its seed, how many inputs and processes it has, and its folders, as a :class:`Hunter` has them."""

    seed: int
    n_inputs: int
    workers: int
    folder: Path
    whole: Path
    keep: Path

    def run(self) -> list[Finding]:
        """Run all inputs; return what was found."""
        with _processes(1) as other:  # what it imports makes forks slow: this process does not
            found = other.submit(self._late).result()
        import_early()
        return found + self._inputs(late=False)

    def _late(self) -> list[Finding]:
        """Make the whole place, which imports what libraries import when they are first used; run what needs that."""
        make_place(self.whole)
        import_late()
        return self._inputs(late=True)

    def _inputs(self, *, late: bool) -> list[Finding]:
        """Run inputs of commands that are late, or of the others."""
        gc.freeze()  # a fork that collects garbage does not copy what it shares with this process
        with _processes(self.workers) as workers:
            shares = [workers.submit(self._share, share, late=late) for share in range(self.workers)]
            return [finding for share in shares for finding in share.result()]

    def _share(self, share: int, *, late: bool) -> list[Finding]:
        """Run every n-th input."""
        hunter = Hunter(self.folder / f"hunter-{share}-{late:d}", self.whole, self.keep)
        found = []
        for number in range(share, self.n_inputs, self.workers):
            if _command_of(self.seed, number)[0].late == late and (finding := hunter.hunt(self.seed, number)):
                found.append(finding)
                print(f"{finding.kept}: {finding.kind}: {finding.command}\n    {'; '.join(finding.broken)}", flush=True)
        hunter.check_whole()
        return found


def _processes(number: int) -> ProcessPoolExecutor:
    """Return forks of this process that may fork, too."""
    return ProcessPoolExecutor(number, get_context("fork"))
