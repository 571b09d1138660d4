"""TimeChat's and VTG-LLM's JSON: ``{"annotations": [{"image_id": VIDEO, "caption", "timestamp", "id"}]}``.

The form of COCO's captions with times. Source: RenShuhuai-Andy/TimeChat, ``metrics/tvg/example_gt_file.json``.
"""

from __future__ import annotations

import math

import msgspec

from truemoment.base.boundary.files import DATA_BYTES, read_json
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.records import Seconds
from truemoment.data.datasets.entries import ReferenceEntry
from truemoment.data.formats.head import has_paths
from truemoment.data.references.base import ReferenceForm, ReferenceOptions


class TimedCaption(msgspec.Struct):
    """A query and its moment."""

    image_id: str
    caption: str
    timestamp: tuple[Seconds, Seconds]
    id: int | str | None = None
    duration: Seconds = math.nan


class TimedCaptions(msgspec.Struct):
    """The whole file."""

    annotations: list[TimedCaption]


def _read(path: AnyPath, _: ReferenceOptions) -> list[ReferenceEntry]:
    return [
        ReferenceEntry(
            entry.image_id,
            entry.caption,
            [entry.timestamp],
            entry.duration,
            None if entry.id is None else str(entry.id),
        )
        for entry in read_json(path, TimedCaptions, most=DATA_BYTES).annotations
    ]


_KEYS = [("annotations", "[]", name) for name in ("image_id", "caption", "timestamp")]
FORM = ReferenceForm(
    "timechat",
    "JSON {annotations: [{image_id, caption, timestamp, id}]} of TimeChat and VTG-LLM",
    has_paths('its "annotations" have "image_id" and "timestamp"', *_KEYS),
    _read,
)
