"""A grid of runs: methods, values of one dial, seeds; each cell a run of its own, which can be resumed.

::

    DIR/worlds/DIAL=VALUE/seed-W/          a synthetic world as files, where the sweep is on one
    DIR/cells/METHOD/DIAL=VALUE/seed-S/    a training run, as ``truemoment train`` makes it
    DIR/cells/METHOD/DIAL=any/seed-S/      of a method that the dial does not reach

A cell depends on nothing but its recipe, its data and its seed, so that it does not matter which process trains it, nor
in what order.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from truemoment.exceptions import (
    InputError,
    MissingFileError,
    MissingPackageError,
    TrueMomentError,
    UsageError,
)
from truemoment.files import decode_json, read_bytes, read_number
from truemoment.keyed import split_pair
from truemoment.processes import ENDED, end_with_parent, processes
from truemoment.training.recipes import Recipe, read_recipe
from truemoment.training.results import ResultRow

if TYPE_CHECKING:
    from truemoment.records import Annotations
    from truemoment.training.runs import TrainingTask

DIALS = MappingProxyType({"perception": "perception", "location-prior": "location_prior", "query-prior": "query_prior"})
"""What can be turned, and the setting of a world that it is."""

ANY = "any"
"""Placeholder of the value in the folder of a method that the dial does not reach."""

_FIT_FOR_A_FOLDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,79}")


@dataclass(frozen=True)
class Dial:
    """What is turned, and where to.

    Parameters
    ----------
    name
        One of :data:`DIALS`.
    values
        From 0 to 1, rising.
    """

    name: str
    values: tuple[float, ...]

    @classmethod
    def read(cls, text: str) -> Dial:
        """Read ``NAME=V1,V2,...``; the values are sorted.

        Examples
        --------
        >>> Dial.read("perception=0,1,0.3")
        Dial(name='perception', values=(0.0, 0.3, 1.0))
        """
        name, listed = split_pair(text)
        if name not in DIALS:
            raise UsageError(f"--dial: unknown dial {name!r}, expected one of {', '.join(DIALS)}")
        if not listed:
            raise UsageError(f"--dial: got {text!r}, expected {name}=V1,V2,... with values from 0 to 1")
        values = []
        for part in listed.split(","):
            value = read_number(part) + 0.0  # -0 is 0
            if not 0 <= value <= 1:
                raise UsageError(f"--dial {name}: got {part.strip()!r}, expected a number from 0 to 1")
            values.append(value)
        if len({written(value) for value in values}) < len(values):
            raise UsageError(f"--dial {name}: got {listed}, expected each value once")
        return cls(name, tuple(sorted(values)))


def written(value: float | None) -> str:
    """Write a dial's value as folders and tables do.

    Examples
    --------
    >>> written(0.30), written(1.0), written(None)
    ('0.3', '1', 'any')
    """
    return ANY if value is None else f"{value:.12g}"


@dataclass(frozen=True)
class Method:
    """A recipe under a name.

    Parameters
    ----------
    name
        The recipe's, or its file's without ending.
    recipe
        All of it.
    """

    name: str
    recipe: Recipe

    @property
    def sees(self) -> bool:
        """Whether it sees the video."""
        from truemoment.models import get_family  # noqa: PLC0415 - it loads PyTorch

        return "video" in get_family(self.recipe.model).needs

    @property
    def family(self) -> str:
        """What its family is called in reports."""
        from truemoment.models import get_family  # noqa: PLC0415 - it loads PyTorch

        return get_family(self.recipe.model).title


def read_methods(recipes: Sequence[str], changes: Sequence[str] = ()) -> tuple[Method, ...]:
    """Read recipes by name or file; every change is made to all of them."""
    from truemoment.training.runs import is_test  # noqa: PLC0415 - it loads PyTorch

    if not recipes:
        raise UsageError("which recipes? name one or more, e.g. tan2d blind-tan")
    methods: list[Method] = []
    for text in recipes:
        name = Path(text).stem if text.lower().endswith((".yaml", ".yml")) else text
        recipe = read_recipe(text, changes)
        if not _FIT_FOR_A_FOLDER.fullmatch(name):
            raise UsageError(f"recipe {text!r}: its name becomes a folder's, expected letters, digits, '.', '_', '-'")
        if any(name.lower() == other.name.lower() for other in methods):
            raise UsageError(f"recipe {name!r} occurs twice, expected each name once; give the file another name")
        if is_test(recipe.select.split):
            raise UsageError(f"recipe {name!r} chooses its epoch on {recipe.select.split}, expected no test split")
        methods.append(Method(name, recipe))
    precisions = sorted({method.recipe.train.precision for method in methods})
    if len(precisions) > 1:
        raise UsageError(f"recipes differ in train.precision ({', '.join(precisions)}): give --set train.precision=no")
    return tuple(methods)


@dataclass(frozen=True)
class SweepCell:
    """A run of the grid.

    Parameters
    ----------
    method
        Its name.
    value
        Of the dial; None where the dial does not reach the method.
    seed
        Of all draws of the training.
    """

    method: str
    value: float | None
    seed: int


@dataclass(frozen=True)
class SweepGrid:
    """All that is to be trained.

    Parameters
    ----------
    methods, dial, seeds
        The three sides of the grid.
    folder
        Of the sweep.
    """

    methods: tuple[Method, ...]
    dial: Dial
    seeds: tuple[int, ...]
    folder: Path

    def reaches(self, method: Method) -> bool:
        """Whether the dial changes what a method learns from: perception changes nothing for one that is blind."""
        return self.dial.name != "perception" or method.sees

    def cells(self) -> list[SweepCell]:
        """List every cell, seed by seed, so that a sweep that is cut off has whole curves of the first seeds."""
        reached = {method.name: self.reaches(method) for method in self.methods}
        return [
            SweepCell(method.name, value if reached[method.name] else None, seed)
            for seed in self.seeds
            for number, value in enumerate(self.dial.values)
            for method in self.methods
            if reached[method.name] or number == 0
        ]

    def folder_of(self, cell: SweepCell) -> Path:
        """Return the folder of a cell's run."""
        return self.folder / "cells" / cell.method / f"{self.dial.name}={written(cell.value)}" / f"seed-{cell.seed}"

    def recipe_of(self, cell: SweepCell) -> Recipe:
        """Return the recipe of a cell."""
        return next(method.recipe for method in self.methods if method.name == cell.method)


