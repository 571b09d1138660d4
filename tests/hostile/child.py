"""A command in a forked process: bounded, in a folder of its own, with its output in files."""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

SECONDS = 120
"""A command that takes longer is a finding: all inputs are small."""

MEMORY = 6 << 30
"""Bytes of address space beyond what the parent has mapped."""


@dataclass(frozen=True)
class Limits:
    """What a command is allowed."""

    memory: int = MEMORY
    open_files: int | None = None
    file_size: int | None = None
    environment: dict[str, str] = field(default_factory=dict)
    closed: tuple[int, ...] = ()
    out: Path | None = None


@dataclass(frozen=True)
class Outcome:
    """How a command ended: its exit status (negative: the signal), what it printed, and how long it took."""

    status: int
    out: bytes
    err: bytes
    seconds: float


def run_forked(
    words: list[str], place: Path, limits: Limits, started: Callable[[int], None] = lambda _: None, streams: str = "std"
) -> Outcome:
    """Run a command in a fork of this process, which has imported what commands need.

    `started` is called with the number of the process; `streams` begins the names of the files of its output.
    """
    outputs = [place.parent / f"{streams}{name}" for name in ("out", "err")]
    began = time.monotonic()
    process = os.fork()
    if process == 0:
        _run(words, place, limits, outputs)
    started(process)
    status = _wait(process, began)
    return Outcome(status, *(stream.read_bytes() for stream in outputs), time.monotonic() - began)


def _wait(process: int, began: float) -> int:
    while True:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() - began > SECONDS:
            os.killpg(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return -signal.SIGALRM
        time.sleep(0.001)


def _run(words: list[str], place: Path, limits: Limits, streams: list[Path]) -> None:
    """Become the command; never returns."""
    begins = False
    try:
        os.setpgid(0, 0)
        os.chdir(place)
        tqdm.set_lock(threading.RLock())  # the lock of bars is one for all forks, and a killed one may hold it
        os.environ.update(limits.environment)
        for number, stream in enumerate((limits.out or streams[0], streams[1]), start=1):
            opened = os.open(stream, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(opened, number)
            os.close(opened)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number in limits.closed:
            os.close(number)
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + limits.memory,) * 2)
        if limits.open_files is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (limits.open_files,) * 2)
        if limits.file_size is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limits.file_size,) * 2)
        sys.stdin, sys.stdout, sys.stderr = (
            open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115 - they stay open
            if number not in limits.closed
            else None
            for number, mode in ((0, "r"), (1, "w"), (2, "w"))
        )
        from truemoment.cli import main

        begins = True
        main(words)
    except SystemExit as ended:
        _leave(ended.code if isinstance(ended.code, int) else 1)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and not begins:
            _leave(130)  # before there is a command
        os.write(2, f"escaped: {type(error).__name__}: {error}\n".encode("utf-8", "replace"))
        _leave(70)
    _leave(71)


def _leave(status: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            status = status or 74
    os._exit(status)
