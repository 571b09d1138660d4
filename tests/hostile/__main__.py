"""Run the hunt: python -m tests.hostile [--inputs 20000] [--seed 0] [--workers 2] [--keep FOLDER].

Status 1 if an input was handled badly; its command, its files and its output are kept. ``--sweep`` tries one hostile
thing with every command (tests/hostile/sweeps.py).
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")


def main() -> int:
    """Hunt, and print how it went."""
    from tests.quick import empty_pictures, quick_networks

    arguments = argparse.ArgumentParser(prog="python -m tests.hostile")
    arguments.add_argument("--inputs", type=int, default=0, help="inputs; 20,000 where nothing else is asked for")
    arguments.add_argument("--requests", type=int, default=0, help="requests to each server")
    arguments.add_argument("--connections", type=int, default=0, help="connections that are held to each server then")
    arguments.add_argument("--minutes", type=float, default=0, help="ask all servers so long, and print their memory")
    arguments.add_argument("--crashes", type=int, default=0, help="kills of each long command")
    arguments.add_argument("--only", default="", help="commands to kill, with commas; or how a swept one begins")
    arguments.add_argument("--way", default="", help="the only way to crash")
    arguments.add_argument("--sweep", default="", help="modules, links, pipes or huge, or several with commas")
    arguments.add_argument("--most", type=int, default=10**9, help="links that are tried for each command")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    arguments.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "truemoment-hunt")
    given = arguments.parse_args()
    if not (given.requests or given.minutes or given.crashes or given.sweep):
        given.inputs = given.inputs or 20_000
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what it starts in the background ignore it
    with (
        tempfile.TemporaryDirectory(prefix="hunt-") as folder,
        quick_networks(Path(folder) / "cache"),
        empty_pictures(),
    ):
        parts = [
            *([hunt] if given.inputs else []),  # first: it forks fastest before the rest is imported
            *([ask_servers] if given.requests else []),
            *([watch] if given.minutes else []),
            *([sweep_all] if given.sweep else []),
            *([crash] if given.crashes else []),
        ]
        return max([part(given, Path(folder)) for part in parts])


def hunt(given: argparse.Namespace, folder: Path) -> int:
    """Run commands on hostile inputs, and print what went wrong."""
    from tests.hostile.hunt import Hunt

    began = time.monotonic()
    found = Hunt(given.seed, given.inputs, given.workers, folder, folder / "whole", given.keep.absolute()).run()
    print(f"{given.inputs:,} inputs of seed {given.seed}: {len(found)} handled badly, {time.monotonic() - began:.0f} s")
    return 1 if found else 0


def whole_files(folder: Path) -> Path:
    """Import what commands need, and return the place of whole files in a folder, which is made unless it is there."""
    from tests.hostile.imports import import_early, import_late
    from tests.hostile.place import make_place

    import_early()
    import_late()
    if not (folder / "whole").exists():
        make_place(folder / "whole")
    return folder / "whole"


def crash(given: argparse.Namespace, folder: Path) -> int:
    """End long commands at random moments, and print what went wrong: so many kills, a tenth in each other way."""
    from tests.hostile.crash_place import add_long, tacos_from_here
    from tests.hostile.crashes import WAYS, crash_all

    only, ways = set(given.only.split(",")) - {""}, [given.way] if given.way else WAYS

    whole = whole_files(folder)
    add_long(whole)
    with tacos_from_here():
        found = crash_all(given.seed, given.crashes, max(1, given.crashes // 10), whole, folder, only, ways)
    print(f"{len(found)} crashes handled badly")
    return 1 if found else 0


def sweep_all(given: argparse.Namespace, folder: Path) -> int:
    """Try hostile things with every command, and print what went wrong."""
    from tests.hostile.crash_place import add_long
    from tests.hostile.sweeps import gather, sweep

    whole = whole_files(folder)
    add_long(whole)
    gather(whole)
    n_wrong = 0
    for kind in given.sweep.split(","):
        began = time.monotonic()
        tried = bad = 0
        for wrong in sweep(kind, whole, given.seed, given.workers, most=given.most, only=given.only):
            tried, bad = tried + 1, bad + bool(wrong)
            for line in wrong:
                print(line, flush=True)
        print(f"{kind}: {tried:,} tried, {bad} handled badly, {time.monotonic() - began:.0f} s", flush=True)
        n_wrong += bad
    return 1 if n_wrong else 0


def watch(given: argparse.Namespace, folder: Path) -> int:
    """Ask all servers for some time, and print what they hold and what went wrong."""
    from tests.hostile.servers import watch_servers

    found = watch_servers(place_for_servers(folder), given.seed, given.minutes)
    print(*found, sep="\n")
    print(f"{len(found)} handled badly")
    return 1 if found else 0


def ask_servers(given: argparse.Namespace, folder: Path) -> int:
    """Send hostile requests to each server, and print what went wrong."""
    from tests.hostile.servers import SERVERS, hunt_server

    place, found = place_for_servers(folder), []
    for server in SERVERS:
        began = time.monotonic()
        found += hunt_server(server, place, given.seed, given.requests, given.connections)
        print(f"{server.name}: {given.requests:,} requests in {time.monotonic() - began:.0f} s", flush=True)
    print(*found, sep="\n")
    print(f"{len(found)} handled badly")
    return 1 if found else 0


def place_for_servers(folder: Path) -> Path:
    """Return a copy of the whole files, in which servers write."""
    return Path(shutil.copytree(whole_files(folder), folder / "place", symlinks=True, dirs_exist_ok=True))


if __name__ == "__main__":
    sys.exit(main())
