"""Finding moments in an index: of one video, or of many.

One video is scored exactly: every candidate moment of it, by :mod:`truemoment.searching.scoring`, then non-maximum
suppression. Of many videos a first look chooses some, and those are scored exactly. The first look holds each sentence
against the means of pieces of 4 s of all videos, and takes the videos of the best pieces; what it costs in recall,
:func:`first_stage_recall` measures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from truemoment.exceptions import InputError, MissingPackageError, UsageError
from truemoment.features.base import Frames
from truemoment.features.sentences import SentenceStore
from truemoment.intervals import best_kept
from truemoment.proposals import span_seconds
from truemoment.records import Annotations, Predictions, Queries
from truemoment.searching.index import Index
from truemoment.searching.layout import MEND

CANDIDATES = 20
"""Videos that the first look leaves."""

NMS = 0.3
"""IoU above which the worse of two moments of a video goes (MAD)."""

PIECES_AT_FIRST = 1024
"""Pieces that are looked up first; more, where they belong to too few videos."""

SCORES_AT_ONCE = 1 << 23
"""Scores that are held at a time (64 MiB)."""

LARGEST_SCORE = 1.001
"""A cosine is not larger than 1, but for rounding."""

DECIMALS = 6
"""Decimals of scores: more are rounding. Of equal scores the longer moment is better."""


class FoundMoment(NamedTuple):
    """A moment that was found."""

    video_id: str
    start_s: float
    end_s: float
    score: float


def search_index(
    index: Index,
    sentence_vectors: Frames,
    top: int = 5,
    *,
    nms: float = NMS,
    apart_s: float | None = None,
    candidates: int | None = None,
    videos: Iterable[str] | None = None,
    first_stage: FirstStage | None = None,
    track: Callable[[Sequence[str]], Iterable[str]] = iter,
) -> list[list[FoundMoment]]:
    """Find the best moments of an index for each sentence.

    Parameters
    ----------
    index
        Where.
    sentence_vectors : (S, D)
        What, in the space of the index's encoder.
    top
        Moments a sentence, over all videos.
    nms
        IoU above which the worse of two moments of a video goes.
    apart_s
        In place of `nms`: seconds between two moments of a video at least, else the worse one goes.
    candidates
        How many videos a sentence are scored exactly after a first look at all; None: all of them.
    videos
        Which videos; by default all.
    first_stage
        What the first look needs, if it was made before; by default it is made of the index.
    track
        Wraps the videos that are scored, e.g. in a progress bar.

    Returns
    -------
    list
        For each sentence its moments, best first; of equal scores the longer moment of a video, and videos by name.
    """
    vectors = np.atleast_2d(np.asarray(sentence_vectors, dtype=np.float32))
    if vectors.shape[1] != index.n_dimensions:
        raise UsageError(
            f"got sentence vectors of {vectors.shape[1]} numbers, but {index.name} has {index.n_dimensions} a row"
        )
    if not np.isfinite(vectors).all():
        raise UsageError("got sentence vectors that hold numbers that are not finite")
    _refuse_settings(top, nms, apart_s, candidates)
    names = sorted(index if videos is None else videos)
    for_all = range(len(vectors))
    sentences_of: dict[str, Sequence[int]] = dict.fromkeys(names, for_all)
    if candidates is not None and candidates < len(names):
        first_look = first_stage or FirstStage(index, names)
        best_videos = first_look.best_videos(vectors, candidates)
        sentences_of = {name: [s for s in for_all if name in best_videos[s]] for name in names}
    best: list[list[FoundMoment]] = [[] for _ in for_all]
    for name in track([name for name in names if sentences_of[name]]):
        for s, found in _of_video(index, name, vectors, sentences_of[name], _Wanted(top, nms, apart_s, best)):
            best[s] = sorted([*best[s], *found], key=lambda of: -of.score)[:top]  # sorted() keeps the order of ties
    return best


def _refuse_settings(top: int, nms: float, apart_s: float | None, candidates: int | None) -> None:
    if top < 1 or not 0 <= nms <= 1 or (candidates is not None and candidates < 1):
        raise UsageError(f"got top={top}, nms={nms:g} and {candidates} candidates, expected 1 or more, and 0 to 1")
    if apart_s is not None and not 0 <= apart_s < math.inf:
        raise UsageError(f"got moments {apart_s:g} s apart, expected 0 or more")


class _Wanted(NamedTuple):
    """How many moments, what IoU is too much or what distance too little, and what was found so far."""

    top: int
    nms: float
    apart_s: float | None
    best: list[list[FoundMoment]]


def moment_scores(index: Index, name: str, sentence_vectors: Frames) -> npt.NDArray[np.float64]:
    """Return the score of each candidate moment of a video (:meth:`Index.spans`) for each sentence, (S, P).

    Raises
    ------
    InputError
        If the rows or norms of the video are damaged.
    """
    from truemoment.searching.scoring import span_scores  # noqa: PLC0415 - it asks for its package itself

    index.check(name)
    first, end = index.spans(name)
    scores: npt.NDArray[np.float64] = span_scores(
        index.rows(name), np.atleast_2d(sentence_vectors), first, end, index.norms(name)
    ).round(DECIMALS)
    if not np.abs(scores).max(initial=0.0) <= LARGEST_SCORE:
        raise InputError("gives scores beyond 1: its norms are damaged", path=index.path, field=name, hint=MEND)
    return scores


def _of_video(
    index: Index, name: str, vectors: Frames, numbers: Sequence[int], wanted: _Wanted
) -> Iterator[tuple[int, list[FoundMoment]]]:
    """Score a video for some sentences; nothing comes for those that have better moments already."""
    index.check(name)
    about, (first, end) = index.about(name), index.spans(name)
    if not len(first):
        return
    # Moments that are too near each other are those that overlap with half the distance added at either end.
    margin = 0.0 if wanted.apart_s is None else wanted.apart_s / 2 * index.settings.fps
    threshold = wanted.nms if wanted.apart_s is None else 0.0
    order = np.argsort(first - end, kind="stable")  # long moments first: of equal ones the whole still picture
    at_once = max(1, SCORES_AT_ONCE // len(first))
    for low in range(0, len(numbers), at_once):
        some = list(numbers[low : low + at_once])
        scores = moment_scores(index, name, vectors[some])
        for s, score in zip(some, scores, strict=True):
            so_far = wanted.best[s]
            if len(so_far) == wanted.top and score.max() <= so_far[-1].score:
                continue
            kept = order[
                best_kept(score[order], first[order] - margin, end[order] + margin, threshold=threshold, top=wanted.top)
            ]
            start_s, end_s = span_seconds(first[kept], end[kept], index.settings.fps, about.duration_s)
            yield (
                s,
                [
                    FoundMoment(name, *of)
                    for of in zip(*(c.tolist() for c in (start_s, end_s, score[kept])), strict=True)
                ],
            )


class FirstStage:
    """The first look at many videos: the means of their pieces, to be looked up by a sentence.

    Parameters
    ----------
    index
        Of which index.
    videos
        Which of its videos; by default all.
    """

    def __init__(self, index: Index, videos: Iterable[str] | None = None) -> None:
        try:
            import faiss  # noqa: PLC0415 - only a collection needs it
        except ModuleNotFoundError:
            raise MissingPackageError("faiss-cpu", "search", "the first look at many videos") from None
        self.video_ids = sorted(index if videos is None else videos)
        # Half precision, as the pieces lie on disk: 1,200 hours are a million pieces, 1.1 GB at 512 numbers.
        kind = faiss.ScalarQuantizer.QT_fp16
        self._pieces = faiss.IndexScalarQuantizer(index.n_dimensions, kind, faiss.METRIC_INNER_PRODUCT)
        lengths = []
        for name in self.video_ids:
            pieces = index.pieces(name)
            self._pieces.add_sa_codes(np.ascontiguousarray(pieces).view(np.uint8))  # its codes are half precision
            lengths.append(len(pieces))
        self._video = np.repeat(np.arange(len(lengths)), lengths)

    @property
    def n_pieces(self) -> int:
        """How many pieces there are."""
        return len(self._video)

    def best_videos(self, sentence_vectors: Frames, many: int) -> list[set[str]]:
        """Return for each sentence the videos that its best pieces belong to, `many` if there are so many.

        Parameters
        ----------
        sentence_vectors : (S, D)
        many
            Videos a sentence.
        """
        vectors = np.ascontiguousarray(sentence_vectors, dtype=np.float32)
        many = min(many, len(self.video_ids))
        best_videos: list[set[str]] = [set() for _ in vectors]
        left, n_pieces = np.arange(len(vectors)), min(PIECES_AT_FIRST, self.n_pieces)
        while len(left):
            _, numbers = self._pieces.search(vectors[left], n_pieces)
            enough = []
            for s, of_sentence in zip(left, numbers, strict=True):
                video = self._video[of_sentence[of_sentence >= 0]]
                _, first = np.unique(video, return_index=True)
                ranked = video[np.sort(first)][:many]  # by the best piece of each
                best_videos[s] = {self.video_ids[v] for v in ranked}
                enough.append(len(ranked) == many or n_pieces == self.n_pieces)
            left, n_pieces = left[~np.array(enough)], min(4 * n_pieces, self.n_pieces)
        return best_videos


def first_stage_recall(
    index: Index, sentence_vectors: Frames, candidates: int = CANDIDATES, *, top: int = 5, nms: float = NMS
) -> float:
    """Share of the best moments of all videos that lie in the videos which the first look leaves.

    Parameters
    ----------
    index, sentence_vectors, top, nms
        As for :func:`search_index`.
    candidates
        Videos that the first look leaves.

    Returns
    -------
    float
        From 0 to 1; NaN if nothing is found at all.
    """
    vectors = np.atleast_2d(np.asarray(sentence_vectors, dtype=np.float32))
    exact = search_index(index, vectors, top, nms=nms)
    best_videos = FirstStage(index).best_videos(vectors, candidates)
    hits = [of.video_id in names for found, names in zip(exact, best_videos, strict=True) for of in found]
    return sum(hits) / len(hits) if hits else math.nan


class EncodedSentences:
    """Vectors of queries that an encoder makes of their words; see :mod:`truemoment.features.sentences`.

    Parameters
    ----------
    encoder
        A :class:`~truemoment.video.encoders.Encoder`.
    """

    def __init__(self, encoder: Any) -> None:  # noqa: ANN401 - an Encoder, whose module need not be loaded
        self.encoder = encoder
        self.name = f"{encoder.name}#{encoder.fingerprint[:8]}"
        self.n_dimensions: int = encoder.n_dimensions

    def vectors(self, queries: Queries) -> Frames:
        """Return the vectors of queries, (Q, D); a sentence that occurs several times is encoded once."""
        different, number = np.unique(queries.sentence.astype(str), return_inverse=True)
        rows: npt.NDArray[np.float32] = self.encoder.sentences(different.tolist())
        return rows[number]


@dataclass(frozen=True, eq=False)
class IndexSearch:
    """A :class:`~truemoment.grounders.Grounder` that answers what :func:`search_index` finds in each query's video.

    Unlike :class:`~truemoment.searching.ZeroShot` on the same rows, it uses the norms that the index stores and ranks
    the longer of two equal moments first.

    Parameters
    ----------
    index
        Where.
    sentences
        Vectors of the queries, in the space of the index's encoder.
    nms
        IoU above which the worse of two moments goes.
    track
        Wraps the videos, e.g. in a progress bar.
    """

    index: Index
    sentences: SentenceStore
    nms: float = NMS
    track: Callable[[list[str]], Iterable[str]] = iter

    @property
    def name(self) -> str:
        """The encoder's."""
        return self.index.settings.encoder

    def fit(self, train: Annotations, val: Annotations | None = None) -> IndexSearch:
        """Return itself: nothing is learned."""
        del train, val
        return self

    def ground(self, queries: Queries, top: int = 100) -> Predictions:
        """Answer each query with up to `top` moments of its video."""
        rows_of: dict[str, list[int]] = {}
        for row, video_id in enumerate(queries.video_id):
            rows_of.setdefault(video_id, []).append(row)
        for video_id in rows_of:
            self.index.about(video_id)  # it is there
        vectors = self.sentences.vectors(queries)
        found: list[list[FoundMoment]] = [[] for _ in range(len(queries))]
        for video_id in self.track(list(rows_of)):
            rows = rows_of[video_id]
            answers = search_index(self.index, vectors[rows], top, nms=self.nms, videos=[video_id])
            for row, answer in zip(rows, answers, strict=True):
                found[row] = answer
        by_query: dict[str, Sequence[Sequence[float]]] = {
            query_id: [(of.start_s, of.end_s, of.score) for of in answer]
            for query_id, answer in zip(queries.query_id, found, strict=True)
        }
        return Predictions.from_lists(by_query, name=self.name)