@dataclass(frozen=True)
class CellOutcome:
    """What came of a cell.

    Parameters
    ----------
    cell
        Which.
    rows
        Its figures on the test splits.
    seconds
        What it took now; 0 where it was finished before.
    failed
        Why it is empty: the loss was not finite.
    stops
        Why nothing further can be done: a file or an option is wrong.
    """

    cell: SweepCell
    rows: tuple[ResultRow, ...] = ()
    seconds: float = 0.0
    failed: str = ""
    stops: str = ""


# ------------------------------------------------------------------------------------------ what is there


class _Finished(msgspec.Struct):
    """The part of result.json that a sweep reads."""

    figures: list[ResultRow]


def read_finished(
    folder: Path,
    recipe: Recipe,
    *,
    seed: int,
    features: str,
    learned: Mapping[tuple[str, str], str],
    wanted: Collection[tuple[str, str, str]],
) -> tuple[ResultRow, ...] | None:
    """Read the figures of a cell that is finished; None if it is not, or if some are missing.

    Parameters
    ----------
    folder
        Of the cell.
    recipe, seed, features
        The expected request of the run.
    learned
        Hash of the annotations of each dataset and split that may be learned or chosen from.
    wanted
        Split, first digits of its hash, and measure of each figure.
    """
    from truemoment.training import checkpoints  # noqa: PLC0415 - it loads PyTorch

    if not (folder / "run.json").is_file():
        return None
    run = checkpoints.read_run(folder)
    there = {"recipe": run.recipe, "seed": run.seed, "features": run.features}
    differing = [
        name
        for name, expected in {"recipe": recipe, "seed": seed, "features": features}.items()
        if there[name] != expected
    ]
    known = {"train": run.train, "val": run.val}
    differing += [name for name, of in known.items() if learned.get((of.dataset, of.split), of.sha256) != of.sha256]
    if differing:
        raise UsageError(checkpoints.another_run(folder, run, recipe, differing))
    path = folder / "result.json"
    if not path.is_file() or any((of.dataset, of.split) not in learned for of in known.values()):
        return None
    rows = decode_json(read_bytes(path), _Finished, path=path).figures
    found = {(row.split, row.data, row.measure): row for row in rows}
    return tuple(found[which] for which in wanted) if all(which in found for which in wanted) else None


