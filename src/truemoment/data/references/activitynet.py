"""The form of ActivityNet Captions: ``{VIDEO: {duration, timestamps, sentences}}``, times in seconds."""

from __future__ import annotations

import math

from truemoment.base.boundary.files import read_json_mapping, write_json
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.records import Annotations, Seconds
from truemoment.data.datasets.base import VideoEntry
from truemoment.data.datasets.entries import ReferenceEntry
from truemoment.data.formats.head import Head
from truemoment.data.references.base import ReferenceForm, ReferenceOptions
from truemoment.data.references.queries import queries_of


class CaptionedVideo(VideoEntry):
    """An entry of the file; many copies have no duration."""

    duration: Seconds | None = None


def _recognise(head: Head) -> str | None:
    has = head.kind_at("*", "timestamps") == "list" and head.kind_at("*", "sentences") == "list"
    framed = head.kind_at("*", "fps") or head.kind_at("*", "num_frames")
    return "its videos have timestamps and sentences" if has and not framed else None


def _read(path: AnyPath, _: ReferenceOptions) -> list[ReferenceEntry]:
    return [
        ReferenceEntry(video_id, sentence, [moment], math.nan if video.duration is None else video.duration)
        for video_id, video in read_json_mapping(path, CaptionedVideo).items()
        for sentence, moment in zip(video.sentences, video.timestamps, strict=True)
    ]


def _write(path: AnyPath, annotations: Annotations) -> None:
    videos: dict[str, dict[str, list[object]]] = {}
    for query in queries_of(annotations):
        about: dict[str, object] = {} if math.isnan(query.duration_s) else {"duration": query.duration_s}
        video = videos.setdefault(query.video_id, {**about, "timestamps": [], "sentences": []})  # type: ignore[dict-item]
        for moment in query.moments:
            video["timestamps"].append(moment)
            video["sentences"].append(query.sentence)
    write_json(path, videos, indent=None)


FORM = ReferenceForm(
    "activitynet",
    "JSON {VIDEO: {duration, timestamps, sentences}}, as ActivityNet Captions",
    _recognise,
    _read,
    _write,
    frozenset({"durations"}),
)
