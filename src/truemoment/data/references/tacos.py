"""The form of TACoS: ``{VIDEO: {num_frames, fps, timestamps, sentences}}``, times in frames."""

from __future__ import annotations

from truemoment.base.boundary.own_path import AnyPath
from truemoment.data.datasets.entries import ReferenceEntry
from truemoment.data.datasets.tacos import rows_of
from truemoment.data.formats.head import Head
from truemoment.data.references.base import ReferenceForm, ReferenceOptions


def _recognise(head: Head) -> str | None:
    keys = ("timestamps", "sentences", "fps", "num_frames")
    return "its videos have num_frames and fps" if all(head.kind_at("*", key) for key in keys) else None


def _read(path: AnyPath, _: ReferenceOptions) -> list[ReferenceEntry]:
    return [
        ReferenceEntry(video_id, sentence, [(start_s, end_s)], duration_s)
        for video_id, duration_s, sentence, start_s, end_s in rows_of(path)
    ]


FORM = ReferenceForm("tacos", "JSON {VIDEO: {num_frames, fps, timestamps, sentences}}, in frames", _recognise, _read)