# ----------------------------------------------------------------------------------------- what is done

Prepare = Callable[[SweepCell], "tuple[TrainingTask, Mapping[str, Annotations]]"]
"""Reads what a cell learns from, and the splits it is to answer; it is sent to other processes."""


def train_cells(
    cells: Sequence[SweepCell], grid: SweepGrid, prepare: Prepare, *, measures: str, jobs: int, threads: int
) -> Iterator[CellOutcome]:
    """Train cells and yield the result of each as it ends.

    Parameters
    ----------
    cells
        Those that are not finished.
    grid
        Where they belong.
    prepare
        Makes a cell's task; with several processes it must be one that can be sent to them.
    measures
        What is measured on the test splits.
    jobs
        Processes; 1 is this one.
    threads
        Of PyTorch, a process. The same number gives the same figures, whatever `jobs` is.
    """
    if jobs == 1 or len(cells) < 2:
        with _threads(threads):
            for cell in cells:
                yield _checked(_train(cell, grid, prepare, measures))
        return
    with processes(min(jobs, len(cells)), _begin, threads) as pool:
        running = [pool.submit(_train_in_process, cell, grid, prepare, measures) for cell in cells]
        try:
            for one in as_completed(running):
                yield _checked(one.result())
        except BrokenProcessPool:
            raise TrueMomentError(
                "a process was killed, perhaps for memory; finished cells are kept: resume with fewer --jobs"
            ) from None


def _checked(outcome: CellOutcome) -> CellOutcome:
    if outcome.stops:
        raise TrueMomentError(outcome.stops)
    return outcome


def _train(cell: SweepCell, grid: SweepGrid, prepare: Prepare, measures: str) -> CellOutcome:
    """Train one cell; errors become text, which every process can send."""
    from truemoment.training.runs import perform  # noqa: PLC0415 - it loads PyTorch

    started = time.perf_counter()
    folder = grid.folder_of(cell)
    try:
        task, tests = prepare(cell)
        folder.parent.mkdir(parents=True, exist_ok=True)
        rows = perform(task, folder, tests, measures=measures).tests
    except (InputError, MissingFileError, UsageError, MissingPackageError) as error:
        return CellOutcome(cell, stops=str(error))
    except TrueMomentError as error:
        return CellOutcome(cell, failed=str(error), seconds=time.perf_counter() - started)
    return CellOutcome(cell, rows, time.perf_counter() - started)


@contextlib.contextmanager
def _threads(threads: int) -> Iterator[None]:
    """Let PyTorch use so many threads inside this block."""
    import torch  # noqa: PLC0415 - asked only by what trains

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _train_in_process(cell: SweepCell, grid: SweepGrid, prepare: Prepare, measures: str) -> CellOutcome:
    """Train one cell in a process of its own pool, which a signal ends: the pool would else hand it the next cell."""
    try:
        return _train(cell, grid, prepare, measures)
    except SystemExit:
        os._exit(ENDED)  # on the way here, what was half written was removed


def _begin(threads: int) -> None:
    """Begin a process: it ends on Ctrl-C, on a signal, and with the process that started it."""
    import torch  # noqa: PLC0415 - asked only by what trains

    for number in _ENDING:
        signal.signal(number, _end)
    torch.set_num_threads(threads)
    end_with_parent()


_ENDING = (signal.SIGINT, signal.SIGTERM)


def _end(number: int, frame: object) -> None:
    """End this process, once, so that what is half written is removed on the way."""
    del number, frame
    for other in _ENDING:
        signal.signal(other, _ending_already)
    raise SystemExit(ENDED)


def _ending_already(number: int, frame: object) -> None:
    """Ignore a further signal: one that was sent already arrives all the same."""
    del number, frame
