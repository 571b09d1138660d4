"""Editing timelines: ``.otio``, ``.edl`` (CMX 3600) and ``.xml`` (Final Cut 7, Premiere, Resolve); ``.fcpxml``.

OpenTimelineIO makes the first three. Clips follow each other in order of rank. Names are one line of printable
characters, since the adapter of EDL writes line ends as they are, and reels are R001, R002 and so on, since it cuts
names to 8 characters.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
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


# --------------------------------------------------------------------------------------- Final Cut Pro X


def fcpxml_text(moments: Sequence[ExportedMoment], *, names_only: bool = False) -> str:
    """Return a project of Final Cut Pro X (FCPXML 1.9), one moment after the other; times are whole numbers of frames.

    The adapter of OpenTimelineIO writes an empty ``frameDuration`` at 29.97 and times that are no whole frames, so this
    writes the elements ``format``, ``asset``, ``sequence``, ``spine`` and ``asset-clip`` of Apple's FCPXML reference.
    """
    rate = only_rate(moments, ".fcpxml")
    root = ET.Element("fcpxml", version="1.9")
    resources = ET.SubElement(root, "resources")
    ET.SubElement(resources, "format", id="r1", frameDuration=_seconds(1, rate))
    films = {film: f"r{number}" for number, film in enumerate(dict.fromkeys(m.film for m in moments), start=2)}
    for film, key in films.items():
        source = film.path.name if names_only else film.path.resolve().as_uri()
        asset = ET.SubElement(
            resources,
            "asset",
            id=key,
            name=_xml_text(film.path.name),
            start=_seconds(film.first_frame, rate),
            duration=_seconds(len(film.table), rate),
            format="r1",
            hasVideo="1",
        )
        ET.SubElement(asset, "media-rep", kind="original-media", src=source)
    event = ET.SubElement(ET.SubElement(root, "library"), "event", name="TrueMoment")
    title = moments[0].name if moments else "no moment"
    project = ET.SubElement(event, "project", name=_xml_text(title))
    total = sum(moment.n_frames for moment in moments)
    sequence = ET.SubElement(project, "sequence", format="r1", duration=_seconds(total, rate), tcStart="0s")
    spine = ET.SubElement(sequence, "spine")
    offset = 0
    for rank, moment in enumerate(moments, start=1):
        clip = ET.SubElement(
            spine,
            "asset-clip",
            ref=films[moment.film],
            name=_xml_text(f"{rank} {moment.name}"),
            offset=_seconds(offset, rate),
            start=_seconds(moment.film.first_frame + moment.first, rate),
            duration=_seconds(moment.n_frames, rate),
        )
        ET.SubElement(clip, "note").text = _xml_text(moment.sentence)
        offset += moment.n_frames
    ET.indent(root)
    body = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE fcpxml>\n{body}\n'


def _seconds(frames: int, rate: Fraction) -> str:
    """Return a time as a fraction of seconds that is a whole number of frames.

    Examples
    --------
    >>> _seconds(30, Fraction(30000, 1001)), _seconds(0, Fraction(25))
    ('30030/30000s', '0s')
    """
    return f"{frames * rate.denominator}/{rate.numerator}s" if frames else "0s"


def _xml_text(text: str) -> str:
    """Return a text without characters that XML does not allow."""
    return "".join(c if c.isprintable() else " " for c in text)
