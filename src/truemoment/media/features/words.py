"""Rows of the words of queries, from files: what a text transformer made of each token of each sentence.

====================  ==============================================================================================
``FOLDER``            a file per query, ``qidQUERY.npz`` or ``QUERY.npz``, as those of QVHighlights and TACoS
``FILE.hdf5``, .h5    a dataset per query, or a group per query that holds one, by the same names
====================  ==============================================================================================

An NPZ file has the rows as ``last_hidden_state``, or as its only table: the files of QVHighlights have a vector of the
whole sentence beside it, which is not read. NPY files are read too. As for videos, no pickle is loaded and no link is
followed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from truemoment.base.boundary.arrays import PackedArray, map_npy, names_in_npz
from truemoment.base.errors import InputError
from truemoment.base.records import Queries
from truemoment.media.features.base import Frames
from truemoment.media.features.folder import FolderStore
from truemoment.media.features.hdf5 import ENDINGS as HDF5_ENDINGS
from truemoment.media.features.hdf5 import HDF5Store
from truemoment.media.features.reading import shape_of

KEY = "last_hidden_state"
"""Name of the rows in an NPZ file with several tables."""

PREFIX = "qid"
"""What the files of QVHighlights and Charades-STA put before the id of a query, and those of TACoS do not."""

MISSING_SHOWN = 3
"""Queries without rows that a message names."""


@runtime_checkable
class WordStore(Protocol):
    """Rows of the words of queries, from files or a text transformer."""

    @property
    def name(self) -> str:
        """Name in signatures: the source, and a fingerprint."""
        ...

    @property
    def n_dimensions(self) -> int:
        """E, numbers of a row."""
        ...

    def words(self, queries: Queries) -> list[Frames]:
        """Return the rows of the words of each query, (L, E), L at least 1."""
        ...


class WordFiles:
    """A WordStore of a folder or an HDF5 file."""

    def __init__(self, path: Path | str) -> None:
        is_hdf5 = Path(path).suffix.lower() in HDF5_ENDINGS and not Path(path).is_dir()
        self._store = HDF5Store(path) if is_hdf5 else _Folder(path)
        self._names = frozenset(self._store)
        self.name = self._store.name

    @property
    def n_dimensions(self) -> int:
        """E, from the first readable query."""
        return self._store.n_dimensions

    def words(self, queries: Queries) -> list[Frames]:
        """Return the rows of the words of each query, (L, E)."""
        ids = queries.query_id.tolist()
        names = [
            next((name for name in (PREFIX + query_id, query_id) if name in self._names), None) for query_id in ids
        ]
        missing = [query_id for query_id, name in zip(ids, names, strict=True) if name is None]
        if missing:
            shown = ", ".join(map(repr, missing[:MISSING_SHOWN])) + (", ..." if len(missing) > MISSING_SHOWN else "")
            hint = f"its queries have names such as {next(iter(self._store))!r}"
            problem = f"has no rows of {len(missing):,} of {len(queries):,} queries: {shown}"
            raise InputError(problem, path=self._store.path, hint=hint)
        return [self._store[name] for name in names if name is not None]


class _Folder(FolderStore):
    """A file of rows per query."""

    def _array(self, name: str) -> Any:  # noqa: ANN401 - an array whose type the file states
        file = self._file_of[name]
        if file.suffix != ".npz":
            return map_npy(file)
        arrays = {key: PackedArray(file, key) for key in names_in_npz(file)}
        tables = [key for key, array in arrays.items() if shape_of(array.shape) is not None]
        if KEY not in arrays and len(tables) != 1:
            shown = ", ".join(map(repr, list(arrays)[:5])) or "nothing"
            raise InputError(f"has {shown}, expected {KEY!r} or one table only")
        return arrays[KEY if KEY in arrays else tables[0]]
