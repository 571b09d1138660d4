"""The sizes of columns in the footer of a Parquet file.

pyarrow ends the whole process for some damaged footers. It is a struct in Thrift's compact protocol; the numbers of the
fields are those of ``parquet.thrift`` (apache/parquet-format).
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from truemoment.base.boundary.inputs import reading
from truemoment.base.boundary.own_path import AnyPath, open_regular

MAGIC = b"PAR1"
ROW_GROUPS, COLUMNS, ABOUT, KIND, PATH, N_VALUES, UNPACKED = 4, 1, 3, 1, 3, 5, 6
"""Fields of FileMetaData, of RowGroup, of ColumnChunk, and (the last four) of ColumnMetaData."""

BYTE_ARRAY = 6
"""The type of text."""


class ColumnChunk(NamedTuple):
    """The part of a column in one group of rows.

    `path` joins the names of a nested column by dots. Text is any type of bytes of any length. `n_values` counts over
    all lists; `n_bytes` is the uncompressed size, in which repeated values take nearly no space.
    """

    path: str
    is_text: bool
    n_values: int
    n_bytes: int


def read_footer(path: AnyPath) -> list[ColumnChunk]:
    """Return the parts of all columns."""
    with open_regular(reading(path)) as stream:
        size = stream.seek(-8, 2) + 8
        length = int.from_bytes(stream.read(4), "little")
        if stream.read(4) != MAGIC or length > size - 12:
            raise ValueError("no footer of Parquet at the end")
        stream.seek(-8 - length, 2)
        footer = _Compact(stream.read(length)).fields()
    chunks = [chunk[ABOUT] for group in footer[ROW_GROUPS] for chunk in group[COLUMNS]]
    return [
        ColumnChunk(b".".join(chunk[PATH]).decode(), chunk[KIND] == BYTE_ARRAY, chunk[N_VALUES], chunk[UNPACKED])
        for chunk in chunks
    ]


class _Compact:
    """Reads values of Thrift's compact protocol, a struct as a dict by the numbers of its fields."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def fields(self) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._whole()
            fields[number] = head & 15 == 1 if head & 15 in (1, 2) else self._value(head & 15)
        return fields

    def _value(self, kind: int) -> Any:  # noqa: ANN401 - as in the file
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._whole()
        if kind == 7:
            return struct.unpack("<d", self._bytes(8))[0]
        if kind == 8:
            return self._bytes(self._varint())
        if kind in (9, 10):
            head = self._byte()
            length = head >> 4 if head >> 4 < 15 else self._varint()
            return [self._value(head & 15) for _ in range(length)]
        if kind == 12:
            return self.fields()
        raise ValueError(f"unknown type {kind} in the footer")

    def _whole(self) -> int:
        value = self._varint()
        return value >> 1 if value & 1 == 0 else -(value >> 1) - 1

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 128:
            value |= (byte & 127) << shift
            shift += 7
        return value | byte << shift

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _bytes(self, length: int) -> bytes:
        self.at += length
        if self.at > len(self.data):
            raise ValueError("the footer ends in the middle of a value")
        return self.data[self.at - length : self.at]
