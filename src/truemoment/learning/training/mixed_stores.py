"""Features and vectors of sentences of several sources, each as one store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats
from truemoment.base.records import Queries, as_strings
from truemoment.media.features.base import FeatureStore, Frames
from truemoment.media.features.sentences import SentenceStore

MARK = "/"
"""Between the name of a source and the id of its query."""


@dataclass(frozen=True, eq=False)
class MixedFeatures:
    """Features of several sources as one store; a video is read from the first that knows it.

    Parameters
    ----------
    stores
        Features of one width, one or more; the first are those of the run.
    """

    stores: tuple[FeatureStore, ...]

    def __post_init__(self) -> None:
        """Refuse features of different widths."""
        first = self.stores[0]
        for other in self.stores[1:]:
            if other.n_dimensions != first.n_dimensions:
                widths = f"{other.n_dimensions} dimensions, expected {first.n_dimensions} as in {first.name}"
                raise InputError(f"{other.name}: found features of {widths}", field="data")

    @property
    def name(self) -> str:
        """Name in signatures."""
        return " + ".join(dict.fromkeys(store.name for store in self.stores))

    @property
    def n_dimensions(self) -> int:
        """Dimensions of a row."""
        return self.stores[0].n_dimensions

    @property
    def fps(self) -> float | None:
        """Rows a second, if all stores have the same."""
        rates = {store.fps for store in self.stores}
        return next(iter(rates)) if len(rates) == 1 else None

    def __contains__(self, video_id: object) -> bool:
        return any(video_id in store for store in self.stores)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for store in self.stores for name in store))

    def __len__(self) -> int:
        return len(set(self))

    def __getitem__(self, video_id: str) -> Frames:
        """Return the rows of a video."""
        return self._store(video_id)[video_id]

    def edges_s(self, video_id: str, duration_s: float) -> Floats:
        """Return the edges of the rows in seconds, (T + 1,)."""
        return self._store(video_id).edges_s(video_id, duration_s)

    def _store(self, video_id: str) -> FeatureStore:
        return next((store for store in self.stores if video_id in store), self.stores[0])


@dataclass(frozen=True, eq=False)
class MixedSentences:
    """Vectors of the sentences of several sources, by ids that begin with the name of the source.

    Parameters
    ----------
    by_source
        Vectors of each source that has its own.
    other
        Vectors of all other queries; None if there are none.
    titles
        Names of all sources.
    """

    by_source: Mapping[str, SentenceStore]
    other: SentenceStore | None
    titles: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name in signatures."""
        return " + ".join(dict.fromkeys(store.name for store in self._stores))

    @property
    def n_dimensions(self) -> int:
        """D, dimensions of a vector."""
        return self._stores[0].n_dimensions

    @property
    def _stores(self) -> list[SentenceStore]:
        return [*([self.other] if self.other else []), *self.by_source.values()]

    def vectors(self, queries: Queries) -> Frames:
        """Return the vectors of queries, (Q, D)."""
        found = np.empty((len(queries), self.n_dimensions), dtype=np.float32)
        rows_of: dict[str, list[int]] = {}
        ids = queries.query_id.astype(object)
        for row, query_id in enumerate(queries.query_id.tolist()):
            title, mark, rest = query_id.partition(MARK)
            if mark and title in self.titles:
                ids[row] = rest
            rows_of.setdefault(title if mark and title in self.by_source else "", []).append(row)
        for title, rows in rows_of.items():
            store = self.by_source.get(title, self.other)
            if store is None:
                raise InputError(f"has no vector of {ids[rows[0]]!r}: give --sentences", field="sentences")
            asked = Queries(
                as_strings(ids[rows], "query_id"),
                queries.video_id[rows],
                queries.duration_s[rows],
                queries.sentence[rows],
            )
            vectors = store.vectors(asked)
            if vectors.shape[1] != self.n_dimensions:
                widths = f"{vectors.shape[1]} dimensions, expected {self.n_dimensions}"
                raise InputError(f"{store.name}: found vectors of {widths}", field="sentences")
            found[rows] = vectors
        return found
