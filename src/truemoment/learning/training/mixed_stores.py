"""What several sources have, as one store: features, vectors of sentences, and rows of words.

Queries of a mixture have ids that begin with the name of their source.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats
from truemoment.base.records import Queries, as_strings
from truemoment.media.features.base import FeatureStore, Frames
from truemoment.media.features.joined import source_widths
from truemoment.media.features.sentences import SentenceStore
from truemoment.media.features.words import WordStore

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
            if source_widths(other) != source_widths(first):
                widths = f"{_widths(other)} dimensions, expected {_widths(first)} as in {first.name}"
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
    def source_widths(self) -> tuple[int, ...]:
        """Numbers of a row that are of each source."""
        return source_widths(self.stores[0])

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


def _widths(store: FeatureStore) -> str:
    return " + ".join(map(str, source_widths(store)))


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
        vectors = np.empty((len(queries), self.n_dimensions), dtype=np.float32)
        for title, rows, selected in _of_each_source(queries, self.titles, self.by_source):
            store = self.by_source.get(title, self.other)
            if store is None:
                raise InputError(f"has no vector of {selected.query_id[0]!r}: give --sentences", field="sentences")
            read = store.vectors(selected)
            if read.shape[1] != self.n_dimensions:
                widths = f"{read.shape[1]} dimensions, expected {self.n_dimensions}"
                raise InputError(f"{store.name}: found vectors of {widths}", field="sentences")
            vectors[rows] = read
        return vectors


@dataclass(frozen=True, eq=False)
class MixedWords:
    """Rows of the words of the queries of several sources, by ids that begin with the name of the source.

    Parameters
    ----------
    by_source
        Rows of each source that has its own.
    other
        Rows of all other queries.
    titles
        Names of all sources.
    """

    by_source: Mapping[str, WordStore]
    other: WordStore
    titles: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse rows of different widths."""
        for store in self.by_source.values():
            if store.n_dimensions != self.n_dimensions:
                came = f"{store.n_dimensions} numbers a word, expected {self.n_dimensions} as in {self.other.name}"
                raise InputError(f"{store.name}: found {came}", field="data")

    @property
    def name(self) -> str:
        """Name in signatures."""
        return " + ".join(dict.fromkeys(store.name for store in (self.other, *self.by_source.values())))

    @property
    def n_dimensions(self) -> int:
        """E, numbers of a row."""
        return self.other.n_dimensions

    def words(self, queries: Queries) -> list[Frames]:
        """Return the rows of the words of each query, (L, E)."""
        words: dict[int, Frames] = {}
        for title, rows, selected in _of_each_source(queries, self.titles, self.by_source):
            words |= dict(zip(rows, self.by_source.get(title, self.other).words(selected), strict=True))
        return [words[row] for row in range(len(queries))]


def _of_each_source(
    queries: Queries, titles: Container[str], own: Container[str]
) -> Iterator[tuple[str, list[int], Queries]]:
    """Yield the queries of each source with its `own` store, those of all others as "": rows, and ids of the source."""
    rows_of: dict[str, list[int]] = {}
    ids = queries.query_id.astype(object)
    for row, query_id in enumerate(queries.query_id.tolist()):
        title, mark, rest = query_id.partition(MARK)
        if mark and title in titles:
            ids[row] = rest
        rows_of.setdefault(title if mark and title in own else "", []).append(row)
    for title, rows in rows_of.items():
        about = (queries.video_id[rows], queries.duration_s[rows], queries.sentence[rows])
        yield title, rows, Queries(as_strings(ids[rows], "query_id"), *about)
