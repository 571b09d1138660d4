"""Figures kept: one CSV file, a row a figure, written by the command and by nothing else.

A row has the settings (recipe's hash, seed, data, features), what was chosen by, on what code and machine it was
made, and one figure as a fraction. Rows of the same run and split replace each other, so that a run that is repeated
leaves one set of rows.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from truemoment.base.boundary.files import atomic_write, read_text
from truemoment.base.boundary.folders import lock_file
from truemoment.base.boundary.text import from_cell, no_formula
from truemoment.base.errors import InputError
from truemoment.base.records import Seed


class ResultRow(msgspec.Struct, frozen=True):
    """A figure.

    Parameters
    ----------
    recipe, config
        Family of the model and the recipe's hash.
    seed
        Of all draws.
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
        Of training.
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
    reader = csv.reader(io.StringIO(read_text(path)))
    try:
        lines = list(reader)
    except csv.Error as error:
        raise InputError(f"is no CSV ({error})", path=path, line=reader.line_num) from None
    head = lines[0] if lines else []
    if tuple(head) != FIELDS:
        raise InputError(f"has the columns {', '.join(head[:20])}; expected {', '.join(FIELDS)}", path=path, line=1)
    rows = []
    for line, values in enumerate(lines[1:], 2):
        if len(values) != len(FIELDS):
            raise InputError(f"got {len(values)} columns, expected {len(FIELDS)}", path=path, line=line)
        try:
            cells = dict(zip(FIELDS, map(from_cell, values), strict=True))
            rows.append(msgspec.convert(cells, ResultRow, strict=False))
        except msgspec.ValidationError as error:
            raise InputError(str(error), path=path, line=line) from None
    return rows


def keep(path: Path, rows: Sequence[ResultRow]) -> None:
    """Add figures to a file, in place of older ones of the same run; it is made if it is not there.

    Several processes may add to one file at once: each waits for the others.
    """
    with lock_file(path):
        old = read_rows(path) if path.exists() else []
        replaced = {row.place for row in rows}
        write_rows(path, [*(row for row in old if row.place not in replaced), *rows])


def _cell(value: object) -> object:
    return no_formula(value) if isinstance(value, str) else value


def write_rows(path: Path, rows: Iterable[ResultRow]) -> None:
    """Write a file of figures, complete or not at all."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(FIELDS)
    writer.writerows([_cell(getattr(row, name)) for name in FIELDS] for row in rows)
    with atomic_write(path) as stream:
        stream.write(text.getvalue().encode())
