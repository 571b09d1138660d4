"""The form of Ego4D NLQ: videos of clips of annotations of ``language_queries``."""

from __future__ import annotations

from truemoment.base.boundary.own_path import AnyPath
from truemoment.data.datasets.ego4d_nlq import rows_of
from truemoment.data.datasets.entries import ReferenceEntry
from truemoment.data.formats.head import has_paths
from truemoment.data.references.base import ReferenceForm, ReferenceOptions


def _read(path: AnyPath, _: ReferenceOptions) -> list[ReferenceEntry]:
    return [
        ReferenceEntry(video_id, sentence, [(start_s, end_s)], duration_s, query_id)
        for query_id, video_id, duration_s, sentence, start_s, end_s in rows_of(path)
    ]


FORM = ReferenceForm(
    "ego4d-nlq",
    "JSON {videos: [{clips: [{annotations: [{language_queries}]}]}]}",
    has_paths("it has clips of videos", ("videos", "[]", "clips")),
    _read,
)
