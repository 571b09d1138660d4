r"""Whether a moment matches a sentence: how it compares with the best moments of unrelated sentences.

A search always has a best moment. Whether it is one depends on the model, the sentence and the videos, so the same
search is made for a few hundred plain sentences b that have nothing to do with the query. With the cosine c of a piece
or moment m and a sentence s, and the pieces p of the index, m stands out for s by

.. math:: e(s, m) = d(s, m) - Q_{0.95}\{d(b, m) : b\}, \qquad d(s, m) = c(s, m) - \mathrm{median}_p \, c(s, p)

The median takes away what a sentence has in common with every picture, which is much for one without sense. The
quantile takes away what a picture has in common with every sentence. The *match* of a moment is the share of the
unrelated sentences whose best piece stands out less:

.. math:: \mathrm{match}(q, m) = 1 - \frac{1 + |\{b : \max_p e(b, p) \ge e(q, m)\}|}{1 + |\{b\}|}

It is one less a p-value, of the hypothesis that the sentence is unrelated, too. If the best match is below
:data:`STANDS_OUT`, nothing stands out. ``benchmarks/nothing.py`` measures how often that is said of sentences whose
moments are there, and how often of others.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec
import numpy as np

from truemoment.base.boundary.arrays import Array, pack_json, read_npz, refusing_damage, unpack_json, write_npz
from truemoment.base.boundary.files import read_text
from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats
from truemoment.media.features.base import Frames
from truemoment.searching.index import Index
from truemoment.searching.layout import UNRELATED
from truemoment.searching.moment_rows import vectors_of
from truemoment.searching.retrieval import FoundMoment
from truemoment.searching.unit_vectors import unit

if TYPE_CHECKING:
    from truemoment.media.video.encoders import Encoder

STANDS_OUT = 0.92
"""Match from which a moment stands out."""

COMMON = 0.95
"""Quantile of the unrelated sentences that a moment is compared with."""

LEAST_PIECES = 30
"""Pieces of 4 s from which their median is that of what a sentence has in common with every picture."""

PLAIN_SENTENCES = "plain_sentences.txt"

PIECES_AT_ONCE, MOMENTS_AT_ONCE, DECIMALS = 4_096, 4_096, 4

REMOVE = "delete the file: truemoment index makes it again"


@functools.cache
def plain_sentences() -> tuple[str, ...]:
    """Return the unrelated sentences that come with the package."""
    return tuple(read_text(Path(__file__).with_name(PLAIN_SENTENCES)).splitlines())


def unrelated_sentences(encoder: Encoder) -> tuple[str, ...]:
    """Return the sentences of a model's own, for one that knows few words, or those of the package."""
    return getattr(encoder, "plain_sentences", None) or plain_sentences()


@dataclass(frozen=True, eq=False)
class Unrelated:
    """Unrelated sentences and how they fit the pieces of an index.

    Parameters
    ----------
    vectors : (B, D)
        Of length 1.
    median : (B,)
        Median cosine of the pieces with each sentence.
    best : (B,)
        How far the best piece of each stands out, in ascending order.
    """

    vectors: Frames
    median: Floats
    best: Floats

    @classmethod
    def of(cls, index: Index, vectors: Frames) -> Unrelated:
        """Compare sentences (B, D) with all pieces of an index."""
        vectors = unit(vectors)
        median = np.median(vectors @ index.piece_sample.T, axis=1)
        best = np.full(len(vectors), -np.inf)
        for _, some in pieces_of(index):
            above = vectors @ some.T - median[:, None]
            best = np.maximum(best, (above - np.quantile(above, COMMON, axis=0)).max(axis=1))
        return cls(vectors, median, np.sort(best))

    def matches(self, sentence: Frames, median: float, moments: Frames) -> Floats:
        """Return the match of moments (M, D) with a sentence (D,), given its median cosine, (M,).

        Examples
        --------
        >>> eye = np.eye(3, dtype=np.float32)
        >>> Unrelated(eye[1:], np.zeros(2), np.array([0.1, 0.2])).matches(eye[0], 0.0, eye[:2]).round(3).tolist()
        [0.667, 0.0]
        """
        directions = unit(moments)
        common = np.quantile(self.vectors @ directions.T - self.median[:, None], COMMON, axis=0)
        stands_out = directions @ unit(sentence[None])[0] - median - common
        below = np.searchsorted(self.best, stands_out, side="left")
        return np.asarray((below / (1 + len(self.best))).round(DECIMALS))


