"""Papers' tables beside ours: published figure, our figure, difference, tolerance, and why they differ where they do.

To add a table: write its published figures to a file in ``published/`` (the columns of the others), and a module with a
function that computes ours and the tuple ``TABLES``; name the module below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np

from truemoment.caching import NO_CACHE, Cache
from truemoment.exceptions import UsageError
from truemoment.reproduction import best_constant, blind, closer_look, hidden_challenges, mad, resplit
from truemoment.reproduction.base import Reproduced, Setting, Status, Table, published_figures

__all__ = ["TABLES", "Reproduced", "Setting", "Status", "Table", "get_table", "published_figures", "reproduce"]

TABLES: Mapping[str, Table] = MappingProxyType(
    {
        table.name: table
        for module in (closer_look, resplit, hidden_challenges, mad, best_constant, blind)
        for table in module.TABLES
    }
)
"""Every table by name."""


def get_table(name: str) -> Table:
    """Return a table by name.

    Raises
    ------
    UsageError
        Naming the tables there are.
    """
    if name not in TABLES:
        raise UsageError(f"unknown table {name!r}, expected one of {', '.join(TABLES)}")
    return TABLES[name]


def reproduce(
    table: str | Table,
    data_dir: str | Path | None = None,
    rng: np.random.Generator | None = None,
    *,
    runs: int = 100,
    engine: str = "lexicon",
    tell: Callable[[str], None] = lambda _: None,
    cache: Cache = NO_CACHE,
) -> list[Reproduced]:
    """Compute a table.

    Parameters
    ----------
    table
        The table, or its name.
    data_dir
        Folder that holds one folder a dataset; by default the variable ``TRUEMOMENT_DATA``.
    rng
        Generator of what is drawn; by default one of seed 0.
    runs
        Runs of a baseline whose published figure is a mean over runs.
    engine
        What finds verbs, see :func:`truemoment.language.get_engine`.
    tell
        Is told, in a line, what takes time.
    cache
        Keeps what learned floors learned and answered.

    Returns
    -------
    list of Reproduced
        In the order of the table.

    Raises
    ------
    UsageError
        If the table or the engine is not known, or the folder is none.
    MissingFileError, InputError
        If a dataset is not there, or is not as it must be.
    """
    table = get_table(table) if isinstance(table, str) else table
    setting = Setting(data_dir, np.random.default_rng(0) if rng is None else rng, runs, engine, tell, cache)
    return list(table.compute(published_figures(table.figures), setting))
