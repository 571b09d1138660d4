"""Searches of an index or of a share of its videos: which stages a search goes through, and what ended it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from truemoment.media.features.base import Frames
from truemoment.searching.first_stage import VideoRanking, first_stage_of
from truemoment.searching.index import Index
from truemoment.searching.layout import Calibration
from truemoment.searching.request import RankingOptions
from truemoment.searching.retrieval import CANDIDATES, checked_vectors, search_index
from truemoment.searching.sequences import search_sequences, videos_of_sequences
from truemoment.searching.stopping import MOST_VIDEOS, RetrievedMoments, search_until

ALL = 1 << 31
"""Number of moments of a search for all there are, which scores all videos unless candidates are limited."""


class IndexSearcher:
    """Searches of one index: its first stage is loaded once.

    Parameters
    ----------
    index
        The index.
    ranking
        How moments are ranked.
    videos
        Videos to search; None for all.
    """

    def __init__(self, index: Index, ranking: RankingOptions, videos: Iterable[str] | None = None) -> None:
        self.index, self.ranking = index, ranking
        self.videos = sorted(index if videos is None else videos)
        self._first_stage: VideoRanking | None = None

    @property
    def calibration(self) -> Calibration | None:
        """The rule that ends a search; None if there is none for so many moments."""
        calibration = self.index.settings.calibration
        return calibration if calibration and self.ranking.top <= calibration.top else None

    @property
    def most(self) -> int:
        """Number of videos that are scored exactly, at most."""
        if self.ranking.exact:
            return len(self.videos)
        default = MOST_VIDEOS if self.calibration else CANDIDATES
        return min(self.ranking.candidates or default, len(self.videos))

    @property
    def has_stages(self) -> bool:
        """Whether a first stage chooses or orders videos."""
        if self.ranking.exact or len(self.videos) < 2:
            return False
        return self.calibration is not None or self.most < len(self.videos)

    def load(self) -> None:
        """Load the first stage if searches go through it, so that no search waits for it."""
        if self.has_stages:
            self.first_stage()

    def first_stage(self) -> VideoRanking:
        """Load the first stage, once."""
        if self._first_stage is None:
            self._first_stage = first_stage_of(self.index, self.videos, per_video=self.ranking.per_video)
        return self._first_stage

    def find(
        self, vectors: Frames, medians: Sequence[float] | None = None, top: int | None = None
    ) -> list[RetrievedMoments]:
        """Return the moments of each sentence (S, D), best first.

        Parameters
        ----------
        vectors
            Of the sentences.
        medians
            Median score of each sentence; None for that of the index. A share of the videos uses that of the whole one.
        top
            Number of moments; None for that of the ranking. For more than these, no rule ends the search.
        """
        ranking, calibration = self.ranking, self.calibration
        top = ranking.top if top is None else top
        has_stages = self._has_stages(top)
        if calibration is None or top > calibration.top or not has_stages:
            return self._ranked(vectors, medians, top, self.most if has_stages else len(self.videos))
        return search_until(
            self.index,
            vectors,
            calibration,
            self.first_stage(),
            top,
            most=self.most,
            apart_s=ranking.apart,
            medians=medians,
        )

    def find_like(
        self, vectors: Frames, medians: Sequence[float] | None = None, top: int | None = None
    ) -> list[RetrievedMoments]:
        """Return the moments that are like pictures (S, D), best first; parameters as for :meth:`find`.

        A calibrated rule ends none of these searches: it was measured with sentences.
        """
        ranking, count = self.ranking, len(self.videos)
        most = count if ranking.exact else min(ranking.candidates or CANDIDATES, count)
        return self._ranked(vectors, medians, ranking.top if top is None else top, most)

    def _ranked(self, vectors: Frames, medians: Sequence[float] | None, top: int, most: int) -> list[RetrievedMoments]:
        """Return the best moments of the `most` videos that the first stage selects."""
        is_limited = most < len(self.videos)
        by_query = search_index(
            self.index,
            vectors,
            top,
            apart_s=self.ranking.apart,
            candidates=most if is_limited else None,
            videos=self.videos,
            first_stage=self.first_stage() if is_limited else None,
            medians=medians,
        )
        return [RetrievedMoments(moments, most, "limit" if is_limited else "all") for moments in by_query]

    def find_sequences(
        self, vectors: Frames, medians: Sequence[float], gap_s: float, top: int | None = None
    ) -> RetrievedMoments:
        """Return the sequences of moments for sentences in their order (S, D), best first.

        Parameters
        ----------
        vectors, medians, top
            As for :meth:`find`.
        gap_s
            Seconds from the end of a moment to the start of the next, at most.
        """
        vectors, top = checked_vectors(self.index, vectors), self.ranking.top if top is None else top
        videos = self.videos
        if self._has_stages(top):
            videos = videos_of_sequences(self.first_stage(), vectors, self.most)
        sequences = search_sequences(
            self.index,
            vectors,
            top,
            gap_s=gap_s,
            apart_s=self.ranking.apart,
            medians=medians,
            videos=videos,
        )
        return RetrievedMoments(sequences, len(videos), "all" if len(videos) == len(self.videos) else "limit")

    def _has_stages(self, top: int) -> bool:
        return self.has_stages and (top < ALL or self.ranking.candidates is not None)