def pieces_of(index: Index) -> Iterator[tuple[str, Frames]]:
    """Yield the pieces of an index (N, D), some at a time, each with the name of their video."""
    for name in index:
        pieces = index.pieces(name)
        for start in range(0, len(pieces), PIECES_AT_ONCE):
            yield name, pieces[start : start + PIECES_AT_ONCE].astype(np.float32)


def can_match(index: Index) -> bool:
    """Whether an index has enough video to say whether a moment stands out: two minutes or more."""
    return sum(map(index.n_pieces, index)) >= LEAST_PIECES


def unrelated_of(index: Index, encoder: Encoder) -> Unrelated | None:
    """Return how unrelated sentences fit an index, as it keeps it or computed anew; None for less than two minutes."""
    if not can_match(index):
        return None
    sentences = unrelated_sentences(encoder)
    kept = _read(index, compared_key(index, sentences))
    return Unrelated.of(index, encoder.sentences(sentences)) if kept is None else kept


def write_unrelated(index: Index, encoder: Encoder) -> None:
    """Keep in an index how unrelated sentences fit it, so that no search embeds them."""
    if not can_match(index):
        return
    sentences = unrelated_sentences(encoder)
    key = compared_key(index, sentences)
    if _read(index, key) is None:
        made = Unrelated.of(index, encoder.sentences(sentences))
        write_npz(
            index.folder / UNRELATED, key=pack_json(key), vectors=made.vectors, median=made.median, best=made.best
        )


class Matching(Protocol):
    """What a query is compared with."""

    def matches(self, query: Frames, median: float, moments: Frames, /) -> Floats:
        """Return the match of moments (M, D) with a query (D,), given its median cosine, (M,)."""
        ...


def with_matches(
    index: Index, unrelated: Matching | None, vector: Frames, median: float, moments: Sequence[FoundMoment]
) -> list[FoundMoment]:
    """Return the moments of a query (D,), each with its match; without one where nothing is compared."""
    if unrelated is None or not moments:
        return list(moments)
    matched: list[FoundMoment] = []
    for start in range(0, len(moments), MOMENTS_AT_ONCE):
        some = moments[start : start + MOMENTS_AT_ONCE]
        means = vectors_of(index, [moment[:3] for moment in some])
        matches = unrelated.matches(vector, median, means).tolist()
        matched += [moment._replace(match=match) for moment, match in zip(some, matches, strict=True)]
    return matched


def compared_key(index: Index, sentences: Sequence[str] = ()) -> str:
    """Return a hash of what is compared: the sentences, and the identities of the videos."""
    videos = (f"{name} {index.about(name).identity}" for name in sorted(index))
    parts = "\n".join([index.settings.fingerprint, *sentences, *videos])
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()


def read_kept(index: Index, name: str, key: str, *names: str) -> tuple[Array, ...] | None:
    """Return arrays of a file of an index; None without one, or if it has another key: other videos or sentences."""
    file = index.folder / name
    if not file.is_file():
        return None
    with refusing_damage(file, "is not what indexing writes", KeyError, msgspec.DecodeError, hint=REMOVE):
        packed, *arrays = read_npz(file, "key", *names)
        if unpack_json(packed, str) != key:
            return None
    if not all(array.dtype.kind == "f" and np.isfinite(array).all() for array in arrays):
        raise InputError("contains values that are no finite numbers", path=file, hint=REMOVE)
    return tuple(arrays)


def _read(index: Index, key: str) -> Unrelated | None:
    """Return what an index keeps; None if it keeps nothing, or what other videos or sentences gave."""
    kept = read_kept(index, UNRELATED, key, "vectors", "median", "best")
    if kept is None:
        return None
    vectors, median, best = kept
    shapes, n = (vectors.shape, median.shape, best.shape), len(vectors)
    if shapes != ((n, index.n_dimensions), (n,), (n,)):
        raise InputError(
            f"contains arrays of shapes {shapes}, expected those of B sentences",
            path=index.folder / UNRELATED,
            hint=REMOVE,
        )
    return Unrelated(vectors, median, best)
