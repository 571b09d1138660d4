"""Edit lists: ``.edl`` (CMX 3600), an event for each moment, and comments with its sentence and file."""

from __future__ import annotations

from collections.abc import Sequence

from truemoment.base.boundary.text import one_line
from truemoment.base.errors import UsageError
from truemoment.searching.exporting.moments import ExportedFilm, ExportedMoment, only_time_code
from truemoment.searching.exporting.timelines import reels_of, title_of

MOST_BASE = 99
"""Frames a second of labels with two digits."""


def edl_text(moments: Sequence[ExportedMoment], *, names_only: bool = False) -> str:
    """Return a CMX 3600 edit list; the line FCM states whether its time codes drop frames.

    Programs relink by FROM CLIP NAME, the name of the file. Premiere loses it where a comment FROM CLIP or FROM FILE
    follows (OpenTimelineIO, issue 1178), so paths are in comments of the reels.

    Raises
    ------
    UsageError
        If films have several rates or kinds of time codes, or a time code begins again within the list.
    """
    record = only_time_code(moments, ".edl")
    if record.base > MOST_BASE:
        raise UsageError(
            f".edl: {moments[0].film.path.name} has {record.base} frames per second, expected up to {MOST_BASE}; write "
            ".otio, .xml, .fcpxml or --clips"
        )
    for moment in moments:
        film, day = moment.film, record.day
        if len(film.table) > day and film.first_frame + moment.last >= day:
            raise UsageError(
                f".edl: a moment of {film.path.name} ends after 24 hours, where time codes begin again; expected "
                ".otio, .fcpxml or --clips"
            )
    lines = [f"TITLE: {title_of(moments)}", f"FCM: {'DROP FRAME' if record.drops else 'NON-DROP FRAME'}", ""]
    reels = reels_of(moments)
    at = 0
    for rank, moment in enumerate(moments, start=1):
        source = moment.film.time_code or record
        mark = " - ".join(filter(None, (moment.name, moment.comment)))
        times = (
            *(source.label(frame) for frame in (moment.first, moment.last + 1)),
            *(record.label(frame) for frame in (at, at + moment.n_frames)),
        )
        lines += [
            f"{rank:03d}  {reels[moment.film]:<8} V     C        {' '.join(times)}",
            f"* FROM CLIP NAME: {one_line(moment.film.path.name)}",
            f"* LOC: {source.label(moment.first)} RED     {rank} {mark}",
        ]
        at += moment.n_frames
    lines += [f"* REEL {reel}: {_file_name(film, names_only)}" for film, reel in reels.items()]
    return "\n".join(lines) + "\n"


def _file_name(film: ExportedFilm, names_only: bool) -> str:
    path = film.path.name if names_only else str(film.path.resolve())
    return "".join(character if character.isprintable() else "?" for character in path)
