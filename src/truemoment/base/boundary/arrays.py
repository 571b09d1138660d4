"""Arrays from NPY and NPZ files, in which any byte may be wrong: read completely, or refused in one line.

No pickle is loaded, and no memory is allocated before the file is known to contain an array.
"""

from __future__ import annotations

import contextlib
import lzma
import math
import os
import struct
import threading
import tokenize
import warnings
import zipfile
from collections.abc import Iterator
from types import EllipsisType
from typing import IO, Any, Literal, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from truemoment.base.boundary.files import UNREADABLE, atomic_write
from truemoment.base.boundary.inputs import reading
from truemoment.base.boundary.own_path import AnyPath, open_regular
from truemoment.base.boundary.unpacking import BLOCK_BYTES, FREE_BYTES, refuse_swollen
from truemoment.base.errors import InputError, MissingFileError, MissingPackageError, OutputError, TrueMomentError

T = TypeVar("T")
Array = npt.NDArray[Any]

NPY = ".npy"
"""How the names of the files in an NPZ file end."""

_ONE_HEAD = threading.Lock()
"""NumPy parses the head of an array as Python, which two threads cannot do at once before Python 3.11.8 and 3.12.2
(python/cpython, issue 106905)."""

DAMAGED: tuple[type[Exception], ...] = (
    *UNREADABLE,
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError, MemoryError),
    *(SyntaxError, tokenize.TokenError, struct.error, zipfile.BadZipFile, lzma.LZMAError),
    TrueMomentError,
)
"""What NumPy, zipfile, h5py, safetensors and our own checks raise on a file of arrays that is damaged."""


@contextlib.contextmanager
def refusing_damage(
    path: AnyPath | str, problem: str, *also: type[Exception], field: str | None = None, hint: str | None = None
) -> Iterator[None]:
    """Raise an :class:`InputError` that names the file instead of any error of reading a damaged file.

    Parameters
    ----------
    path
        The file that the block reads.
    problem
        What is wrong, e.g. "is not a file of saved scores"; the original error follows.
    also
        Errors that the block may raise besides :data:`DAMAGED`.
    field, hint
        The field that the block reads, and what to do.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy and Python warn about a damaged header
            yield
    except (MissingPackageError, OutputError):
        raise
    except (FileNotFoundError, MissingFileError):
        raise MissingFileError(f"{path}: no such file" + (f"; {hint}" if hint else "")) from None
    except IsADirectoryError:
        raise InputError("is a folder, expected a file", path=path) from None
    except (*DAMAGED, *also) as error:
        if isinstance(error, InputError):
            place, field, hint = error.path or path, error.field or field, error.hint or hint
            raise InputError(error.problem, path=place, line=error.line, field=field, hint=hint) from None
        reason = " ".join((str(error) or type(error).__name__).split())
        raise InputError(f"{problem} ({reason})", path=path, field=field, hint=hint) from None


def map_npy(path: AnyPath) -> Array:
    """Return the array of an NPY file, memory-mapped and read-only."""
    with open_regular(reading(path)) as stream:
        shape, by_column, dtype = _read_head(stream)
        if dtype.hasobject:
            raise InputError("contains Python objects, which could run code and are not read", path=path)
        n_claimed, n_bytes = math.prod(shape) * dtype.itemsize, os.fstat(stream.fileno()).st_size - stream.tell()
        if n_claimed > n_bytes:  # NumPy would compute the product in 64 bits, which can overflow
            raise InputError(f"claims {n_claimed:,} bytes, has {n_bytes:,}", path=path)
        order: Literal["F", "C"] = "F" if by_column else "C"
        return np.memmap(stream, dtype, "r", stream.tell(), shape, order)  # the array keeps the file open


def _read_head(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read the head of an array: its shape, whether it lies column by column, and its type."""
    version = np.lib.format.read_magic(stream)
    read_head = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in read_head:
        raise InputError(f"got an array of NPY version {'.'.join(map(str, version))}, expected 1.0 or 2.0")
    with _ONE_HEAD:
        return read_head[version](stream)


