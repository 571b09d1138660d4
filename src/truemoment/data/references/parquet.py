"""Parquet with the columns of a table, or with a list of moments a row."""

from __future__ import annotations

from truemoment.base.boundary.arrays import refusing_damage
from truemoment.base.boundary.inputs import reading
from truemoment.base.boundary.own_path import AnyPath, open_regular, path_of_opened
from truemoment.base.boundary.unpacking import FREE_TEXT_BYTES, refuse_swollen
from truemoment.data.datasets.entries import ReferenceEntry
from truemoment.data.formats.footer import read_footer
from truemoment.data.formats.head import Head
from truemoment.data.formats.parquet import NUMBER_BYTES, TEXT_BYTES, import_pyarrow
from truemoment.data.references.base import ReferenceForm, ReferenceOptions
from truemoment.data.references.records import Record, columns_of, entries_of


def _recognise(head: Head) -> str | None:
    return "it begins with PAR1" if head.data.startswith(b"PAR1") else None


def _read(path: AnyPath, how: ReferenceOptions) -> list[ReferenceEntry]:
    pyarrow, parquet = import_pyarrow()
    with refusing_damage(path, "cannot be read as Parquet", pyarrow.ArrowException):
        n_bytes = sum(
            max(chunk.n_bytes, chunk.n_values * (TEXT_BYTES if chunk.is_text else NUMBER_BYTES))
            for chunk in read_footer(path)
        )
        refuse_swollen(path, n_bytes, path.stat().st_size, free=FREE_TEXT_BYTES)
        with open_regular(reading(path)) as stream:
            file = parquet.ParquetFile(path_of_opened(stream, path), memory_map=True)
        columns = columns_of(file.schema_arrow.names, how.fields, path, None)
        wanted = {column.name.split(".")[0] for column in columns.values()}
        names = [name for name in file.schema_arrow.names if name in wanted or name in columns]
        rows = file.read(columns=names).to_pylist()
    return entries_of([Record(None, number, row) for number, row in enumerate(rows, start=1)], columns, path)


FORM = ReferenceForm("parquet", "Parquet with such columns", _recognise, _read)
