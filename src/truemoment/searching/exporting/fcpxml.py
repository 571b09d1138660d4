"""Final Cut Pro X: a flat sequence as FCPXML 1.9; every time is a whole number of frames.

The adapter of OpenTimelineIO writes an empty ``frameDuration`` at 29.97 and times that are no whole frames, hence by
hand. Source: Apple's FCPXML reference (elements ``format``, ``asset``, ``sequence``, ``spine``, ``asset-clip``).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from fractions import Fraction

from truemoment.searching.exporting.moments import ExportedMoment, only_rate


def fcpxml_text(moments: Sequence[ExportedMoment], *, names_only: bool = False) -> str:
    """Return the moments as a project of Final Cut Pro X, one after the other."""
    rate = only_rate(moments, ".fcpxml")
    root = ET.Element("fcpxml", version="1.9")
    resources = ET.SubElement(root, "resources")
    ET.SubElement(resources, "format", id="r1", frameDuration=_time(1, rate))
    films = {film: f"r{number}" for number, film in enumerate(dict.fromkeys(m.film for m in moments), start=2)}
    for film, key in films.items():
        source = film.path.name if names_only else film.path.resolve().as_uri()
        asset = ET.SubElement(
            resources,
            "asset",
            id=key,
            name=_printable(film.path.name),
            start=_time(film.first_frame, rate),
            duration=_time(len(film.table), rate),
            format="r1",
            hasVideo="1",
        )
        ET.SubElement(asset, "media-rep", kind="original-media", src=source)
    event = ET.SubElement(ET.SubElement(root, "library"), "event", name="TrueMoment")
    title = moments[0].name if moments else "no moment"
    project = ET.SubElement(event, "project", name=_printable(title))
    total = sum(moment.n_frames for moment in moments)
    sequence = ET.SubElement(project, "sequence", format="r1", duration=_time(total, rate), tcStart="0s")
    spine = ET.SubElement(sequence, "spine")
    offset = 0
    for rank, moment in enumerate(moments, start=1):
        clip = ET.SubElement(
            spine,
            "asset-clip",
            ref=films[moment.film],
            name=_printable(f"{rank} {moment.name}"),
            offset=_time(offset, rate),
            start=_time(moment.film.first_frame + moment.first, rate),
            duration=_time(moment.n_frames, rate),
        )
        ET.SubElement(clip, "note").text = _printable(moment.sentence)
        offset += moment.n_frames
    ET.indent(root)
    body = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE fcpxml>\n{body}\n'


def _time(frames: int, rate: Fraction) -> str:
    """Return a time as a fraction of seconds that is a whole number of frames.

    Examples
    --------
    >>> _time(30, Fraction(30000, 1001)), _time(0, Fraction(25))
    ('30030/30000s', '0s')
    """
    return f"{frames * rate.denominator}/{rate.numerator}s" if frames else "0s"


def _printable(text: str) -> str:
    """Return a text without characters that XML cannot hold."""
    return "".join(c if c.isprintable() else " " for c in text)
