"""Sentence embeddings of an image-text model, one per query, to be compared with frames.

====================  ==============================================================================================
``FILE.hdf5``, .h5    a dataset (D,) or (1, D) per query id, as the sentence features of MAD
``FILE.npz``          ``vectors`` (S, D) and ``query_id`` (a JSON list, as bytes), as :func:`write_sentences` writes
====================  ==============================================================================================

Vectors are found by the query id alone. In HDF5 an id with a slash would be a path and is not looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import numpy as np

from truemoment.base.boundary.arrays import pack_json, read_npz, refusing_damage, unpack_json, write_npz
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.boundary.text import as_text
from truemoment.base.errors import InputError, UsageError
from truemoment.base.records import Queries
from truemoment.media.features.base import Frames
from truemoment.media.features.fingerprints import fingerprint
from truemoment.media.features.hdf5 import ENDINGS as HDF5_ENDINGS
from truemoment.media.features.hdf5 import HDF5Store

MOST_DIMENSIONS = 1 << 20
"""Numbers of one vector beyond which a file is not believed."""

NAMED = 3
"""Of queries without a vector so many are named."""


@runtime_checkable
class SentenceStore(Protocol):
    """Vectors of queries, from a file, memory, or a text encoder.

    Examples
    --------
    >>> isinstance(SentenceVectors({"v#0": np.ones(8, dtype=np.float32)}), SentenceStore)
    True
    """

    @property
    def name(self) -> str:
        """Name in signatures: the source, and a fingerprint or settings."""
        ...

    @property
    def n_dimensions(self) -> int:
        """D, dimensions of a vector; 0 if there is none."""
        ...

    def vectors(self, queries: Queries) -> Frames:
        """Return the vectors of queries, (Q, D), in their order; not normalised."""
        ...


class SentenceVectors:
    """Sentence embeddings in memory: an array (D,) per query id.

    Examples
    --------
    >>> queries = Queries(["v#1", "v#0"], ["v", "v"], np.array([9.0, 9.0]), ["a dog", "a door"])
    >>> SentenceVectors({"v#0": np.array([1.0, 0.0]), "v#1": np.array([0.0, 2.0])}).vectors(queries).tolist()
    [[0.0, 2.0], [1.0, 0.0]]
    """

    def __init__(self, by_query: Mapping[str, Frames], *, name: str = "memory") -> None:
        self.name = name
        self.n_dimensions = 0
        checked = {}
        for query_id, vector in by_query.items():
            try:
                checked[query_id] = _vector(vector)
                self.n_dimensions = self.n_dimensions or len(checked[query_id])
                _same_width(checked[query_id], self.n_dimensions)
            except InputError as error:
                raise InputError(error.problem, field=query_id) from None
        self.by_query: Mapping[str, Frames] = MappingProxyType(checked)

    def vectors(self, queries: Queries) -> Frames:
        """Return the vectors of queries, (Q, D)."""
        _refuse_missing(queries, self.by_query)
        return _stacked((self.by_query[query_id] for query_id in queries.query_id), len(queries), self.n_dimensions)


class SentenceFile:
    """Sentence embeddings in an HDF5 or NPZ file; only the requested vectors of an HDF5 file are read.

    Examples
    --------
    >>> import tempfile
    >>> queries = Queries(["v#0"], ["v"], np.array([9.0]), ["a door opens"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_sentences(Path(folder) / "s.npz", ["v#0"], np.ones((1, 8), dtype=np.float32))
    ...     sentences = SentenceFile(Path(folder) / "s.npz")
    ...     sentences.n_dimensions, sentences.vectors(queries).shape
    (8, (1, 8))
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        if self.path.suffix.lower() in HDF5_ENDINGS:
            tables = _Tables(self.path)
            self.name = tables.name
            self._known: frozenset[str] = frozenset(tables)
            self._read: Callable[[str], Frames] = tables.vector
        elif self.path.suffix.lower() == ".npz":
            with refusing_damage(self.path, "is not a file of sentence features"):
                vectors, names = read_npz(self.path, "vectors", "query_id")
                rows_of = _pairs(unpack_json(names, list[str]), vectors)
            self.name = f"npz:{as_text(self.path.name)}#{fingerprint([self.path])}"
            self._known = frozenset(rows_of)
            self._read = rows_of.__getitem__
        else:
            endings = ", ".join((*HDF5_ENDINGS, ".npz"))
            raise UsageError(f"{path}: unknown kind of sentence features, expected a file {endings}")
        self._first = min(self._known)
        self.n_dimensions = len(self._read(self._first))

    def __contains__(self, query_id: object) -> bool:
        return query_id in self._known

    def vectors(self, queries: Queries) -> Frames:
        """Return the vectors of queries, (Q, D)."""
        try:
            _refuse_missing(queries, self._known)
        except InputError as error:
            hint = f"its vectors are called {self._first!r} and the like"
            raise InputError(error.problem, path=self.path, hint=hint) from None

        def checked(query_id: str) -> Frames:
            vector = self._read(query_id)
            try:
                return _same_width(vector, self.n_dimensions)
            except InputError as error:
                raise InputError(error.problem, path=self.path, field=query_id) from None

        return _stacked(map(checked, queries.query_id), len(queries), self.n_dimensions)


class _Tables(HDF5Store):
    """An HDF5 file in which each dataset is the vector of a sentence."""

    def vector(self, query_id: str) -> Frames:
        """Read one vector, (D,), by exactly this name."""
        with self._refusing_damage(query_id):
            return _vector(self._array(query_id))


def write_sentences(path: AnyPath, query_ids: Sequence[str], vectors: Frames) -> None:
    """Write the vectors (Q, D) of Q distinct query ids as NPZ; the path ends in ``.npz``."""
    if path.suffix.lower() != ".npz":
        raise UsageError(f"{path}: expected a name that ends in .npz")
    _pairs(query_ids, vectors)
    write_npz(path, vectors=np.asarray(vectors, dtype="<f4"), query_id=pack_json(list(query_ids)))


def _pairs(query_ids: Sequence[str], vectors: Any) -> dict[str, Frames]:  # noqa: ANN401 - any content of a file
    """Vectors (Q, D) by query id, checked."""
    if vectors.ndim != 2 or len(vectors) != len(query_ids):
        raise InputError(
            f"got shape {vectors.shape} for {len(query_ids)} queries, expected ({len(query_ids)}, numbers)"
        )
    if not query_ids:
        raise InputError("has no sentence vectors")
    by_query = {query_id: _vector(vector) for query_id, vector in zip(query_ids, vectors, strict=True)}
    if len(by_query) < len(query_ids):
        raise InputError("a query appears twice, expected each once")
    return by_query


def _vector(array: Any) -> Frames:  # noqa: ANN401 - an array, or a dataset that reads like one
    """Read a vector (D,) as float32; (1, D) and the like are read as one."""
    dtype, shape = np.dtype(array.dtype), tuple(array.shape)
    if dtype.kind != "f" or dtype.itemsize > 8:
        raise InputError(f"got numbers of type {str(dtype)[:60]}, expected float16, float32 or float64")
    long = [length for length in shape if length != 1]
    if len(shape) == 2 and shape[0] > 1:
        raise InputError(f"got {shape[0]} rows (features of words?), expected one vector a sentence")
    if not shape or len(long) > 1 or 0 in shape:
        raise InputError(f"got shape {shape}, expected one vector a sentence")
    n_dimensions = long[0] if long else 1
    if n_dimensions > MOST_DIMENSIONS:
        raise InputError(f"got {n_dimensions:,} numbers, expected {MOST_DIMENSIONS:,} at most")
    with np.errstate(over="ignore"):  # beyond float32 is not finite, and reported below
        vector: Frames = np.asarray(array[...]).reshape(n_dimensions).astype(np.float32, copy=False)
    if not np.isfinite(vector).all():
        raise InputError("has numbers that are not finite")
    return vector


def _same_width(vector: Frames, n_dimensions: int) -> Frames:
    if len(vector) != n_dimensions:
        raise InputError(f"got {len(vector)} numbers, expected {n_dimensions} as in the others")
    return vector


def _stacked(vectors: Iterable[Frames], n_queries: int, n_dimensions: int) -> Frames:
    stacked = np.empty((n_queries, n_dimensions), dtype=np.float32)
    for row, vector in enumerate(vectors):
        stacked[row] = vector
    return stacked


def _refuse_missing(queries: Queries, rows_of: Mapping[str, Frames] | frozenset[str]) -> None:
    missing = [query_id for query_id in queries.query_id if query_id not in rows_of]
    if missing:
        shown = ", ".join(map(repr, missing[:NAMED])) + (", ..." if len(missing) > NAMED else "")
        raise InputError(f"has no vector of {len(missing):,} of {len(queries):,} queries: {shown}")
