"""What all tests share, also the examples in `src` and `docs`: a folder of the run, and what is made in it once."""

from __future__ import annotations

import gc
import math
import os
import shutil
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

# Test processes run side by side, one a core; threads of their own would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy
os.environ.setdefault("OMP_NUM_THREADS", "1")  # PyTorch

import pytest
from filelock import FileLock

from truemoment.base.boundary import terminal

# A module is compiled once, not again by each run and by each process that a test starts.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return one process more than cores for `-n auto`: a fifth of the tests' time is waiting for others."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of this run of the tests, which its processes side by side share."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@pytest.fixture(scope="session", autouse=True)
def cache_of_tests(run_folder: Path) -> Iterator[None]:
    """Keep what audits fit in the folder of the run; the user's cache is not touched."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRUEMOMENT_CONFIG", str(run_folder / "no-config.json"))
        patch.setenv("XDG_DATA_HOME", str(run_folder / "data"))
        patch.setattr(terminal, "EVERY_S", math.inf)  # how slow this machine is does not change what commands print
        patch.setenv("TRUEMOMENT_CACHE", os.environ.get("TRUEMOMENT_CACHE") or str(run_folder / "cache"))
        yield


@pytest.fixture(scope="session", autouse=True)
def nobody_waits_for_the_disk() -> Iterator[None]:
    """Write files without waiting until they are on the disk: what tests write need not outlive the machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(scope="session")
def once(run_folder: Path) -> Callable[[str, Callable[[Path], None]], Path]:
    """Return a function that fills a folder once a run, whichever process needs it first: once(name, fill) -> folder.

    Processes that need it meanwhile wait for it. What a failed `fill` leaves is removed.
    """

    def filled(name: str, fill: Callable[[Path], None]) -> Path:
        folder, complete = run_folder / "once" / name, run_folder / "once" / f"{name}.complete"
        folder.parent.mkdir(exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not complete.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                complete.touch()
        return folder

    return filled


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Import a module to look for examples only if its text has one."""
    collectors = yield
    if file_path.suffix == ".py" and b">>> " not in file_path.read_bytes():
        return [collector for collector in collectors if type(collector) is pytest.Module]
    return collectors


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what reads real data, needs the demo, runs the examples of a page, or is thorough."""
    for item in items:
        if (
            item.get_closest_marker("data")
            or item.get_closest_marker("thorough")
            or "demo_run" in getattr(item, "fixturenames", ())
            or item.path.suffix == ".md"
        ):
            item.add_marker("slow")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while tests are collected, since all of it stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Leave the thousands of tests, which stay to the end, to no collection of garbage, and look for it less often."""
    gc.freeze()
    gc.set_threshold(5_000, 20, 20)  # the default takes a tenth of the time of tests that are Python alone
