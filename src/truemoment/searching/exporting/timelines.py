"""Editing timelines by OpenTimelineIO: ``.otio``, ``.edl`` (CMX 3600), ``.xml`` (Final Cut 7, Premiere, Resolve).

Clips stand one after the other, in order of rank. Names are one line of printable characters, since the adapter of EDL
writes line ends as they are, and reels are R001, R002 and so on, since it cuts names to 8 characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from truemoment.base.errors import MissingPackageError, UsageError
from truemoment.searching.exporting.moments import ExportedFilm, ExportedMoment, only_rate
from truemoment.searching.exporting.rates import SMPTE, frames_of_day


def otio_text(moments: Sequence[ExportedMoment], *, names_only: bool = False) -> str:
    """Return an OpenTimelineIO document; films of variable rate count ticks of their clock."""
    otio = _otio()
    return str(otio.adapters.write_to_string(_timeline(otio, moments, names_only=names_only), "otio_json"))


def edl_text(moments: Sequence[ExportedMoment], *, names_only: bool = False) -> str:
    """Return a CMX 3600 edit list; comments name the file of each reel."""
    otio = _otio()
    rate = _rate_of_time_code(moments, ".edl")
    for moment in moments:
        film, day = moment.film, frames_of_day(rate)
        if len(film.table) > day and film.first_frame + moment.last >= day:
            raise UsageError(
                f".edl: a moment of {film.path.name} ends after 24 hours, where time codes begin again; expected "
                ".otio, .fcpxml or --clips"
            )
    if not moments:  # the adapter needs an event
        return "TITLE: no moment\n"
    timeline = _timeline(otio, moments, names_only=names_only)
    text = str(otio.adapters.write_to_string(timeline, "cmx_3600", rate=float(rate)))
    reels = [f"* REEL {reel}: {_file_name(film, names_only)}" for film, reel in _reels(moments).items()]
    return "\n".join([text.rstrip("\n"), *reels]) + "\n"


def fcp7_text(moments: Sequence[ExportedMoment], *, names_only: bool = False) -> str:
    """Return Final Cut 7 XML."""
    otio = _otio()
    _rate_of_time_code(moments, ".xml")
    return str(otio.adapters.write_to_string(_timeline(otio, moments, names_only=names_only), "fcp_xml"))


def _rate_of_time_code(moments: Sequence[ExportedMoment], form: str) -> Fraction:
    """Return the one rate of all films; refuse one that has no time code."""
    rate = only_rate(moments, form)
    if rate not in SMPTE:
        raise UsageError(
            f"{form}: {moments[0].film.path.name} has {rate} frames per second, a rate without time codes; expected "
            ".otio, .fcpxml or --clips"
        )
    return rate


def _timeline(otio: Any, moments: Sequence[ExportedMoment], *, names_only: bool) -> Any:  # noqa: ANN401 - an optional package
    title = moments[0].name if moments else "no moment"
    timeline = otio.schema.Timeline(title)
    track = otio.schema.Track("moments", kind=otio.schema.TrackKind.Video)
    timeline.tracks.append(track)
    reels = _reels(moments)
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

    url = film.path.name if names_only else film.path.resolve().as_uri()
    media = otio.schema.ExternalReference(target_url=url, available_range=span(first, n))
    media.name = film.path.name
    clip = otio.schema.Clip(f"{rank} {moment.name}", media_reference=media, source_range=span(first + start, length))
    start_s, end_s = moment.times_s
    clip.metadata["truemoment"] = {
        "sentence": moment.sentence,
        "score": moment.score,
        "z": moment.z,
        "video_id": film.video_id,
        "start_s": start_s,
        "end_s": end_s,
        "rate": str(film.rate) if film.rate else "variable",
    }
    clip.metadata["cmx_3600"] = {"reel": reel}
    clip.markers.append(otio.schema.Marker(name=moment.name, marked_range=span(first + start, length)))
    return clip


def _rate(rate: Fraction) -> float:
    """Return a rate as the nearest float: OpenTimelineIO counts in floats."""
    return rate.numerator / rate.denominator


def _reels(moments: Sequence[ExportedMoment]) -> dict[ExportedFilm, str]:
    films = dict.fromkeys(moment.film for moment in moments)
    return {film: f"R{number:03d}" for number, film in enumerate(films, start=1)}


def _file_name(film: ExportedFilm, names_only: bool) -> str:
    path = film.path.name if names_only else str(film.path.resolve())
    return "".join(character if character.isprintable() else "?" for character in path)


def _otio() -> Any:  # noqa: ANN401 - as above
    try:
        import opentimelineio  # noqa: PLC0415 - an optional package
    except ImportError:
        raise MissingPackageError("opentimelineio", "timelines", "editing timelines") from None
    return opentimelineio