def read_npz(path: AnyPath, *names: str) -> tuple[Array, ...]:
    """Return arrays of an NPZ file, in the order of their names."""
    with _open_npz(path) as archive:
        return tuple(_unpacked(archive, name + NPY) for name in names)


def names_in_npz(path: AnyPath) -> list[str]:
    """Return the names of the arrays in an NPZ file."""
    with _open_npz(path) as archive:
        return list(dict.fromkeys(name.removesuffix(NPY) for name in archive.namelist()))


def write_npy(path: AnyPath, array: Array) -> None:
    """Write an array as an NPY file, complete or not at all."""
    with atomic_write(path) as stream:
        np.save(stream, array, allow_pickle=False)


def write_npz(path: str | AnyPath, *, packed: bool = False, **arrays: npt.ArrayLike) -> None:
    """Write arrays as an NPZ file, complete or not at all; `packed` makes it smaller."""
    with atomic_write(path) as stream:
        (np.savez_compressed if packed else np.savez)(stream, **arrays)  # type: ignore[arg-type]  # its stub takes no names


def pack_json(value: object) -> Array:
    """Return a value as JSON in an array of bytes, for an NPZ file.

    Examples
    --------
    >>> unpack_json(pack_json(["a", "ü"]), list[str])
    ['a', 'ü']
    """
    return np.frombuffer(msgspec.json.encode(value), dtype=np.uint8)


def unpack_json(packed: Array, kind: type[T]) -> T:
    """Return the value of :func:`pack_json`, which is of type `kind`."""
    return msgspec.json.decode(packed.tobytes(), type=kind)


class PackedArray:
    """An array in an NPZ file that is unpacked on access, by ``array[...]``."""

    def __init__(self, path: AnyPath, name: str) -> None:
        self._path, self._member = path, name + NPY
        with _open_npz(path) as archive, _numbers(archive, self._member) as (_, shape, _, dtype):
            self.shape, self.dtype = shape, dtype

    def __getitem__(self, key: EllipsisType, /) -> Array:
        """Unpack the whole array into new memory."""
        with _open_npz(self._path) as archive:
            return _unpacked(archive, self._member)


def _unpacked(archive: zipfile.ZipFile, member: str) -> Array:
    """Unpack an array into new memory."""
    with _numbers(archive, member) as (stream, shape, by_column, dtype):
        data, begins = np.empty(math.prod(shape) * dtype.itemsize, dtype=np.uint8), 0
        while block := stream.read(BLOCK_BYTES):
            data[begins : begins + len(block)] = np.frombuffer(block, dtype=np.uint8)
            begins += len(block)
    if begins < len(data):
        raise InputError(f"{member} ends after {begins:,} bytes, expected {len(data):,}")
    array: Array = np.ndarray(shape, dtype, data, order="F" if by_column else "C")
    return array


@contextlib.contextmanager
def _numbers(archive: zipfile.ZipFile, member: str) -> Iterator[tuple[IO[bytes], tuple[int, ...], bool, np.dtype[Any]]]:
    """Open an array where its numbers begin."""
    with archive.open(member) as stream:
        shape, by_column, dtype = _read_head(stream)
        n_claimed, n_bytes = math.prod(shape) * dtype.itemsize, archive.getinfo(member).file_size - stream.tell()
        if dtype.hasobject:
            raise InputError("contains Python objects, which could run code and are not read")
        if n_claimed != n_bytes:
            raise InputError(f"{member} claims {n_claimed:,} bytes, expected {n_bytes:,}, its size")
        yield stream, shape, by_column, dtype


@contextlib.contextmanager
def _open_npz(path: AnyPath) -> Iterator[zipfile.ZipFile]:
    """Open an archive, unless it unpacks to far more than its own size."""
    with open_regular(reading(path)) as stream, zipfile.ZipFile(stream) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
        refuse_swollen(path, unpacked, os.fstat(stream.fileno()).st_size, free=FREE_BYTES)
        yield archive
