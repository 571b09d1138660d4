"""``truemoment.search``: the moments of a video that a sentence describes, or that are like a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
from truemoment.searching.layout import Settings
from truemoment.searching.listing import BEST, MomentListing
from truemoment.searching.pictures import Pictures, SearchResult, with_ranks
from truemoment.searching.query_picture import QueryPicture
from truemoment.searching.request import MomentFiles, SentenceSearch
from truemoment.searching.session import SearchSession, open_session
from truemoment.searching.stopping import RetrievedMoments
from truemoment.studies.request import path_of


@dataclass(frozen=True, repr=False, eq=False)
class FoundMoments(Result):
    """Moments of one sentence or picture, best first; they report themselves.

    Parameters
    ----------
    query
        The sentence; "like" and the name of its file for a picture.
    moments
        Rank, video, start and end in seconds, score, match.
    index
        The index that was searched.
    answer
        How many videos were scored exactly, what ended the search, and the words that the model does not know.
    n_searched
        Number of videos that were searched.
    models
        Name and settings of each model that searched.
    listing
        Which moments are listed; sequences are moments with parts.
    image
        File of the picture; None for a sentence.
    is_of_speech
        Whether only what is said was searched.
    """

    query: str
    moments: tuple[SearchResult, ...]
    index: Index
    answer: RetrievedMoments
    n_searched: int
    models: Mapping[str, Settings]
    listing: MomentListing = BEST
    image: Path | None = None
    is_of_speech: bool = False

    @property
    def title(self) -> str:
        """The sentence, or the sentences of a sequence."""
        return self.listing.title(self.query)

    def report(self) -> Report:
        """Return the report for people."""
        if self.image is not None:
            return reports.report_of_picture(self.query, self.moments, self.index, self.answer, models=self.models)
        return reports.report(self.query, self.moments, self.index, self.answer, self.listing, models=self.models)

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment search --json`` writes it."""
        return {
            **reports.document(self.query, self.moments, self.index, self.answer, self.listing, models=self.models),
            "image": self.image,
            "n_searched": self.n_searched,
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return a row a moment: video, start and end in seconds, score, match, why it was found, what is said."""
        return [
            {
                "rank": result.rank,
                "video": result.moment.video_id,
                **reports.place_and_score(result.moment),
                **reports.reason(result.moment),
            }
            for result in self.moments
        ]

    def csv(self) -> str:
        """Return the moments as CSV, seconds in full."""
        return reports.as_csv(self.title, self.moments)

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
        return timeline_text([self], file, start=start, names_only=names_only)

    @property
    def no_moment(self) -> str:
        """Why there is no moment, where there is none."""
        if not self.is_of_speech:
            return f"no moment: {self.listing.why_nothing}"
        return f'no moment: no word of "{short_line(self.query)}" is said in the videos'

    def __repr__(self) -> str:
        """Return the sentence and the best moment, in one line."""
        if not self.moments:
            return f"Search for {self.title!r}: no moment"
        best = self.moments[0].moment
        return f"Search for {self.title!r}: {best.start_s:.1f} to {best.end_s:.1f} s of {best.video_id}"


def timeline_text(
    searches: Sequence[FoundMoments], file: Path, *, start: str | None = None, names_only: bool = False
) -> str:
    """Return the moments of several searches one after the other (parameters: :meth:`FoundMoments.export_text`)."""
    with_paths = [
        (
            search.title,
            [replace(result, path=search.index.path_of(result.moment.video_id)) for result in search.moments],
        )
        for search in searches
    ]
    return export_text(moments_of(with_paths, start), check_ending(file), names_only=names_only)


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


def find_moments(session: SearchSession, query: str, listing: MomentListing = BEST) -> FoundMoments:
    """Return the moments that a sentence describes, or as a listing asks for them, best first."""
    answer = session.find(query, listing)
    moments = tuple(with_ranks(session.index, answer.moments))
    is_of_speech = session.speech is not None and not session.ranking.seen
    models, n_videos = session.models, len(session.videos)
    return FoundMoments(query, moments, session.index, answer, n_videos, models, listing, is_of_speech=is_of_speech)


def find_like(session: SearchSession, picture: QueryPicture) -> FoundMoments:
    """Return the moments that are like a picture, best first."""
    answer = session.find_like(picture)
    moments = tuple(with_ranks(session.index, answer.moments))
    models, n_videos = session.models, len(session.videos)
    return FoundMoments(picture.query, moments, session.index, answer, n_videos, models, image=picture.path)


def run(request: SentenceSearch) -> FoundMoments:
    """Find the moments that a sentence describes, in which its words are said, or that are like a picture.

    Parameters
    ----------
    query
        The sentence; None for a picture, which `image` names.
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
    picture = None if (image := path_of(request.image)) is None else QueryPicture.read(image)
    with open_session(request.search_target(Path(request.target)), request, narrowing=request) as session:
        return find_moments(session, request.query or "", request) if picture is None else find_like(session, picture)


search = function_of(SentenceSearch, run, "search")
