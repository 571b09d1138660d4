"""The published tables on the dataset of a bench, with its runs beside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from truemoment.reproduction import ReproducedTable, Reproduction, get_table, published_figures, read_run_folders
from truemoment.reproduction.base import TableInputs
from truemoment.reproduction.bench.grid import BenchGrid
from truemoment.reproduction.bench.tables import BenchTable


def published_beside(
    table: BenchTable, grid: BenchGrid, folders: Sequence[Path], on_status: Callable[[str], None] = lambda _: None
) -> Reproduction:
    """Compute the published tables as ``truemoment reproduce`` does, on one dataset and with these runs.

    A method that two tables have is in the first one only.
    """
    runs = read_run_folders(grid.folder) if folders else ()
    trained = [run for run in runs if run.folder in set(folders)]
    inputs = TableInputs(grid.data_dir, np.random.default_rng(0), on_status=on_status, trained=trained)
    tables: list[ReproducedTable] = []
    methods: set[str] = set()
    for name in table.published:
        published_table = get_table(name)
        figures = [
            figure
            for figure in published_figures(published_table.figures)
            if figure.dataset.lower() == grid.dataset and figure.method not in methods
        ]
        methods |= {figure.method for figure in figures}
        tables.append(ReproducedTable(published_table, list(published_table.compute(figures, inputs))))
    return Reproduction(tables, seed=0, runs=0, engine=inputs.engine)
