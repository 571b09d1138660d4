"""ELAN's annotation documents (.eaf): the annotations of every tier, times in milliseconds."""

from __future__ import annotations

import math
from pathlib import PurePath

from truemoment.base.boundary.files import read_number
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.boundary.xml_files import XmlElement, read_xml
from truemoment.base.errors import InputError
from truemoment.data.datasets.entries import ReferenceEntry
from truemoment.data.formats.head import Head
from truemoment.data.references.base import ReferenceForm, ReferenceOptions, VideoNames, checked_time, merged

_VIDEO, _TIMED, _DEPENDENT = "video/", "ALIGNABLE_ANNOTATION", "REF_ANNOTATION"


def _recognise(head: Head) -> str | None:
    return "it has an ANNOTATION_DOCUMENT" if b"<ANNOTATION_DOCUMENT" in head.data[:4096] else None


def _read(path: AnyPath, how: ReferenceOptions) -> list[ReferenceEntry]:
    root = read_xml(path)
    video_id = _video_of(root, path)
    time_s = _time_slots(root, path)
    elements = [
        (tier, element)
        for tier in root.all("TIER")
        for annotation in tier.all("ANNOTATION")
        for element in annotation.children
    ]
    by_id = {element.attributes.get("ANNOTATION_ID", ""): element for _, element in elements}
    entries, n_untimed, n_empty = [], 0, 0
    for tier, element in elements:
        text = element.text_at("ANNOTATION_VALUE")
        timed = _timed(element, by_id, path)
        slots = [timed.attributes.get(f"TIME_SLOT_REF{k}", "") for k in (1, 2)]
        unknown = next((slot for slot in slots if slot not in time_s), None)
        if unknown is not None:
            problem = f"got the time slot {unknown!r}, expected one of TIME_ORDER"
            raise InputError(problem, path=path, line=timed.line)
        start_s, end_s = (time_s[slot] for slot in slots)
        if start_s is None or end_s is None:
            n_untimed += 1
        elif not text:
            n_empty += 1
        else:
            annotator = tier.attributes.get("ANNOTATOR", "")
            entries.append(
                ReferenceEntry(
                    video_id, text, [(start_s, end_s)], annotators=[annotator] if annotator else (), line=element.line
                )
            )
    how.note_left_out(path, n_untimed, "annotations without times")
    how.note_left_out(path, n_empty, "annotations without text")
    return merged(entries)


def _video_of(root: XmlElement, path: AnyPath) -> str:
    """Return the video's id: by its file, or by the document where that names none."""
    units = next((header.attributes.get("TIME_UNITS", "milliseconds") for header in root.all("HEADER")), "milliseconds")
    if units != "milliseconds":
        raise InputError(f"got {units!r}, expected milliseconds", path=path, field="TIME_UNITS")
    media = [element.attributes for element in root.all("HEADER", "MEDIA_DESCRIPTOR")]
    media.sort(key=lambda about: not about.get("MIME_TYPE", "").startswith(_VIDEO))
    names = (about.get("MEDIA_URL") or about.get("RELATIVE_MEDIA_URL", "") for about in media)
    source = next(filter(None, names), None)
    return PurePath(path.name).stem if source is None else VideoNames(path).id_of(source)


def _time_slots(root: XmlElement, path: AnyPath) -> dict[str, float | None]:
    """Return the time of each slot in seconds; None for one without a time."""
    time_s: dict[str, float | None] = {}
    for slot in root.all("TIME_ORDER", "TIME_SLOT"):
        name, value = slot.attributes.get("TIME_SLOT_ID", ""), slot.attributes.get("TIME_VALUE")
        if name in time_s:
            raise InputError(f"got the time slot {name!r} twice, expected it once", path=path, line=slot.line)
        milliseconds = read_number(value)
        if value is not None and math.isnan(milliseconds):
            problem = f"got {value[:40]!r}, expected milliseconds"
            raise InputError(problem, path=path, line=slot.line, field="TIME_VALUE")
        place = {"line": slot.line, "field": "TIME_VALUE"}
        time_s[name] = None if value is None else checked_time(milliseconds / 1000, path, **place)  # type: ignore[arg-type]
    return time_s


def _timed(element: XmlElement, by_id: dict[str, XmlElement], path: AnyPath) -> XmlElement:
    """Return the annotation that has the times of one: itself, or what it refers to."""
    timed, steps = element, 0
    while timed.tag == _DEPENDENT and steps <= len(by_id):
        timed, steps = by_id.get(timed.attributes.get("ANNOTATION_REF", ""), timed), steps + 1
    if timed.tag != _TIMED:
        problem = f"got an annotation that refers to {element.attributes.get('ANNOTATION_REF', '')!r}"
        raise InputError(f"{problem}, expected one with times", path=path, line=element.line)
    return timed


FORM = ReferenceForm("elan", "ELAN document (.eaf), an annotation a sentence", _recognise, _read)
