"""Subtitles, SRT, WebVTT or ASS: a cue a sentence, of the video that has the name of the file."""

from __future__ import annotations

from pathlib import PurePath

from truemoment.base.boundary.files import DATA_BYTES
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.boundary.tables import read_sheet
from truemoment.base.errors import InputError
from truemoment.data.cues import ARROW, EVENTS, cues_of
from truemoment.data.datasets.entries import ReferenceEntry
from truemoment.data.formats.head import Head
from truemoment.data.references.base import ReferenceForm, ReferenceOptions, checked_time


def _recognise(head: Head) -> str | None:
    first_lines = head.data[:4096].split(b"\n")[:2]
    is_cue = any(ARROW.encode() in line for line in first_lines) and not head.is_object and not head.is_list
    is_named = head.data.startswith(b"WEBVTT") or EVENTS.encode() in head.data
    return "it has cues" if is_named or is_cue else None


def _read(path: AnyPath, how: ReferenceOptions) -> list[ReferenceEntry]:
    video_id = PurePath(path.name.removesuffix(".gz")).stem
    entries, n_empty = [], 0
    for cue in cues_of(read_sheet(path, most=DATA_BYTES), path):
        start_s, end_s = (checked_time(time_s, path, line=cue.line) for time_s in (cue.start_s, cue.end_s))
        if sentence := cue.plain:
            entries.append(ReferenceEntry(video_id, sentence, [(start_s, end_s)], line=cue.line))
        else:
            n_empty += 1
    how.note_left_out(path, n_empty, "cues without text")
    if not entries:
        raise InputError("has no cue with text", path=path)
    return entries


FORM = ReferenceForm("subtitles", "SRT, WebVTT or ASS, a cue a sentence", _recognise, _read)
