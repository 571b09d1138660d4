"""Papers' tables beside ours: published figure, our figure, difference, tolerance, and why they differ where they do.

To add a table: write its published figures to a file in ``published/`` (the columns of the others), and a module with a
function that computes ours and the tuple ``TABLES``; name the module below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np

from truemoment.base.boundary.caching import NO_CACHE, Cache
from truemoment.base.errors import MissingFileError, UsageError
from truemoment.base.known_names import one_of_known
from truemoment.reproduction import (
    axiou,
    best_constant,
    blind,
    closer_look,
    closer_look_journal,
    hidden_challenges,
    mad,
    mad_films,
    randomised,
    resplit,
)
from truemoment.reproduction.base import (
    PublishedTable,
    Readings,
    Reproduced,
    ReproducedTable,
    Reproduction,
    Status,
    TableInputs,
    beside,
    published_figures,
)
from truemoment.reproduction.run_folders import RunFolder, read_run_folders

__all__ = [
    "TABLES",
    "PublishedTable",
    "Reproduced",
    "ReproducedTable",
    "Reproduction",
    "RunFolder",
    "Status",
    "TableInputs",
    "beside",
    "get_table",
    "published_figures",
    "read_run_folders",
    "reproduce",
    "reproduce_tables",
]

MODULES = (
    closer_look,
    closer_look_journal,
    resplit,
    hidden_challenges,
    randomised,
    mad,
    mad_films,
    axiou,
    best_constant,
    blind,
)
"""Modules with tables, in the order of the list."""

TABLES: Mapping[str, PublishedTable] = MappingProxyType(
    {table.name: table for module in MODULES for table in module.TABLES}
)
"""Every table by name."""


def get_table(name: str) -> PublishedTable:
    """Return a table by name."""
    if name not in TABLES:
        raise UsageError(f"unknown table {name!r}, expected {one_of_known(name, TABLES)}")
    return TABLES[name]


def reproduce(
    table: str | PublishedTable,
    data_dir: str | Path | None = None,
    rng: np.random.Generator | None = None,
    *,
    runs: int = 100,
    engine: str = "lexicon",
    on_status: Callable[[str], None] = lambda _: None,
    cache: Cache = NO_CACHE,
    trained: Sequence[RunFolder] = (),
    readings: Readings | None = None,
) -> list[Reproduced]:
    """Compute a table from `data_dir`, with one folder a dataset (by default the variable ``TRUEMOMENT_DATA``).

    `trained` are training runs (:func:`~truemoment.reproduction.run_folders.read_run_folders`) that fill the figures of
    trained methods, and `readings` what earlier tables have read from the same folder. A MissingFileError or InputError
    means that a dataset is missing or invalid.
    """
    table = get_table(table) if isinstance(table, str) else table
    rng = np.random.default_rng(0) if rng is None else rng
    inputs = TableInputs(data_dir, rng, runs, engine, on_status, cache, trained, readings or Readings())
    return list(table.compute(published_figures(table.figures), inputs))


def reproduce_tables(
    tables: Sequence[str] = (),
    data_dir: str | Path | None = None,
    *,
    runs: int = 100,
    engine: str = "lexicon",
    seed: int = 0,
    cache: Cache = NO_CACHE,
    trained: Sequence[RunFolder] = (),
    on_status: Callable[[str], None] = lambda _: None,
) -> Reproduction:
    """Compute several tables, by default all of papers, each with the same seed.

    Without names, tables whose datasets are missing are not run. A MissingFileError means that the dataset of a named
    table is missing, or those of all tables.
    """
    results, readings = [], Readings()
    chosen = [get_table(name) for name in dict.fromkeys(tables)] or list(TABLES.values())
    for number, table in enumerate(chosen, start=1):
        if table.only_named and not tables:
            results.append(ReproducedTable(table, (), why_not=table.only_named))
            continue

        def status_of_table(text: str, place: str = f"{number} of {len(chosen)}, {table.name}") -> None:
            on_status(f"{place}: {text}")

        rng = np.random.default_rng(seed)
        try:
            rows = reproduce(
                table,
                data_dir,
                rng,
                runs=runs,
                engine=engine,
                cache=cache,
                trained=trained,
                readings=readings,
                on_status=status_of_table,
            )
            results.append(ReproducedTable(table, rows))
        except MissingFileError as error:
            if tables:
                raise
            results.append(ReproducedTable(table, (), why_not=str(error)))
    not_run = [table for table in results if table.why_not]
    if not_run and all(row.printed is None for table in results for row in table.rows):
        raise MissingFileError(f"no table could be run; {not_run[0].table.name}: {not_run[0].why_not}")
    return Reproduction(results, seed=seed, runs=runs, engine=engine)
