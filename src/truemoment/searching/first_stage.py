"""The first stage of a search in many videos: which videos are scored exactly, and in what order.

A sentence is compared with the means of pieces of 4 s of all videos; a video is as good as its best piece.

* :class:`FirstStage` compares with the pieces themselves, in half precision in memory: 1.1 GB at 1,200 hours.
* :class:`CodedFirstStage` looks at the codes of all pieces (:mod:`truemoment.searching.codes`), an eighth of that, and
  compares the best few thousand with the pieces on disk.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from truemoment.base.errors import MissingPackageError, UsageError
from truemoment.base.intervals import Ints
from truemoment.media.features.base import Frames
from truemoment.searching.codes import PieceCodes, has_codes
from truemoment.searching.index import Index
from truemoment.searching.layout import all_finite

PIECES_AT_FIRST = 1024
"""Pieces that are looked up first; more, where they belong to too few videos."""

RERANKED = 4096
"""Pieces that are compared exactly after the codes."""

PER_VIDEO = 3
"""Pieces of a video that are compared exactly before others: a scene that comes back does not fill the list."""

SENTENCES_AT_ONCE = 64

MOST_MAPPED = 8192
"""Videos whose pieces stay mapped into memory."""


class RankedVideo(NamedTuple):
    """A video, and the cosine of its best piece with the sentence."""

    video_id: str
    score: float


class VideoRanking(Protocol):
    """Ranks videos by their best pieces."""

    video_ids: list[str]

    def rank_videos(self, sentence_vectors: Frames, many: int) -> list[list[RankedVideo]]:
        """Return up to `many` videos of each sentence (S, D), best first; scores are of sentences of length 1."""
        ...

    def best_videos(self, sentence_vectors: Frames, many: int) -> list[set[str]]:
        """Return the names of these videos."""
        ...


def first_stage_of(
    index: Index, videos: Iterable[str] | None = None, *, per_video: int | None = None
) -> FirstStage | CodedFirstStage:
    """Return the first stage of an index: by codes where it has them, else by all pieces.

    Parameters
    ----------
    index
        Of which index.
    videos
        Which of its videos; by default all.
    per_video
        Pieces of a video that are compared exactly before others; None for :data:`PER_VIDEO`.
    """
    names = list(index if videos is None else videos)
    if has_codes(index):
        return CodedFirstStage(index, names, per_video=PER_VIDEO if per_video is None else per_video)
    if per_video is not None:
        raise UsageError("--per-video: chooses pieces by their codes, and the index has none: truemoment index --codes")
    return FirstStage(index, names)


class FirstStage:
    """A first stage that compares a sentence with the means of all pieces.

    Parameters
    ----------
    index
        Of which index.
    videos
        Which of its videos; by default all.
    """

    def __init__(self, index: Index, videos: Iterable[str] | None = None) -> None:
        self.video_ids = sorted(index if videos is None else videos)
        self._pieces = half_precision(index.n_dimensions)
        lengths = []
        for name in self.video_ids:
            pieces = index.pieces(name)
            self._pieces.add_sa_codes(np.ascontiguousarray(pieces).view(np.uint8))  # its codes are half precision
            lengths.append(len(pieces))
        self._video = np.repeat(np.arange(len(lengths)), lengths)

    @property
    def n_pieces(self) -> int:
        """Number of pieces."""
        return len(self._video)

    def best_videos(self, sentence_vectors: Frames, many: int) -> list[set[str]]:
        """Return for each sentence the videos that its best pieces belong to, `many` if there are so many.

        Parameters
        ----------
        sentence_vectors : (S, D)
        many
            Videos a sentence.
        """
        return [{video.video_id for video in videos} for videos in self.rank_videos(sentence_vectors, many)]

    def rank_videos(self, sentence_vectors: Frames, many: int) -> list[list[RankedVideo]]:
        """Return these videos with the scores of their best pieces, best first."""
        vectors = np.ascontiguousarray(sentence_vectors, dtype=np.float32)
        many = min(many, len(self.video_ids))
        ranked: list[list[RankedVideo]] = [[] for _ in vectors]
        left, n_pieces = np.arange(len(vectors)), min(PIECES_AT_FIRST, self.n_pieces)
        while len(left):
            scores, numbers = self._pieces.search(vectors[left], n_pieces)
            enough = []
            for s, score, number in zip(left, scores, numbers, strict=True):
                real = number >= 0
                ranked[s] = _by_best(self.video_ids, self._video[number[real]], score[real], many)
                enough.append(len(ranked[s]) == many or n_pieces == self.n_pieces)
            left, n_pieces = left[~np.array(enough)], min(4 * n_pieces, self.n_pieces)
        return ranked


class CodedFirstStage:
    """The same by the codes of all pieces, then exactly by the pieces of the best codes, which are read from disk.

    Videos none of whose pieces are among the `reranked` are not ranked.

    Parameters
    ----------
    index
        Of which index.
    videos
        Which of its videos; by default all.
    reranked
        Pieces that are compared exactly.
    per_video
        Pieces of a video among these that come before those of others.
    """

    def __init__(
        self,
        index: Index,
        videos: Iterable[str] | None = None,
        *,
        reranked: int = RERANKED,
        per_video: int = PER_VIDEO,
    ) -> None:
        if reranked < 1 or per_video < 1:
            raise UsageError(f"got {reranked} pieces and {per_video} of a video, expected 1 or more")
        self.index, self.reranked, self.per_video = index, reranked, per_video
        self._codes = PieceCodes(index, videos)
        self.video_ids = self._codes.video_ids
        self._mapped = functools.lru_cache(maxsize=MOST_MAPPED)(
            lambda video: np.asarray(index.mapped_pieces(self.video_ids[video]))  # read where it is used
        )

    @property
    def n_pieces(self) -> int:
        """Number of pieces."""
        return self._codes.n_pieces

    def best_videos(self, sentence_vectors: Frames, many: int) -> list[set[str]]:
        """Return for each sentence the videos of its best pieces, up to `many`."""
        return [{video.video_id for video in videos} for videos in self.rank_videos(sentence_vectors, many)]

    def rank_videos(self, sentence_vectors: Frames, many: int) -> list[list[RankedVideo]]:
        """Return these videos with the scores of their best pieces, best first."""
        vectors = np.ascontiguousarray(sentence_vectors, dtype=np.float32)
        ranked: list[list[RankedVideo]] = []
        for low in range(0, len(vectors), SENTENCES_AT_ONCE):
            some = vectors[low : low + SENTENCES_AT_ONCE]
            chosen = [self._choose(numbers) for numbers in self._codes.best(some, 2 * self.reranked)]
            ranked += [self._rank_exactly(vector, *pieces, many) for vector, pieces in zip(some, chosen, strict=True)]
        return ranked

    def _choose(self, numbers: Ints) -> tuple[Ints, Ints]:
        """Return the video and place of the pieces that are compared exactly, of pieces by falling score of codes."""
        video, place = self._codes.places(numbers[numbers >= 0])
        within = _rank_within(video)
        order = np.argsort(within >= self.per_video, kind="stable")[: self.reranked]
        return video[order], place[order]

    def _rank_exactly(self, vector: npt.NDArray[np.float32], video: Ints, place: Ints, many: int) -> list[RankedVideo]:
        """Return the videos of some pieces by their exact scores."""
        order = np.argsort(video, kind="stable")
        video, place = video[order], place[order]
        begins = np.flatnonzero(np.diff(video, prepend=-1))
        pieces = np.empty((len(video), self.index.n_dimensions), dtype=np.float16)
        for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(video)], strict=True):
            self._mapped(int(video[begin])).take(place[begin:end], axis=0, out=pieces[begin:end], mode="clip")
        if not all_finite(pieces):
            for number in video[begins].tolist():
                self.index.pieces(self.video_ids[number])  # the damaged one is refused by name
        exact = half_precision(self.index.n_dimensions)
        exact.add_sa_codes(pieces.view(np.uint8))
        score, best = exact.search(vector[None], len(pieces))
        return _by_best(self.video_ids, video[best[0]], score[0], many)


def half_precision(n_dimensions: int) -> Any:  # noqa: ANN401 - an optional package
    """Return faiss's exact search of vectors in half precision, as pieces lie on disk: without vectors yet."""
    try:
        import faiss  # noqa: PLC0415 - only a collection needs it
    except ModuleNotFoundError:
        raise MissingPackageError("faiss-cpu", "search", "the first look at many videos") from None
    return faiss.IndexScalarQuantizer(n_dimensions, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)


def _by_best(video_ids: list[str], video: Ints, score: npt.NDArray[np.float32], many: int) -> list[RankedVideo]:
    """Return videos by the first, and best, of their pieces."""
    _, first = np.unique(video, return_index=True)
    order = np.sort(first)[:many]
    return [RankedVideo(video_ids[v], float(s)) for v, s in zip(video[order], score[order], strict=True)]


def _rank_within(video: Ints) -> Ints:
    """Return how many pieces of the same video come before each piece."""
    order = np.argsort(video, kind="stable")
    ordered = video[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=-1))
    ranks = np.arange(len(ordered)) - np.repeat(begins, np.diff([*begins, len(ordered)]))
    rank = np.empty(len(ordered), dtype=np.int64)
    rank[order] = ranks
    return rank
