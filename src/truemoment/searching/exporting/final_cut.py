"""Final Cut: ``.xml`` (version 7, which Premiere and Resolve read too) and ``.fcpxml`` (Final Cut Pro X)."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from fractions import Fraction

from truemoment.base.errors import UsageError
from truemoment.searching.exporting.moments import ExportedFilm, ExportedMoment, only_rate
from truemoment.searching.exporting.timecodes import TimeCode, time_code_of
from truemoment.searching.exporting.timelines import title_of, url_of


def fcp7_text(moments: Sequence[ExportedMoment], *, names_only: bool = False) -> str:
    """Return Final Cut 7 XML (``xmeml``), one moment after the other.

    The elements are those of Apple's Final Cut Pro XML Interchange Format. Times are frames, ``in`` and ``out`` count
    from the first frame of the file, and ``timecode`` has the label and the number of that frame.

    Raises
    ------
    UsageError
        If films have several rates, or one without time codes.
    """
    rate = only_rate(moments, ".xml")
    for moment in moments:
        if moment.film.time_code is None:
            raise UsageError(
                f".xml: {moment.film.path.name} has {rate} frames per second, a rate without time codes; expected "
                ".otio, .fcpxml or --clips"
            )
    first = moments[0].film.time_code if moments else time_code_of(rate)
    root = ET.Element("xmeml", version="4")
    project = ET.SubElement(root, "project")
    _add(project, "name", title_of(moments))
    sequence = ET.SubElement(ET.SubElement(project, "children"), "sequence", id="sequence-1")
    _add(sequence, "name", title_of(moments))
    _add(sequence, "duration", sum(moment.n_frames for moment in moments))
    _add_rate(sequence, rate)
    if first is not None:
        _add_time_code(sequence, first._replace(first=0), rate)
    track = ET.SubElement(ET.SubElement(ET.SubElement(sequence, "media"), "video"), "track")
    files: dict[ExportedFilm, str] = {}
    at = 0
    for rank, moment in enumerate(moments, start=1):
        item = ET.SubElement(track, "clipitem", id=f"clipitem-{rank}")
        _add(item, "name", f"{rank} {moment.name}")
        _add(item, "duration", len(moment.film.table))
        _add_rate(item, rate)
        _add(item, "start", at)
        at += moment.n_frames
        _add(item, "end", at)
        _add(item, "in", moment.first)
        _add(item, "out", moment.last + 1)
        is_new = moment.film not in files
        file = ET.SubElement(item, "file", id=files.setdefault(moment.film, f"file-{len(files) + 1}"))
        if is_new:
            _describe(file, moment.film, rate, names_only=names_only)
        marker = ET.SubElement(item, "marker")
        _add(marker, "name", moment.name)
        _add(marker, "comment", " - ".join(filter(None, (moment.sentence, moment.comment))))
        _add(marker, "in", moment.first)
        _add(marker, "out", moment.last + 1)
    return _document(root, "xmeml")


def _describe(file: ET.Element, film: ExportedFilm, rate: Fraction, *, names_only: bool) -> None:
    """Add to a file its name, address, rate, length and time code."""
    _add(file, "name", film.path.name)
    _add(file, "pathurl", url_of(film, names_only=names_only))
    _add_rate(file, rate)
    _add(file, "duration", len(film.table))
    if film.time_code is not None:
        _add_time_code(file, film.time_code, rate)
    media = ET.SubElement(file, "media")
    ET.SubElement(media, "video")
    ET.SubElement(media, "audio")


def _add(parent: ET.Element, tag: str, value: object) -> None:
    ET.SubElement(parent, tag).text = _xml_text(str(value))


def _add_rate(parent: ET.Element, rate: Fraction) -> None:
    element = ET.SubElement(parent, "rate")
    _add(element, "timebase", round(rate))
    _add(element, "ntsc", "TRUE" if rate.denominator == 1001 else "FALSE")


def _add_time_code(parent: ET.Element, code: TimeCode, rate: Fraction) -> None:
    element = ET.SubElement(parent, "timecode")
    _add_rate(element, rate)
    _add(element, "string", code.label(0))
    _add(element, "frame", code.first)
    _add(element, "displayformat", _display(code))


def fcpxml_text(moments: Sequence[ExportedMoment], *, names_only: bool = False) -> str:
    """Return a project of Final Cut Pro X (FCPXML 1.9), one moment after the other; times are whole numbers of frames.

    The elements ``format``, ``asset``, ``sequence``, ``spine``, ``asset-clip`` and ``marker`` are those of Apple's
    FCPXML reference. ``tcFormat`` states whether time codes drop frames.
    """
    rate = only_rate(moments, ".fcpxml")
    root = ET.Element("fcpxml", version="1.9")
    resources = ET.SubElement(root, "resources")
    ET.SubElement(resources, "format", id="r1", frameDuration=_seconds(1, rate))
    films = {film: f"r{number}" for number, film in enumerate(dict.fromkeys(m.film for m in moments), start=2)}
    for film, key in films.items():
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
        ET.SubElement(asset, "media-rep", kind="original-media", src=url_of(film, names_only=names_only))
    event = ET.SubElement(ET.SubElement(root, "library"), "event", name="TrueMoment")
    project = ET.SubElement(event, "project", name=_xml_text(title_of(moments)))
    total = sum(moment.n_frames for moment in moments)
    first = moments[0].film.time_code if moments else None
    fields = {"format": "r1", "duration": _seconds(total, rate), "tcStart": "0s"}
    sequence = ET.SubElement(project, "sequence", fields | _format_of(first))
    spine = ET.SubElement(sequence, "spine")
    offset = 0
    for rank, moment in enumerate(moments, start=1):
        fields = {
            "ref": films[moment.film],
            "name": _xml_text(f"{rank} {moment.name}"),
            "offset": _seconds(offset, rate),
            "start": _seconds(moment.film.first_frame + moment.first, rate),
            "duration": _seconds(moment.n_frames, rate),
        }
        clip = ET.SubElement(spine, "asset-clip", fields | _format_of(moment.film.time_code))
        ET.SubElement(clip, "note").text = _xml_text(moment.sentence)
        marker = {"start": fields["start"], "duration": _seconds(1, rate), "value": _xml_text(moment.name)}
        ET.SubElement(clip, "marker", marker | {"note": _xml_text(moment.comment)})
        offset += moment.n_frames
    return _document(root, "fcpxml")


def _seconds(frames: int, rate: Fraction) -> str:
    """Return a time as a fraction of seconds that is a whole number of frames.

    Examples
    --------
    >>> _seconds(30, Fraction(30000, 1001)), _seconds(0, Fraction(25))
    ('30030/30000s', '0s')
    """
    return f"{frames * rate.denominator}/{rate.numerator}s" if frames else "0s"


def _format_of(code: TimeCode | None) -> dict[str, str]:
    return {"tcFormat": _display(code)} if code else {}


def _display(code: TimeCode | None) -> str:
    return "DF" if code and code.drops else "NDF"


def _document(root: ET.Element, kind: str) -> str:
    ET.indent(root)
    body = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE {kind}>\n{body}\n'


def _xml_text(text: str) -> str:
    """Return a text without characters that XML does not allow."""
    return "".join(c if c.isprintable() else " " for c in text)
