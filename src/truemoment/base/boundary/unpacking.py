"""Unpacking with bounds: a file that unpacks to far more than its own size is refused before it fills the memory.

A few megabytes can unpack to gigabytes (a zip or gzip bomb). Every reader of packed data checks its size here.
"""

from __future__ import annotations

import gzip
import io
from typing import IO, TYPE_CHECKING

from truemoment.base.boundary.inputs import reading
from truemoment.base.boundary.own_path import AnyPath, open_regular
from truemoment.base.errors import InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SWOLLEN = 200
"""Packed data may unpack to this many times its own size: the same 100 moments for every query unpack to 140 times."""

FREE_BYTES, FREE_TEXT_BYTES = 1 << 28, 1 << 24
"""Data may always unpack to this many bytes, of numbers and of text; values read from text use 40 times its size."""

BLOCK_BYTES = 1 << 17
"""Size of the blocks that are unpacked at a time."""


def refuse_swollen(path: AnyPath, unpacked: int, packed: int, *, free: int) -> None:
    """Refuse data that unpacks to more than `free` bytes and more than :data:`SWOLLEN` times its packed size.

    Examples
    --------
    >>> from pathlib import Path
    >>> refuse_swollen(Path("a.npz"), 1_000_000, 10, free=FREE_BYTES)
    >>> refuse_swollen(Path("a.npz"), 1_000_000_000, 5_000_000, free=FREE_BYTES)
    >>> refuse_swollen(Path("a.npz"), 1_000_000_000, 10, free=FREE_BYTES)
    Traceback (most recent call last):
    truemoment.base.errors.InputError: a.npz: unpacks to 1,000,000,000 bytes from 10, expected 268,435,456 at most
    """
    most = max(free, SWOLLEN * packed)
    if unpacked > most:
        raise InputError(f"unpacks to {unpacked:,} bytes from {packed:,}, expected {most:,} at most", path=path)


def open_gzip(path: AnyPath) -> IO[bytes]:
    """Open a gzip file for reading within these bounds.

    Reading raises :class:`~truemoment.base.errors.InputError` beyond them, and ``OSError``, ``EOFError`` or
    ``zlib.error`` for a damaged file.
    """
    return io.BufferedReader(_Gunzip(path, open_regular(reading(path))), BLOCK_BYTES)


class _Gunzip(io.RawIOBase):
    """A gzip file that counts what it unpacks."""

    def __init__(self, path: AnyPath, packed: IO[bytes]) -> None:
        super().__init__()
        self._path, self._packed = path, packed
        self._unpacked = gzip.GzipFile(fileobj=packed, mode="rb")
        self._n_bytes = 0

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._packed.fileno()

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        length = self._unpacked.readinto(buffer)
        self._n_bytes += length
        refuse_swollen(self._path, self._n_bytes, self._packed.tell(), free=FREE_TEXT_BYTES)
        return length

    def close(self) -> None:
        self._unpacked.close()
        self._packed.close()
        super().close()
