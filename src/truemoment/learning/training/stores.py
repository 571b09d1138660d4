"""Features and vectors of sentences that a run reads, by the texts that name them; those of several sources as one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Floats
from truemoment.base.records import Queries, as_strings
from truemoment.learning.training.recipes import Recipe
from truemoment.learning.training.vocabulary import ENCODER
from truemoment.media.features.base import FeatureStore, Frames
from truemoment.media.features.joined import source_widths
from truemoment.media.features.sentences import SentenceFile, SentenceStore
from truemoment.media.video.encoders import load_encoder
from truemoment.media.video.picture_store import PICTURES, PictureStore
from truemoment.searching.opening import open_features
from truemoment.searching.retrieval import EncodedSentences

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
class SentenceFiles:
    """Several files of vectors; each query has the vector of the first file that knows it.

    Parameters
    ----------
    files
        Files of one width, one or more.
    """

    files: tuple[SentenceFile, ...]

    @property
    def name(self) -> str:
        """Name in signatures."""
        return " + ".join(file.name for file in self.files)

    @property
    def n_dimensions(self) -> int:
        """D, dimensions of a vector."""
        return self.files[0].n_dimensions

    def vectors(self, queries: Queries) -> Frames:
        """Return the vectors of queries, (Q, D)."""
        vectors = np.empty((len(queries), self.n_dimensions), dtype=np.float32)
        remaining = np.ones(len(queries), dtype=bool)
        for number, file in enumerate(self.files):
            in_file = np.array([query_id in file for query_id in queries.query_id], dtype=bool)
            rows = np.flatnonzero(
                remaining & in_file if number < len(self.files) - 1 else remaining
            )  # the last names the missing
            if len(rows):
                vectors[rows] = file.vectors(queries.select(rows))
            remaining[rows] = False
        return vectors


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
            selected = Queries(
                as_strings(ids[rows], "query_id"),
                queries.video_id[rows],
                queries.duration_s[rows],
                queries.sentence[rows],
            )
            read = store.vectors(selected)
            if read.shape[1] != self.n_dimensions:
                widths = f"{read.shape[1]} dimensions, expected {self.n_dimensions}"
                raise InputError(f"{store.name}: found vectors of {widths}", field="sentences")
            vectors[rows] = read
        return vectors


def open_sentences(texts: Sequence[str]) -> SentenceStore | None:
    """Open vectors of sentences: files ``.h5`` or ``.npz``, or ``encoder:NAME``; None for no text.

    Raises
    ------
    InputError
        If files differ in width, or an encoder is given beside files.
    """
    if not texts:
        return None
    if any(text.startswith(ENCODER) for text in texts):
        if len(texts) > 1:
            raise InputError(f"--sentences: got {', '.join(texts)}, expected files, or one {ENCODER}NAME")
        return EncodedSentences(load_encoder(texts[0].removeprefix(ENCODER)))
    files = tuple(SentenceFile(Path(text)) for text in texts)
    for file in files[1:]:
        if file.n_dimensions != files[0].n_dimensions:
            widths = f"{files[0].n_dimensions} as in {files[0].path.name}"
            raise InputError(f"found vectors of {file.n_dimensions} dimensions, expected {widths}", path=file.path)
    return files[0] if len(files) == 1 else SentenceFiles(files)


def open_clip_features(
    text: str,
    recipe: Recipe,
    dataset: str | None,
    data_dir: Path | None = None,
    *,
    seed: int = 0,
    fps: float | None = None,
) -> FeatureStore:
    """Open the features that a recipe asks for.

    Parameters
    ----------
    text
        As for :func:`~truemoment.searching.opening.open_features`, or ``pictures:FOLDER`` with video files of films or
        clips.
    recipe
        With ``tune: towers`` it needs pictures, else vectors.
    dataset, data_dir, seed, fps
        As for :func:`~truemoment.searching.opening.open_features`.
    """
    learns_towers = recipe.settings.get("tune") == "towers"
    is_pictures = text.startswith(PICTURES)
    if learns_towers != is_pictures:
        needed = f"pictures: give --features {PICTURES}FOLDER" if learns_towers else "vectors of frames, not pictures"
        raise UsageError(f"settings.tune: the model learns from {needed}")
    if not is_pictures:
        return open_features(text, dataset=dataset, data_dir=data_dir, seed=seed, fps=fps)
    return PictureStore(Path(text.removeprefix(PICTURES)), load_encoder(recipe.settings["encoder"], device="cpu"))
