r"""When a search in many videos may stop: a rule that is calibrated on the collection, in place of a fixed number.

Videos are scored in the order of their best pieces. The search stops when the k-th best moment that was found scores
higher than the best piece of the next video plus delta. ``truemoment index calibrate`` measures delta on a sample of
the collection's videos: for each of its sentences, the least delta with which the search finds the k best moments of
all sampled videos is

.. math:: \max_v \, (m_k - p_v),

with the score m_k of the k-th best moment and the best piece p_v of each video v with one of the k best. Delta is
the 99 % quantile over the sentences, so that a search that the rule ends is complete with probability 0.99, for
sentences like those. Scores have the discount for short moments (:mod:`truemoment.searching.discount`), in searches
as in the sample.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from truemoment.base.boundary.files import write_json
from truemoment.base.boundary.folders import lock_folder
from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats
from truemoment.media.features.base import Frames
from truemoment.searching.first_stage import RankedVideo, VideoRanking
from truemoment.searching.index import Index
from truemoment.searching.layout import SETTINGS, Calibration
from truemoment.searching.retrieval import NMS, BestMoments, FoundMoment, checked_vectors
from truemoment.searching.unit_vectors import unit
from truemoment.searching.unknown_words import ALL_KNOWN, UnknownWords
from truemoment.searching.unrelated import STANDS_OUT

QUANTILE = 0.99
"""Share of the sentences whose search is to be complete."""

TOP = 5
"""Moments of a sentence that a search is calibrated for."""

SAMPLED_VIDEOS = 200
"""Videos that delta is measured on."""

MOST_VIDEOS = 40
"""Videos of a sentence that are scored at most."""

Reason = Literal["all", "rule", "limit"]
"""What ended a search: all videos are scored; the rule; or the largest number of videos."""


@dataclass(frozen=True)
class RetrievedMoments:
    """Moments of a sentence in many videos.

    Parameters
    ----------
    moments
        Best first.
    n_videos
        Videos that were scored.
    ended_by
        What ended the search.
    unknown
        Words of the sentence that the model does not know, where the sentence itself is searched for.
    by_model
        The answers of several models, where the moments are fused of theirs.
    """

    moments: list[FoundMoment]
    n_videos: int
    ended_by: Reason
    unknown: UnknownWords = ALL_KNOWN
    by_model: tuple[RetrievedMoments, ...] = ()

    @property
    def best_match(self) -> float | None:
        """Match of the best moment; of several models the highest, of those that know a word of the sentence."""
        if not self.by_model:
            return self.moments[0].match if self.moments else None
        matches = (answer.best_match for answer in self.by_model if not answer.unknown.every)
        return max((match for match in matches if match is not None), default=None)

    @property
    def nothing_stands_out(self) -> bool:
        """Whether the best match is below :data:`STANDS_OUT`, or the model knows no word; of several, for all of them.

        Where its words are said, something stands out.
        """
        if any(moment.quote is not None for moment in self.moments):
            return False
        if by_model := [answer for answer in self.by_model if answer.moments]:
            return all(answer.nothing_stands_out for answer in by_model)
        return self.unknown.every or (self.best_match is not None and self.best_match < STANDS_OUT)

    def lines_on_words(self, sentence: str) -> tuple[str, ...]:
        """Return a line for each model that does not know all words of a sentence."""
        answers = self.by_model or (self,)
        return tuple(dict.fromkeys(filter(None, (answer.unknown.line(sentence) for answer in answers))))


def worst_reason(reasons: Collection[Reason]) -> Reason:
    """Return what ended several searches: that which ended one of them earliest."""
    return "limit" if "limit" in reasons else "rule" if "rule" in reasons else "all"


def search_until(
    index: Index,
    sentence_vectors: Frames,
    calibration: Calibration,
    first_stage: VideoRanking,
    top: int = 5,
    *,
    most: int = MOST_VIDEOS,
    nms: float = NMS,
    apart_s: float | None = None,
    medians: Sequence[float] | None = None,
) -> list[RetrievedMoments]:
    """Find the best moments of each sentence, and stop each search by the calibrated rule.

    Parameters
    ----------
    index, sentence_vectors, top, nms, apart_s, medians
        As for :func:`~truemoment.searching.retrieval.search_index`.
    calibration
        The rule.
    first_stage
        Ranks the videos.
    most
        Videos of a sentence that are scored at most.
    """
    if most < 1 or top < 1:
        raise UsageError(f"got top={top} and {most} videos at most, expected 1 or more")
    vectors = checked_vectors(index, sentence_vectors)
    ranked = first_stage.rank_videos(unit(vectors), most + 1)
    best = BestMoments(index, vectors, top, nms=nms, apart_s=apart_s, medians=medians)
    ended: dict[int, tuple[int, Reason]] = {}
    for n_scored in range(most + 1):
        for s in [s for s in range(len(vectors)) if s not in ended]:
            full = len(best.by_sentence[s]) == top
            reason = _reason(
                ranked[s][n_scored:], best.by_sentence[s][-1].score - calibration.delta if full else -np.inf
            )
            if reason is not None or n_scored == most:
                n_all = len(first_stage.video_ids)
                ended[s] = (n_scored, "all" if n_scored == n_all else reason or "limit")
        left = [s for s in range(len(vectors)) if s not in ended]
        for name in sorted({ranked[s][n_scored].video_id for s in left}):
            best.score(name, [s for s in left if ranked[s][n_scored].video_id == name])
    return [RetrievedMoments(moments, *ended[s]) for s, moments in enumerate(best.ranked())]


def _reason(left: Sequence[RankedVideo], enough: float) -> Reason | None:
    """Return what ends the search of a sentence before the videos that are left; None if it continues.

    It continues while the best piece of the next video scores `enough`: the k-th best moment less delta.
    """
    if not left:
        return "limit"
    return "rule" if left[0].score < enough else None


def calibrate(
    index: Index,
    sentence_vectors: Frames,
    *,
    sentences: str,
    top: int = TOP,
    apart_s: float | None = None,
    n_videos: int = SAMPLED_VIDEOS,
    quantile: float = QUANTILE,
    seed: int = 0,
    track: Callable[[Sequence[str]], Iterable[str]] = iter,
) -> Calibration:
    """Measure with which delta searches of a sample of the videos are complete.

    Parameters
    ----------
    index, sentence_vectors, top, apart_s
        As for :func:`~truemoment.searching.retrieval.search_index`.
    sentences
        Name of the sentences.
    n_videos, seed
        Videos that are drawn, and the seed of the draw.
    quantile
        Share of the sentences whose search is to be complete, between 0 and 1.
    track
        Wraps the videos, e.g. in a progress bar.
    """
    if not 0 < quantile < 1 or n_videos < 1 or top < 1:
        problem = f"got {n_videos} videos, top={top} and quantile {quantile:g}"
        raise UsageError(f"{problem}, expected 1 or more, and between 0 and 1")
    vectors = checked_vectors(index, sentence_vectors)
    if not len(vectors) or not vectors.any(axis=1).all():
        raise UsageError("expected a sentence or more to calibrate with, each with a vector that is not 0")
    names = sorted(index)
    drawn = np.random.default_rng(seed).permutation(len(names))[:n_videos]
    some = [names[number] for number in np.sort(drawn).tolist()]
    best, directions = BestMoments(index, vectors, top, apart_s=apart_s), unit(vectors)
    pieces: dict[str, Floats] = {}
    for name in track(some):
        best.score(name, range(len(vectors)))
        pieces[name] = np.asarray((directions @ index.pieces(name).astype(np.float32).T).max(axis=1), dtype=np.float64)
    needed = [
        max((moments[-1].score - pieces[moment.video_id][s] for moment in moments), default=0.0)
        for s, moments in enumerate(best.ranked())
    ]
    return Calibration(
        delta=max(float(np.quantile(needed, quantile, method="higher")), 0.0),
        quantile=quantile,
        top=top,
        n_videos=len(some),
        n_sentences=len(vectors),
        sentences=sentences,
        seed=seed,
    )


def write_calibration(path: Path, calibration: Calibration) -> None:
    """Keep a calibration in an index."""
    index = Index(path)
    with lock_folder(index.folder):
        settings = msgspec.structs.replace(Index(path).settings, calibration=calibration)
        write_json(index.folder / SETTINGS, settings, indent=1)
