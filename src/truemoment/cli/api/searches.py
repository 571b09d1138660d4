"""``truemoment.search``: the moments of a video that a sentence describes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truemoment.report.model import Report
from truemoment.report.result import Result
from truemoment.searching import report as reports
from truemoment.searching.encoder_options import EncoderOptions
from truemoment.searching.index import Index
from truemoment.searching.pictures import SearchResult, ranked
from truemoment.searching.searcher import IndexSearcher, RankingOptions
from truemoment.searching.session import SearchSession, SearchTarget
from truemoment.searching.stopping import RetrievedMoments


@dataclass(frozen=True, repr=False, eq=False)
class FoundMoments(Result):
    """Moments of one sentence, best first; they report themselves.

    Parameters
    ----------
    query
        The sentence.
    moments
        Rank, video, start and end in seconds, score, z.
    index
        The index that was searched.
    answer
        How many videos were scored exactly, what ended the search, and the words that the model does not know.
    """

    query: str
    moments: tuple[SearchResult, ...]
    index: Index
    answer: RetrievedMoments

    def report(self) -> Report:
        """Return the report for people."""
        return reports.report(self.query, self.moments, self.index, self.answer.unknown)

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment search --json`` writes it."""
        return reports.document(self.query, self.moments, self.index, self.answer)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row a moment: video, start and end in seconds, score, z."""
        return [
            {
                "rank": result.rank,
                "video": result.moment.video_id,
                "start_s": result.moment.start_s,
                "end_s": result.moment.end_s,
                "score": result.moment.score,
                "z": result.moment.z,
            }
            for result in self.moments
        ]

    def __repr__(self) -> str:
        """Return the sentence and the best moment, in one line."""
        if not self.moments:
            return f"Search for {self.query!r}: no moment"
        best = self.moments[0].moment
        return f"Search for {self.query!r}: {best.start_s:.1f} to {best.end_s:.1f} s of {best.video_id}"


def search(
    query: str,
    target: str | os.PathLike[str],
    *,
    top: int = 10,
    apart_s: float = 5.0,
    exact: bool = False,
    model: str | None = None,
    fps: float | None = None,
    device: str | None = None,
) -> FoundMoments:
    """Find the moments of a video, or of an index of videos, that a sentence describes.

    Parameters
    ----------
    query
        The sentence.
    target
        A video, which is indexed beside it first, or an index.
    top
        Number of moments.
    apart_s
        Minimum time between two moments of a video, seconds.
    exact
        Whether all videos are scored exactly, and not only those that a first stage chooses.
    model, fps, device
        Model that embeds frames and sentences, frames per second of a video that is indexed, and device.
        [default: those of the index; a CLIP model]

    Returns
    -------
    FoundMoments
        It shows its report in a notebook.

    Raises
    ------
    UsageError
        If the options do not fit the index.
    MissingFileError, InputError, MissingPackageError
        If there is no such video or index, it is damaged, or a package of the extra ``search`` is missing.
    """
    options = EncoderOptions(model, fps, None, device)
    index, videos = SearchTarget(Path(target), options).open_index()
    searcher = IndexSearcher(index, RankingOptions(top, apart_s, exact, None), videos)
    answer = SearchSession(searcher, options).find(query)
    return FoundMoments(query, tuple(ranked(index, answer.moments)), index, answer)
