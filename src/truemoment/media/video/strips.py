"""Small pictures of a whole video in one JPEG file, each with its own time."""

from __future__ import annotations

import io
from dataclasses import dataclass

import msgspec
import numpy as np

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import MissingPackageError
from truemoment.base.intervals import Floats
from truemoment.media.video.frames import Outline, pixels_of, reading_video, shown_at

MOST_PICTURES, WIDTH, HEIGHT, COLUMNS = 200, 160, 90, 20

PICTURES_A_SECOND = 2.0

LONG_S = 600.0
"""Duration from which pictures are key frames, which are about a hundred times quicker to decode."""

STRIP_QUALITY = 70


class StripLayout(msgspec.Struct, forbid_unknown_fields=True):
    """Where the pictures are: `times` in seconds, size of each, and their number in a row."""

    times: list[float]
    width: int
    height: int
    columns: int


@dataclass(frozen=True)
class Strip:
    """The pictures as one JPEG file, and their layout."""

    jpeg: bytes
    layout: StripLayout


def make_strip(path: AnyPath, outline: Outline) -> Strip:
    """Return small pictures of a video, evenly spaced."""
    try:
        from PIL import Image  # noqa: PLC0415 - only pictures need it
    except ModuleNotFoundError:
        raise MissingPackageError("pillow", "pages", "pictures of videos") from None
    times_s = _times(outline)
    pictures, width = [], 0
    with reading_video(path):
        for _, frame in shown_at(path, outline, times_s.tolist()):
            shown_width, shown_height = frame.width * outline.pixel_aspect, float(frame.height)
            scale = min(WIDTH / shown_width, HEIGHT / shown_height)
            picture = pixels_of(frame, outline.pixel_aspect, scale)[:WIDTH, :WIDTH]
            width = max(width, picture.shape[1])
            pictures.append(picture)
    height = max(picture.shape[0] for picture in pictures)
    columns = min(COLUMNS, len(pictures))
    sheet = np.zeros((-(-len(pictures) // columns) * height, columns * width, 3), np.uint8)
    for number, picture in enumerate(pictures):
        top, left = number // columns * height, number % columns * width
        sheet[top : top + picture.shape[0], left : left + picture.shape[1]] = picture
    stream = io.BytesIO()
    Image.fromarray(sheet).save(stream, "JPEG", quality=STRIP_QUALITY)
    return Strip(stream.getvalue(), StripLayout(times_s.tolist(), width, height, columns))


def _times(outline: Outline) -> Floats:
    """Return the time of each picture: middles of equal parts; for a long video, the key frame before each."""
    count = int(min(MOST_PICTURES, max(8, np.ceil(outline.duration_s * PICTURES_A_SECOND))))
    times_s = (np.arange(count) + 0.5) * outline.duration_s / count
    if outline.duration_s <= LONG_S or not outline.keyframes_s:
        return times_s
    keys = np.asarray(outline.keyframes_s)
    return np.unique(keys[np.maximum(0, np.searchsorted(keys, times_s, "right") - 1)])
