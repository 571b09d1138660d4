"""Parquet with the columns of a table, or with a list of moments a row."""

from __future__ import annotations

from truemoment.base.boundary.own_path import AnyPath
from truemoment.data.datasets.entries import ReferenceEntry
from truemoment.data.formats.head import Head
from truemoment.data.formats.records import read_parquet
from truemoment.data.references.base import ReferenceForm, ReferenceOptions
from truemoment.data.references.records import entries_of, reference_columns


def _recognise(head: Head) -> str | None:
    return "it begins with PAR1" if head.data.startswith(b"PAR1") else None


def _read(path: AnyPath, how: ReferenceOptions) -> list[ReferenceEntry]:
    return entries_of(*read_parquet(path, lambda names: reference_columns(names, how.fields, path, None)), path)


FORM = ReferenceForm("parquet", "Parquet with such columns", _recognise, _read)
