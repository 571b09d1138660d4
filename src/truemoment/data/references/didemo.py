"""The form of DiDeMo: a list of ``video``, ``description`` and ``times``, 5-second segments by annotator."""

from __future__ import annotations

import math

import msgspec

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.base.intervals import segments_to_seconds
from truemoment.data.datasets.didemo import SEGMENT_LENGTH_S, Segments
from truemoment.data.datasets.entries import ReferenceEntry
from truemoment.data.formats.entries import read_entries
from truemoment.data.formats.head import Head
from truemoment.data.references.base import ReferenceForm, ReferenceOptions


class SegmentedVideo(msgspec.Struct):
    """An entry of the file; copies lack some of its fields."""

    video: str
    description: str
    times: list[tuple[Segments, Segments]]
    annotation_id: int | str | None = None
    num_segments: Segments | None = None


def _recognise(head: Head) -> str | None:
    return "its entries have description and times" if {"video", "description", "times"} <= head.entry_keys else None


def _read(path: AnyPath, _: ReferenceOptions) -> list[ReferenceEntry]:
    entries = []
    for line, entry in read_entries(path, SegmentedVideo):
        if not entry.times:
            raise InputError("got no moment, expected at least one", path=path, line=line, field="times")
        first, last = zip(*entry.times, strict=True)
        start_s, end_s = segments_to_seconds(first, last, SEGMENT_LENGTH_S)
        entries.append(
            ReferenceEntry(
                entry.video,
                entry.description,
                list(zip(start_s.tolist(), end_s.tolist(), strict=True)),
                math.nan if entry.num_segments is None else SEGMENT_LENGTH_S * entry.num_segments,
                None if entry.annotation_id is None else str(entry.annotation_id),
                [str(annotator) for annotator in range(len(entry.times))],
                line=line,
            )
        )
    return entries


FORM = ReferenceForm("didemo", "JSON list of video, description, times in 5-second segments", _recognise, _read)
