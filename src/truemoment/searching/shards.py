"""A search of an index by several machines of a Ray cluster: each scores a share of the videos, and answers are merged.

Each share is searched by an actor, which opens the index under its path on the machine that it runs on. With
:attr:`~truemoment.searching.request.RankingOptions.exact` the merged moments are those of a search on one machine, to
the last bit, for any number of actors. Otherwise each actor selects videos of its own share, so that together they
score more videos: the best moments are as good or better.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from truemoment.base.boundary.distribution.actors import ray_actors
from truemoment.base.errors import InputError, UsageError
from truemoment.media.features.base import Frames
from truemoment.searching.index import Index
from truemoment.searching.layout import Settings
from truemoment.searching.median_scores import median_scores
from truemoment.searching.request import RankingOptions
from truemoment.searching.retrieval import best_first
from truemoment.searching.searcher import IndexSearcher
from truemoment.searching.stopping import RetrievedMoments, worst_reason

# How vectors (S, D) are searched for, the median score of each in the whole index, so that all shares score alike, and
# the number of moments.
Question = tuple[Literal["find", "find_like"], Frames, Sequence[float], int]


@dataclass(frozen=True)
class IndexShard:
    """A share of the videos of an index.

    Parameters
    ----------
    path
        Folder of the index, on every machine.
    settings, identities
        How the index was made, and the identity of each video of the share; an index with others is refused.
    ranking
        How moments are ranked.
    """

    path: Path
    settings: Settings
    identities: dict[str, str]
    ranking: RankingOptions

    def open(self) -> Callable[[Question], list[RetrievedMoments]]:
        """Return a function that finds the moments of sentences or pictures in this share."""
        index = Index(self.path)
        if index.settings != self.settings or self.identities != _identities(index, self.identities):
            raise InputError("differs from the index that is searched", path=self.path, hint="copy that index here")
        searcher = IndexSearcher(index, self.ranking, self.identities)
        searcher.load()
        find = {"find": searcher.find, "find_like": searcher.find_like}
        return lambda question: find[question[0]](*question[1:])


def shards_of(index: Index, ranking: RankingOptions, videos: Iterable[str] | None, count: int) -> list[IndexShard]:
    """Divide videos of an index, None for all, into so many shares; into fewer where there are fewer videos."""
    names = sorted(index if videos is None else videos)
    path = index.path.absolute()
    return [
        IndexShard(path, index.settings, _identities(index, names[first::count]), ranking)
        for first in range(min(count, len(names)))
    ]


def _identities(index: Index, names: Iterable[str]) -> dict[str, str]:
    return {name: index.about(name).identity for name in names if name in index}


def merge_shards(answers: Sequence[RetrievedMoments], top: int) -> RetrievedMoments:
    """Merge the moments of one sentence in several shares: by score, then by video."""
    moments = [moment for answer in answers for moment in answer.moments]
    ended_by = worst_reason({answer.ended_by for answer in answers})
    return RetrievedMoments(best_first(moments)[:top], sum(answer.n_videos for answer in answers), ended_by)


class ShardedSearcher(IndexSearcher):
    """Searches of one index whose shares answer elsewhere.

    Parameters
    ----------
    index, ranking, videos
        As for :class:`~truemoment.searching.searcher.IndexSearcher`.
    ask
        Returns the answers of all shares.
    """

    def __init__(
        self,
        index: Index,
        ranking: RankingOptions,
        videos: Iterable[str] | None,
        ask: Callable[[Question], list[list[RetrievedMoments]]],
    ) -> None:
        super().__init__(index, ranking, videos)
        self._ask = ask

    def load(self) -> None:
        """Load nothing: the shares have begun to."""

    def find(
        self, vectors: Frames, medians: Sequence[float] | None = None, top: int | None = None
    ) -> list[RetrievedMoments]:
        """Return the moments of each sentence (S, D), best first."""
        return self._merge("find", vectors, medians, top)

    def find_like(
        self, vectors: Frames, medians: Sequence[float] | None = None, top: int | None = None
    ) -> list[RetrievedMoments]:
        """Return the moments that are like pictures (S, D), best first."""
        return self._merge("find_like", vectors, medians, top)

    def _merge(
        self, how: Literal["find", "find_like"], vectors: Frames, medians: Sequence[float] | None, top: int | None
    ) -> list[RetrievedMoments]:
        top = self.ranking.top if top is None else top
        answers = self._ask((how, vectors, median_scores(self.index, vectors) if medians is None else medians, top))
        return [merge_shards(of_sentence, top) for of_sentence in zip(*answers, strict=True)]

    def find_sequences(self, *_: object) -> RetrievedMoments:
        """Refuse: the shares answer sentences one by one."""
        raise UsageError("--then: goes without --engine ray, one process finds sequences")


@contextlib.contextmanager
def searched_by_ray(
    index: Index, ranking: RankingOptions, videos: Iterable[str] | None, workers: int | None
) -> Iterator[ShardedSearcher]:
    """Search an index by so many actors of a Ray cluster, None for all its cores, until the block is left."""
    shards = functools.partial(shards_of, index, ranking, videos)
    with ray_actors(IndexShard.open, shards, workers, needs="and the index under the same path") as ask:
        yield ShardedSearcher(index, ranking, videos, ask)
