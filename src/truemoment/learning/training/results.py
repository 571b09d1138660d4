"""Files of figures: CSV with a row for each figure, written only by the commands.

A row has the settings (recipe's hash, seed, data, features), what was chosen by, on what code and machine it was
made, and one figure as a fraction. Rows of the same run and split replace each other, so that a run that is repeated
leaves one set of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from truemoment.base.boundary.files import Seed, write_bytes
from truemoment.base.boundary.folders import lock_file
from truemoment.base.boundary.tables import csv_text, read_cells
from truemoment.base.errors import InputError


class ResultRow(msgspec.Struct, frozen=True):
    """A figure.

    Parameters
    ----------
    recipe, config
        Family of the model and the recipe's hash.
    seed
        Seed of all draws.
    dataset, split, data
        What was answered, and the first digits of its hash.
    features
        What the model saw.
    measure, value
        The figure, a fraction; "" where it is undefined.
    n_queries
        Number of queries.
    chosen_on
        What the epoch was chosen by.
    epoch
        Which was chosen.
    seconds
        Seconds of training.
    commit, hardware, truemoment
        What it was made with.
    notes
        What a reader of the figure has to know.
    trained_on
        What was learned from.
    """

    recipe: str
    config: str
    seed: Seed
    dataset: str
    split: str
    data: str
    features: str
    measure: str
    value: str
    n_queries: int
    chosen_on: str
    epoch: int
    seconds: float
    commit: str
    hardware: str
    truemoment: str
    notes: str
    trained_on: str = ""

    @property
    def place(self) -> tuple[object, ...]:
        """What a later row of the same run and figure replaces."""
        run = (self.recipe, self.config, self.seed, self.features, self.trained_on, self.chosen_on)
        return (*run, self.dataset, self.data, self.split, self.measure)


FIELDS = tuple(field.name for field in msgspec.structs.fields(ResultRow))


def read_rows(path: Path) -> list[ResultRow]:
    """Read a file of figures.

    Raises
    ------
    MissingFileError, InputError
        If it is not there, or is no such file; line and column are named.
    """
    lines = read_cells(path)
    _, head = next(lines)
    if tuple(head) != FIELDS:
        raise InputError(f"has the columns {', '.join(head[:20])}; expected {', '.join(FIELDS)}", path=path, line=1)
    rows = []
    for line, values in lines:
        try:
            rows.append(msgspec.convert(dict(zip(FIELDS, values, strict=True)), ResultRow, strict=False))
        except msgspec.ValidationError as error:
            raise InputError(str(error), path=path, line=line) from None
    return rows


def keep(path: Path, rows: Sequence[ResultRow]) -> None:
    """Add figures to a file, in place of older ones of the same run; a missing file is created.

    Several processes may add to one file at once: each waits for the others.
    """
    with lock_file(path):
        old = read_rows(path) if path.exists() else []
        replaced = {row.place for row in rows}
        write_rows(path, [*(row for row in old if row.place not in replaced), *rows])


def write_rows(path: Path, rows: Iterable[ResultRow]) -> None:
    """Write a file of figures, complete or not at all."""
    write_bytes(path, csv_text(FIELDS, ([getattr(row, name) for name in FIELDS] for row in rows)).encode())
