"""What is exported: moments of films, as frames and as seconds."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from truemoment.base.boundary.text import one_line
from truemoment.base.errors import UsageError
from truemoment.media.video.stamps import FrameTable, frame_table
from truemoment.searching.exporting.rates import constant_rate
from truemoment.searching.exporting.stated import stated_time_code
from truemoment.searching.exporting.timecodes import TimeCode, read_time_code, time_code_of
from truemoment.searching.pictures import SearchResult
from truemoment.searching.report import SCORE_DIGITS, match_text

NAME_LENGTH = 200
"""Characters of a sentence in the name of a clip; metadata have all of it."""


@dataclass(frozen=True, eq=False)
class ExportedFilm:
    """A video that moments come from.

    Parameters
    ----------
    rate
        Exact frames per second; None for a variable rate.
    start
        Time code of its first frame that was chosen; None for that of the file.
    """

    video_id: str
    path: Path
    table: FrameTable
    rate: Fraction | None
    start: TimeCode | None = None

    @functools.cached_property
    def time_code(self) -> TimeCode | None:
        """Its time code; None for a rate without time codes.

        Raises
        ------
        UsageError
            If the time code of the file does not fit its rate.
        """
        return None if self.rate is None else self.start or stated_time_code(self.path, self.rate)

    @property
    def first_frame(self) -> int:
        """Number of its first frame in its time code; 0 without one."""
        return self.time_code.first if self.time_code else 0


@dataclass(frozen=True, eq=False)
class ExportedMoment:
    """A moment of a film: frames `first` to `last`, both included, and the sentence that found it, with its score.

    `note` is what a person wrote of it.
    """

    film: ExportedFilm
    first: int
    last: int
    sentence: str
    score: float | None = None
    match: float | None = None
    note: str = ""

    @property
    def n_frames(self) -> int:
        """Number of frames."""
        return self.last - self.first + 1

    @property
    def times_s(self) -> tuple[float, float]:
        """Start of the first frame and end of the last, seconds."""
        return self.film.table.moment_s(self.first, self.last)

    @property
    def name(self) -> str:
        """The sentence as one line of printable characters, of bounded length."""
        return one_line(self.sentence)[:NAME_LENGTH]

    @property
    def comment(self) -> str:
        """Match, score and note as one line of bounded length, for the marker of a timeline; "" without any."""
        match = "" if self.match is None else f"match {match_text(self.match)}"
        score = "" if self.score is None else f"score {self.score:.{SCORE_DIGITS}f}"
        return ", ".join(filter(None, (match, score, one_line(self.note)[:NAME_LENGTH])))


def film_of(
    video_id: str, path: Path, time_code: str | None = None, *, table: FrameTable | None = None
) -> ExportedFilm:
    """Read the frame times of a video, its rate, and its time code.

    Parameters
    ----------
    table
        Its frame table, if it was read before.
    time_code
        Time code of the first frame; None for that of the file, if it has one.

    Raises
    ------
    InputError, MissingFileError
        If the video cannot be read.
    UsageError
        If the time code does not fit the rate.
    """
    table = table or frame_table(path)[0]
    rate = constant_rate(table)
    if rate is None:
        if time_code is not None:
            raise UsageError(f"{path}: has a variable frame rate, so there is no time code")
        return ExportedFilm(video_id, path, table, None)
    return ExportedFilm(video_id, path, table, rate, read_time_code(time_code, rate) if time_code is not None else None)


def moments_of(
    searches: Iterable[tuple[str, Sequence[SearchResult]]], time_code: str | None = None
) -> list[ExportedMoment]:
    """Return the moments of sentences in whole frames of their films, in order of sentence and rank."""
    films: dict[Path, ExportedFilm] = {}
    exported = []
    for sentence, results in searches:
        for result in results:
            moment = result.moment
            if result.path not in films:
                films[result.path] = film_of(moment.video_id, result.path, time_code)
            film = films[result.path]
            first, last = film.table.frames_of(moment.start_s, moment.end_s)
            exported.append(ExportedMoment(film, first, last, sentence, moment.score, moment.match))
    return exported


def only_rate(moments: Sequence[ExportedMoment], form: str) -> Fraction:
    """Return the one frame rate of all films.

    Raises
    ------
    UsageError
        If a film has a variable rate, or films have several.
    """
    rates = {moment.film.rate for moment in moments}
    ways = "expected .otio, which has the times of each film, or --clips"
    for moment in moments:
        if moment.film.rate is None:
            raise UsageError(f"{form}: {moment.film.path.name} has a variable frame rate; {ways}")
    if len(rates) > 1:
        listed = " and ".join(sorted(str(rate) for rate in rates))
        raise UsageError(f"{form}: films have {listed} frames per second, expected one rate; {ways}")
    return next(iter(rates), None) or Fraction(25)


def only_time_code(moments: Sequence[ExportedMoment], form: str) -> TimeCode:
    """Return how labels count frames in all films, from 00:00:00:00.

    Raises
    ------
    UsageError
        If a rate has no time codes, or films have several kinds of them.
    """
    rate = only_rate(moments, form)
    codes = {moment.film.time_code and moment.film.time_code._replace(first=0) for moment in moments}
    if len(codes) > 1:
        raise UsageError(
            f"{form}: films have drop-frame and non-drop-frame time codes, expected one kind; choose it with --start "
            "01:00:00:00 or --start '01:00:00;00', or write .otio or .xml"
        )
    code = next(iter(codes), time_code_of(rate))
    if code is None:
        raise UsageError(
            f"{form}: {moments[0].film.path.name} has {rate} frames per second, a rate without time codes; expected "
            ".otio, .fcpxml or --clips"
        )
    return code
