"""``truemoment.search``: the moments of a video that a sentence describes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from truemoment.base.boundary.files import write_text
from truemoment.base.boundary.text import short_line
from truemoment.base.request import function_of
from truemoment.report.model import Report
from truemoment.report.result import Result
from truemoment.searching import report as reports
from truemoment.searching.exporting.formats import check_ending, export_text
from truemoment.searching.exporting.moments import moments_of
from truemoment.searching.index import Index
from truemoment.searching.pictures import Pictures, SearchResult, with_ranks
from truemoment.searching.request import MomentFiles, SentenceSearch
from truemoment.searching.session import SearchSession, open_session
from truemoment.searching.stopping import RetrievedMoments


@dataclass(frozen=True, repr=False, eq=False)
class FoundMoments(Result):
    """Moments of one sentence, best first; they report themselves.

    Parameters
    ----------
    query
        The sentence.
    moments
        Rank, video, start and end in seconds, score, match.
    index
        The index that was searched.
    answer
        How many videos were scored exactly, what ended the search, and the words that the model does not know.
    is_of_speech
        Whether only what is said was searched.
    """

    query: str
    moments: tuple[SearchResult, ...]
    index: Index
    answer: RetrievedMoments
    is_of_speech: bool = False

    def report(self) -> Report:
        """Return the report for people."""
        return reports.report(self.query, self.moments, self.index, self.answer.unknown)

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment search --json`` writes it."""
        return reports.document(self.query, self.moments, self.index, self.answer)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row a moment: video, start and end in seconds, score, match, why it was found, what is said."""
        return [
            {
                "rank": result.rank,
                "video": result.moment.video_id,
                "start_s": result.moment.start_s,
                "end_s": result.moment.end_s,
                "score": result.moment.score,
                "match": result.moment.match,
                **reports.reason(result.moment),
            }
            for result in self.moments
        ]

    def csv(self) -> str:
        """Return the moments as CSV, seconds in full."""
        return reports.as_csv(self.query, self.moments)

    def export_text(self, file: Path, *, start: str | None = None, names_only: bool = False) -> str:
        """Return the moments in the format of a file's ending.

        Parameters
        ----------
        file
            The file, which is not written.
        start
            Time code of a video's first frame; None for its own.
        names_only
            Whether timelines name video files without their folders.
        """
        with_paths = [replace(result, path=self.index.path_of(result.moment.video_id)) for result in self.moments]
        moments = moments_of(self.query, with_paths, start)
        return export_text(moments, check_ending(file), names_only=names_only)

    @property
    def no_moment(self) -> str:
        """Why there is no moment, where there is none."""
        if not self.is_of_speech:
            return "no moment: the videos have no frame"
        return f'no moment: no word of "{short_line(self.query)}" is said in the videos'

    def __repr__(self) -> str:
        """Return the sentence and the best moment, in one line."""
        if not self.moments:
            return f"Search for {self.query!r}: no moment"
        best = self.moments[0].moment
        return f"Search for {self.query!r}: {best.start_s:.1f} to {best.end_s:.1f} s of {best.video_id}"


def write_moments(
    result: FoundMoments,
    files: MomentFiles,
    track: Callable[[list[SearchResult]], Iterable[SearchResult]] = iter,
) -> tuple[FoundMoments, Pictures]:
    """Write the pictures, clips, table and export of moments, but no page; return the moments with their files.

    `track` wraps the moments, e.g. in a progress bar.
    """
    pictures = Pictures(result.index, files.thumbnails, files.clips, in_memory=files.html is not None)
    result = replace(result, moments=tuple(pictures.add(list(result.moments), track)))
    if files.csv is not None and files.csv != Path("-"):
        write_text(files.csv, result.csv())
    if files.out is not None:
        write_text(files.out, result.export_text(files.out, start=files.start, names_only=files.names_only))
    return result, pictures


def find_moments(session: SearchSession, query: str) -> FoundMoments:
    """Return the moments that a sentence describes, best first."""
    answer = session.find(query)
    moments = tuple(with_ranks(session.index, answer.moments))
    is_of_speech = session.speech is not None and not session.ranking.seen
    return FoundMoments(query, moments, session.index, answer, is_of_speech)


def run(request: SentenceSearch) -> FoundMoments:
    """Find the moments of a video, or of an index of videos, that a sentence describes or whose words are said.

    Parameters
    ----------
    query
        The sentence.
    target
        A video, which is indexed beside it first, or an index.

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
    with open_session(request.search_target(Path(request.target)), request) as session:
        return find_moments(session, request.query)


search = function_of(SentenceSearch, run, "search")
