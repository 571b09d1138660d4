"""Run the hunt: python -m tests.hostile [--inputs 20000] [--seed 0] [--workers 2] [--keep FOLDER].

Status 1 if an input was handled badly; its command, its files and its output are kept. ``--sweep`` tries one hostile
thing with every command (tests/hostile/sweeps.py).
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")


def main() -> int:
    """Hunt, and print how it went."""
    arguments = argparse.ArgumentParser(prog="python -m tests.hostile")
    arguments.add_argument("--inputs", type=int, default=20_000)
    arguments.add_argument("--requests", type=int, default=0, help="requests to each server, in place of inputs")
    arguments.add_argument("--minutes", type=float, default=0, help="ask all servers so long, and print their memory")
    arguments.add_argument("--crashes", type=int, default=0, help="kills of each long command, in place of inputs")
    arguments.add_argument("--only", default="", help="commands to kill, with commas; or how a swept one begins")
    arguments.add_argument("--way", default="", help="the only way to crash")
    arguments.add_argument("--sweep", default="", help="modules, links, pipes or huge, or several with commas")
    arguments.add_argument("--most", type=int, default=10**9, help="links that are tried for each command")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    arguments.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "truemoment-hunt")
    given = arguments.parse_args()
    from tests.hostile.hunt import Hunt
    from tests.hostile.imports import import_early, import_late

    began, keep = time.monotonic(), given.keep.absolute()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what it starts in the background ignore it
    with tempfile.TemporaryDirectory(prefix="hunt-") as folder:
        if given.requests or given.minutes or given.crashes or given.sweep:
            import_early()
            import_late()
        if given.sweep:
            return sweep_all(given.sweep.split(","), given, Path(folder))
        if given.requests:
            return ask_servers(given.seed, given.requests, Path(folder))
        if given.minutes:
            return watch(given.seed, given.minutes, Path(folder))
        if given.crashes:
            return crash(given, Path(folder))
        found = Hunt(given.seed, given.inputs, given.workers, Path(folder), Path(folder, "whole"), keep).run()
    print(f"{given.inputs:,} inputs of seed {given.seed}: {len(found)} handled badly, {time.monotonic() - began:.0f} s")
    return 1 if found else 0


def crash(given: argparse.Namespace, folder: Path) -> int:
    """End long commands at random moments, and print what went wrong: so many kills, a tenth in each other way."""
    from tests.hostile.crash_place import make_crash_place, tacos_from_here
    from tests.hostile.crashes import WAYS, crash_all

    only, ways = set(given.only.split(",")) - {""}, [given.way] if given.way else WAYS

    whole = folder / "whole"
    make_crash_place(whole)
    os.environ["TRUEMOMENT_CACHE"] = str(folder / "cache")
    with tacos_from_here():
        found = crash_all(given.seed, given.crashes, max(1, given.crashes // 10), whole, folder, only, ways)
    print(f"{len(found)} crashes handled badly")
    return 1 if found else 0


def sweep_all(kinds: list[str], given: argparse.Namespace, folder: Path) -> int:
    """Try hostile things with every command, and print what went wrong."""
    from tests.hostile.crash_place import make_crash_place
    from tests.hostile.sweeps import gather, sweep

    os.environ["TRUEMOMENT_CACHE"] = str(folder / "cache")
    make_crash_place(folder / "whole")
    gather(folder / "whole")
    n_wrong = 0
    for kind in kinds:
        began = time.monotonic()
        tried = bad = 0
        for wrong in sweep(kind, folder / "whole", given.seed, given.workers, most=given.most, only=given.only):
            tried, bad = tried + 1, bad + bool(wrong)
            for line in wrong:
                print(line, flush=True)
        print(f"{kind}: {tried:,} tried, {bad} handled badly, {time.monotonic() - began:.0f} s", flush=True)
        n_wrong += bad
    return 1 if n_wrong else 0


def watch(seed: int, minutes: float, folder: Path) -> int:
    """Ask all servers for some time, and print what they hold and what went wrong."""
    from tests.hostile.place import make_place
    from tests.hostile.servers import watch_servers

    make_place(folder / "place")
    found = watch_servers(folder / "place", seed, minutes)
    print(*found, sep="\n")
    print(f"{len(found)} handled badly")
    return 1 if found else 0


def ask_servers(seed: int, n_requests: int, folder: Path) -> int:
    """Send hostile requests to each server, and print what went wrong."""
    from tests.hostile.place import make_place
    from tests.hostile.servers import SERVERS, hunt_server

    place, found = folder / "place", []
    make_place(place)
    for server in SERVERS:
        began = time.monotonic()
        found += hunt_server(server, place, seed, n_requests)
        print(f"{server.name}: {n_requests:,} requests in {time.monotonic() - began:.0f} s", flush=True)
    print(*found, sep="\n")
    print(f"{len(found)} handled badly")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
