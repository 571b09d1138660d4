"""Rows of the words of a query, in place of the vectors of a vocabulary.

- ``text.vectors: queries``: rows of files, see :mod:`truemoment.media.features.words`.
- ``text.vectors: hidden:NAME``: what the text transformer of a CLIP model makes of each token of a sentence, after its
  last layer norm and before the projection, so that new sentences can be asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Ints
from truemoment.base.records import Queries
from truemoment.learning.training.mixed_stores import MixedWords
from truemoment.learning.training.recipe_sources import MixtureSource
from truemoment.learning.training.recipes import Recipe, Text
from truemoment.media.features.base import Frames
from truemoment.media.features.resampling import normalise_each
from truemoment.media.features.words import WordFiles, WordStore
from truemoment.media.video.encoders import TokenEncoder, load_encoder

QUERIES, HIDDEN = "queries", "hidden:"
"""Values of ``text.vectors``: rows of files, and the beginning of the name of a text transformer."""


class EncodedWords:
    """A WordStore that a text transformer makes of the sentences."""

    def __init__(self, encoder: TokenEncoder) -> None:
        self.encoder = encoder
        self.name = f"{HIDDEN}{encoder.name}#{encoder.fingerprint[:8]}"
        self.n_dimensions = encoder.n_hidden

    def words(self, queries: Queries) -> list[Frames]:
        """Return the rows of the tokens of each query, (L, E)."""
        return self.encoder.tokens(queries.sentence.tolist())


@dataclass(frozen=True, eq=False)
class QueryRows:
    """Rows of the words of queries as a recipe takes them; those that were read are kept.

    Parameters
    ----------
    store
        The rows.
    most
        Rows of a query; the rest is cut off. None for all.
    normalise
        Whether each row is divided by its length + 1e-5.
    """

    store: WordStore
    most: int | None = None
    normalise: bool = False
    _kept: dict[tuple[str, str], Frames] = field(default_factory=dict)

    @classmethod
    def open(cls, recipe: Recipe, path: str, sources: Sequence[MixtureSource] = ()) -> QueryRows | None:
        """Open the rows of a recipe, from `path` if they are of files; None for a recipe with a vocabulary.

        `sources` are those of a mixture that is learned from, which may have files of their own.
        """
        text = recipe.text
        if text.vectors != QUERIES and path:
            raise UsageError(f"--queries: is for text.vectors: {QUERIES}, got a recipe with {text.vectors!r}")
        if not reads_rows(text):
            return None
        if text.vectors == QUERIES and not path:
            raise UsageError(f"text.vectors: {QUERIES} reads the words of each query from files: give --queries DIR")
        store = _files(path, sources) if text.vectors == QUERIES else _encoded(text.vectors.removeprefix(HIDDEN))
        return cls(store, text.most or None, recipe.normalise == "each")

    def of(self, queries: Queries) -> WordTable:
        """Return the rows of queries."""
        keys = list(zip(queries.query_id.tolist(), queries.sentence.tolist(), strict=True))
        new = [at for at, key in enumerate(keys) if key not in self._kept]
        if new:
            read = self.store.words(queries.select(np.array(new, dtype=np.int64)))
            for at, rows in zip(new, read, strict=True):
                cut = rows[: self.most]
                self._kept[keys[at]] = normalise_each(cut, (cut.shape[1],)) if self.normalise else np.array(cut)
        return WordTable([self._kept[key] for key in keys])


@dataclass(frozen=True, eq=False)
class WordTable:
    """Rows of the words of Q queries, (L, E) each with its own L."""

    by_query: Sequence[Frames]

    def __getitem__(self, rows: Ints) -> WordTable:
        """Return the queries at some rows, each as often as it is named."""
        return WordTable([self.by_query[row] for row in rows.tolist()])

    @property
    def n_words(self) -> Ints:
        """Number of rows of each query, (Q,)."""
        return np.array([len(rows) for rows in self.by_query], dtype=np.int64)

    def padded(self) -> Frames:
        """Return all rows, (Q, L, E), with zeros after the last of each query."""
        padded = np.zeros((len(self.by_query), int(self.n_words.max()), self.by_query[0].shape[1]), dtype=np.float32)
        for table, rows in zip(padded, self.by_query, strict=True):
            table[: len(rows)] = rows
        return padded


def reads_rows(text: Text) -> bool:
    """Whether words are rows of each query, and not vectors of a vocabulary."""
    return text.vectors == QUERIES or text.vectors.startswith(HIDDEN)


def _files(path: str, sources: Sequence[MixtureSource]) -> WordStore:
    """Open the rows of a file or folder, and those of the sources of a mixture that name their own."""
    own = {source.title: WordFiles(source.queries) for source in sources if source.queries}
    titles = tuple(source.title for source in sources)
    return MixedWords(own, WordFiles(path), titles) if titles else WordFiles(path)


def _encoded(name: str) -> EncodedWords:
    encoder = load_encoder(name)
    if not isinstance(encoder, TokenEncoder):
        raise UsageError(f"text.vectors: {HIDDEN}{name} has no rows of tokens, expected a CLIP model")
    return EncodedWords(encoder)
