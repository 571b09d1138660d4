"""Long commands that end at a random moment: the same command again ends with the bytes of an undisturbed one.

Ways to end: SIGKILL, SIGINT, SIGKILL with a power cut (files without their names are cut to half), no room for larger
files, no memory, no temporary folder, and a full standard output. Or nothing ends it, but a second process runs the
same command a moment later, or one of its workers is killed, as the system does where memory is short.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tests.hostile.child import Limits, Outcome, run_forked
from tests.hostile.crash_place import BENCH_DATA, FILM, TRACK
from tests.hostile.place import MINE, SMALL

from truemoment.base.boundary.folders import TEMPORARY

SMALL_SWEEP = [
    *("--world", "videos=30,location_prior=0.9", "--dial", "perception=1", "--seeds", "0", "--measures", "mIoU"),
    *("--headline", "mIoU", "--threads", "1", *SMALL, "--set=train.epochs=1", "--set=rows=8"),
]
SMALL_TABLE = [f"--set={name}" for name in ("train.epochs=1", "settings.n_clips=8", "settings.hidden=8")]


@dataclass(frozen=True)
class LongCommand:
    """A command whose work is kept as it goes.

    Parameters
    ----------
    words
        The command; it writes the folder or file `out` of the place.
    same
        Ends of the names of files that must be the same to the byte. Others tell times and machines.
    workers
        Option that sets how many processes work; empty if there is none.
    """

    name: str
    words: tuple[str, ...]
    out: str
    same: tuple[str, ...]
    workers: str = ""


def _of(name: str, line: str, out: str, same: str, more: list[str] | None = None, *, workers: str = "") -> LongCommand:
    return LongCommand(name, (*line.split(), *(more or [])), out, tuple(same.split()), workers)


COMMANDS: tuple[LongCommand, ...] = (
    _of(
        "train",
        "train blind-tan --annotations mine.jsonl -o new --set=train.epochs=3",
        "new",
        "best.safetensors test.jsonl network.safetensors",
        SMALL,
    ),
    _of("predict", "predict run run -o new.jsonl", "new.jsonl", "new.jsonl", MINE),
    _of(
        "index",
        "index red.mp4 videos/test0.mp4 videos/test1.mp4 -o new --model scenes",
        "new",
        "features.npy index.json",
        workers="--workers",
    ),
    _of("annotate prepare", "annotate prepare study", "study", "frames.json strip.jpg peaks.bin", workers="--workers"),
    _of("annotate export", "annotate export study -o new", "new", "moments.jsonl answers.jsonl queries.jsonl"),
    _of("resplit", "resplit --annotations mine.jsonl -o new --permutations 99", "new", ".jsonl datasheet.json"),
    _of("features", "features features.npz -o new", "new", "", MINE),
    _of("convert", "convert a.jsonl --to parquet -o new.parquet", "new.parquet", "new.parquet", MINE),
    _of("sweep", "sweep blind-tan -o new", "new", ".jsonl best.safetensors", SMALL_SWEEP, workers="--jobs"),
    _of("collect", f"collect run {FILM} --described {TRACK} --speech tones -o new", "new", "", workers="--workers"),
    _of(
        "mixtures",
        "mixtures blind-tan --mix mine.jsonl --mix noisy.jsonl --annotations mine.jsonl --seeds 1 --threads 1 -o new",
        "new",
        ".jsonl best.safetensors",
        SMALL_TABLE,
        workers="--workers",
    ),
    _of(
        "bench",
        f"bench closer-look --methods blind-tan --seeds 0 --threads 1 --data-dir {BENCH_DATA} -o new",
        "new",
        ".jsonl best.safetensors",
        SMALL_TABLE,
        workers="--workers",
    ),
    _of("fetch", "datasets fetch tacos --data-dir .", "tacos", ""),
)

WAYS = (
    "kill",
    "interrupt",
    "file size",
    "memory",
    "no temporary folder",
    "full output",
    "two at once",
    "worker killed",
    "power cut",
)

ALLOWED = {"kill": {-signal.SIGKILL, 0}, "power cut": {-signal.SIGKILL, 0}, "interrupt": {130, 0}, "worker killed": {0}}
"""Exit statuses by way; others may end with 0 or 2, too."""


class CrashTest:
    """Crashes of one command in a folder of its own.

    Parameters
    ----------
    command
        The command.
    whole
        The place as it was made.
    folder
        A new folder.
    """

    def __init__(self, command: LongCommand, whole: Path, folder: Path) -> None:
        self.command, self.whole, self.place = command, whole, folder / "place"
        folder.mkdir(parents=True)
        self._fresh()
        began = time.monotonic()
        outcome = self._run(Limits())
        self.seconds = time.monotonic() - began
        if outcome.status != 0:
            raise SystemExit(f"{command.name}: status {outcome.status} when undisturbed: {outcome.err.decode()}")
        self.right = self._contents()
        if not self.right:
            raise SystemExit(f"{command.name}: no file to compare")

    @functools.cached_property
    def slower(self) -> float:
        """How many times as long the command takes with two workers, which import everything first."""
        self._fresh()
        began = time.monotonic()
        self._run(Limits(), workers=2)
        self._fresh()
        return (time.monotonic() - began) / self.seconds

    def crash(self, way: str, rng: np.random.Generator) -> str | None:
        """End the command in a way, run it again undisturbed, and return what is wrong."""
        self._fresh()
        outcome = self._disturbed(way, rng)
        if outcome.status not in ALLOWED.get(way, {0, 2}):
            return f"{way}: status {outcome.status}: {outcome.err[-300:].decode(errors='replace')}"
        again = self._run(Limits())
        if again.status != 0 and "is there already" not in again.err.decode():
            return f"{way}: status {again.status} the second time: {again.err[-300:].decode(errors='replace')}"
        found = self._contents()
        if again.status != 0 and outcome.status != 0 and found != self.right:  # whole ones may be refused
            return f"{way}: leaves a folder that the same command refuses: {again.err[-200:].decode(errors='replace')}"
        wrong = [name for name in self.right.keys() | found.keys() if self.right.get(name) != found.get(name)]
        if wrong:
            return f"{way}: other bytes than undisturbed: {sorted(wrong)[:3]}"
        left = [path.name for path in self.place.rglob(".*") if path.name.startswith(".tmp")]
        return f"{way}: leftovers {left[:3]}" if left else None

    def _disturbed(self, way: str, rng: np.random.Generator) -> Outcome:
        moment = float(rng.uniform(0, 1.1 * self.seconds))
        match way:
            case "kill":
                return self._run(Limits(), signal.SIGKILL, moment)
            case "interrupt":
                return self._run(Limits(), signal.SIGINT, moment)
            case "power cut":
                outcome = self._run(Limits(), signal.SIGKILL, moment)
                self._cut_unfinished()
                return outcome
            case "file size":
                return self._run(Limits(file_size=int(10 ** rng.uniform(1, 5))))
            case "memory":
                return self._run(Limits(memory=int(10 ** rng.uniform(6.5, 8.5))))
            case "worker killed":
                return self._run(Limits(), signal.SIGKILL, moment * self.slower, workers=2)
            case "two at once":
                return self._two(moment)
            case "no temporary folder":
                return self._run(Limits(environment={"TMPDIR": "/dev/null/nowhere"}))
        return self._run(Limits(out=Path("/dev/full")))

    def _cut_unfinished(self) -> None:
        """Cut unfinished files to half, as a disk may have them; the others were on it before they had a name.

        tests/files/test_atomic_write.py looks at that order.
        """
        for path in self.place.rglob("*"):
            names = path.relative_to(self.place).parts
            if any(map(TEMPORARY.fullmatch, names)) and path.is_file() and not path.is_symlink():
                os.truncate(path, path.stat().st_size // 2)

    def _two(self, moment: float) -> Outcome:
        """Run the command, and the same a moment later; return how the first ended, or the second if it ended badly."""
        seconds: list[Outcome] = []
        words = list(self.command.words)

        def again() -> None:
            seconds.append(run_forked(words, self.place, Limits(), streams="second"))

        timer = threading.Timer(moment, again)
        timer.start()
        first = self._run(Limits())
        timer.join()
        return first if first.status not in {0, 2} or seconds[0].status in {0, 2} else seconds[0]

    def _run(self, limits: Limits, signal_: int | None = None, after_s: float = 0.0, workers: int = 1) -> Outcome:
        """Run the command, and send a signal to it after a while, or to one of its workers if it has several."""
        timers: list[threading.Timer] = []

        def started(process: int) -> None:
            if signal_ is not None:
                send = _send if workers == 1 else _send_to_worker
                timers.append(threading.Timer(after_s, send, (process, signal_)))
                timers[0].start()

        more = [] if workers == 1 else [self.command.workers, str(workers)]
        outcome = run_forked([*self.command.words, *more], self.place, limits, started)
        for timer in timers:
            timer.cancel()
            timer.join()  # no thread is left when the next process is forked
        return outcome

    def _fresh(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.whole, self.place, symlinks=True)

    def _contents(self) -> dict[str, bytes]:
        """Return what must be the same."""
        out = self.place / self.command.out
        files = [out] if out.is_file() else [path for path in out.rglob("*") if path.is_file()]
        wanted = self.command.same or ("",)
        return {str(path.relative_to(self.place)): path.read_bytes() for path in files if path.name.endswith(wanted)}


def _send(process: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def _send_to_worker(process: int, number: int) -> None:
    """Send a signal to the newest worker of a command, as soon as there is one."""
    with contextlib.suppress(FileNotFoundError):  # the command has ended
        while not (workers := _workers(process)):
            time.sleep(0.01)
        _send(workers[-1], number)


def _workers(process: int) -> list[int]:
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def crash_all(
    seed: int,
    kills: int,
    others: int,
    whole: Path,
    folder: Path,
    only: Collection[str] = (),
    ways: Collection[str] = WAYS,
) -> list[str]:
    """Crash each command (or those of these names) by SIGKILL, and in each other way; return what went wrong."""
    found: list[str] = []
    for number, command in enumerate(COMMANDS):
        if only and command.name not in only:
            continue
        began, counts = time.monotonic(), Counter[str]()
        test = CrashTest(command, whole, folder / f"crash-{number}")
        for way in WAYS:
            if way not in ways or (way == "worker killed" and not command.workers):
                continue
            for times in range(kills if way in ("kill", "power cut") else others):
                rng = np.random.default_rng([seed, number, WAYS.index(way), times])
                wrong = test.crash(way, rng)
                counts[way] += 1
                if wrong:
                    found.append(f"{command.name}: {wrong}")
                    print(found[-1], flush=True)
        told = ", ".join(f"{way} {count}" for way, count in counts.items())
        print(f"{command.name}: {told}; {time.monotonic() - began:.0f} s", flush=True)
    return found
