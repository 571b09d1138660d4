"""Searches of an index or of a share of its videos: which stages a search goes through, and what ended it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from truemoment.media.features.base import Frames
from truemoment.searching.first_stage import VideoRanking, first_stage_of
from truemoment.searching.index import Index
from truemoment.searching.layout import Calibration
from truemoment.searching.request import RankingOptions
from truemoment.searching.retrieval import CANDIDATES, search_index
from truemoment.searching.stopping import MOST_VIDEOS, RetrievedMoments, search_until


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

    def find(self, vectors: Frames, medians: Sequence[float] | None = None) -> list[RetrievedMoments]:
        """Return the moments of each sentence (S, D), best first.

        Parameters
        ----------
        vectors
            Of the sentences.
        medians
            Median score of each sentence; None for that of the index. A share of the videos uses that of the whole one.
        """
        ranking, calibration = self.ranking, self.calibration
        if calibration is None or not self.has_stages:
            return self.find_like(vectors, medians)
        return search_until(
            self.index,
            vectors,
            calibration,
            self.first_stage(),
            ranking.top,
            most=self.most,
            apart_s=ranking.apart,
            medians=medians,
        )

    def find_like(self, vectors: Frames, medians: Sequence[float] | None = None) -> list[RetrievedMoments]:
        """Return the moments that are like pictures (S, D), best first.

        A calibrated rule ends none of these searches: it was measured with sentences.
        """
        ranking, count = self.ranking, len(self.videos)
        most = count if ranking.exact else min(ranking.candidates or CANDIDATES, count)
        by_picture = search_index(
            self.index,
            vectors,
            ranking.top,
            apart_s=ranking.apart,
            candidates=most if most < count else None,
            videos=self.videos,
            first_stage=self.first_stage() if most < count else None,
            medians=medians,
        )
        return [RetrievedMoments(moments, most, "limit" if most < count else "all") for moments in by_picture]
