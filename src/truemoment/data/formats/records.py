"""Records of a file: rows of a table, objects of a list, rows of Parquet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from truemoment.base.boundary.arrays import refusing_damage
from truemoment.base.boundary.files import DATA_BYTES
from truemoment.base.boundary.inputs import reading
from truemoment.base.boundary.own_path import AnyPath, open_regular, path_of_opened
from truemoment.base.boundary.tables import has_decimal_commas, read_cells
from truemoment.base.boundary.unpacking import FREE_TEXT_BYTES, refuse_swollen
from truemoment.base.errors import InputError
from truemoment.data.fields import Column
from truemoment.data.formats.entries import read_entries
from truemoment.data.formats.footer import read_footer
from truemoment.data.formats.head import Head
from truemoment.data.formats.parquet import NUMBER_BYTES, TEXT_BYTES, import_pyarrow


class Record(NamedTuple):
    """A row or an object: its line, its number where it has no line, and its values by column."""

    line: int | None
    number: int
    values: Mapping[str, Any]


class Records(NamedTuple):
    """The records of a file, their columns, and whether their numbers may have decimal commas."""

    names: Sequence[str]
    records: Sequence[Record]
    decimal_commas: bool = False


def read_table(path: AnyPath) -> Records:
    """Return the rows of CSV or TSV."""
    rows = read_cells(path, most=DATA_BYTES)
    _, names = next(rows)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"got the heading {twice!r} twice, expected it once", path=path, line=1)
    records = [
        Record(line, number, dict(zip(names, row, strict=True))) for number, (line, row) in enumerate(rows, start=1)
    ]
    return Records(names, records, has_decimal_commas(Head.read(path).line.decode("utf-8", "replace")))


def read_objects(path: AnyPath) -> Records:
    """Return the objects of a JSON list or of JSON Lines."""
    records = [
        Record(line, number, values)
        for number, (line, values) in enumerate(read_entries(path, dict[str, Any]), start=1)
    ]
    return Records(list(dict.fromkeys(name for record in records for name in record.values)), records)


def read_parquet(
    path: AnyPath, columns_of: Callable[[Sequence[str]], Mapping[str, Column]]
) -> tuple[Sequence[Record], Mapping[str, Column]]:
    """Return the rows of Parquet, only with the columns of fields that `columns_of` finds in its header, and these."""
    pyarrow, parquet = import_pyarrow()
    with refusing_damage(path, "cannot be read as Parquet", pyarrow.ArrowException):
        n_bytes = sum(
            max(chunk.n_bytes, chunk.n_values * (TEXT_BYTES if chunk.is_text else NUMBER_BYTES))
            for chunk in read_footer(path)
        )
        refuse_swollen(path, n_bytes, path.stat().st_size, free=FREE_TEXT_BYTES)
        with open_regular(reading(path)) as stream:
            file = parquet.ParquetFile(path_of_opened(stream, path), memory_map=True)
        names = file.schema_arrow.names
        columns = columns_of(names)
        kept = {part for column in columns.values() for part in (column.name, column.name.split(".")[0])}
        rows = file.read(columns=[name for name in names if name in kept]).to_pylist()
    return [Record(None, number, row) for number, row in enumerate(rows, start=1)], columns
