"""Editing timelines: ``.otio``, and what all of them share.

Clips follow each other in order of rank. Names are one line of printable characters. Edit lists cut names of reels to 8
characters, so reels are R001, R002 and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from truemoment.base.errors import MissingPackageError
from truemoment.report.words import counted
from truemoment.searching.exporting.moments import ExportedFilm, ExportedMoment
from truemoment.searching.exporting.timecodes import TimeCode


def otio_text(moments: Sequence[ExportedMoment], *, names_only: bool = False) -> str:
    """Return an OpenTimelineIO document; films of variable rate count ticks of their clock."""
    try:
        import opentimelineio as otio  # noqa: PLC0415 - an optional package
    except ImportError:
        raise MissingPackageError("opentimelineio", "timelines", "editing timelines") from None
    return str(otio.adapters.write_to_string(_timeline(otio, moments, names_only=names_only), "otio_json"))


def _timeline(otio: Any, moments: Sequence[ExportedMoment], *, names_only: bool) -> Any:  # noqa: ANN401 - an optional package
    timeline = otio.schema.Timeline(title_of(moments))
    track = otio.schema.Track("moments", kind=otio.schema.TrackKind.Video)
    timeline.tracks.append(track)
    reels = reels_of(moments)
    for rank, moment in enumerate(moments, start=1):
        track.append(_clip(otio, moment, rank, reels[moment.film], names_only=names_only))
    return timeline


def _clip(otio: Any, moment: ExportedMoment, rank: int, reel: str, *, names_only: bool) -> Any:  # noqa: ANN401 - as above
    film = moment.film
    if film.rate is not None:
        rate, start, length, first, n = film.rate, moment.first, moment.n_frames, film.first_frame, len(film.table)
    else:
        ends = [*film.table.starts.tolist(), film.table.end]
        rate, first, n = 1 / film.table.tick, ends[0], ends[-1] - ends[0]
        start, length = ends[moment.first] - first, ends[moment.last + 1] - ends[moment.first]

    def span(at: int, count: int) -> Any:  # noqa: ANN401 - as above
        time = otio.opentime.RationalTime
        return otio.opentime.TimeRange(time(at, _rate(rate)), time(count, _rate(rate)))

    media = otio.schema.ExternalReference(
        target_url=url_of(film, names_only=names_only), available_range=span(first, n)
    )
    media.name = film.path.name
    clip = otio.schema.Clip(f"{rank} {moment.name}", media_reference=media, source_range=span(first + start, length))
    start_s, end_s = moment.times_s
    clip.metadata["truemoment"] = {
        "sentence": moment.sentence,
        "score": moment.score,
        "match": moment.match,
        "note": moment.note,
        "video_id": film.video_id,
        "start_s": start_s,
        "end_s": end_s,
        "rate": str(film.rate) if film.rate else "variable",
        **(_labels(film.time_code, moment) if film.time_code else {}),
    }
    clip.metadata["cmx_3600"] = {"reel": reel}
    marked = span(first + start, length)
    clip.markers.append(otio.schema.Marker(name=moment.name, marked_range=marked, comment=moment.comment))
    return clip


def _rate(rate: Fraction) -> float:
    """Return a rate as the nearest float: OpenTimelineIO counts in floats."""
    return rate.numerator / rate.denominator


def _labels(code: TimeCode, moment: ExportedMoment) -> dict[str, object]:
    """Return what frame numbers do not show: whether labels drop frames, and those of the first frame and the end."""
    return {
        "drop_frame": code.drops,
        "source_in": code.label(moment.first),
        "source_out": code.label(moment.last + 1),
    }


def reels_of(moments: Sequence[ExportedMoment]) -> dict[ExportedFilm, str]:
    """Return the name of the reel of each film."""
    films = dict.fromkeys(moment.film for moment in moments)
    return {film: f"R{number:03d}" for number, film in enumerate(films, start=1)}


def title_of(moments: Sequence[ExportedMoment]) -> str:
    """Return the title of a timeline: the first sentence, and how many others there are."""
    names = list(dict.fromkeys(moment.name for moment in moments)) or ["no moment"]
    return names[0] if len(names) == 1 else f"{names[0]} and {counted(len(names) - 1, 'other')}"


def url_of(film: ExportedFilm, *, names_only: bool) -> str:
    """Return the address of a film, or its name."""
    return film.path.name if names_only else film.path.resolve().as_uri()
