"""Pictures of an open video on request: the nearest key frame at once, and the exact frame.

:func:`~truemoment.media.video.clips.thumbnail` needs the outline of a video, for which the whole file is read. A page
shows a dozen pictures of a video of hours, so here the file is kept open, and its own index leads to a frame.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError, MissingPackageError
from truemoment.media.video.frames import (
    SAME_TIME_S,
    Pixels,
    jpeg_of,
    opened,
    origin_s,
    packets_of,
    pixels_of,
    read_errors,
    reading_video,
)

if TYPE_CHECKING:
    from av.video.frame import VideoFrame

LANDINGS_S = (0.0, 4.0, 30.0)
"""Seconds before a time from which a key frame is sought: the index of some files leads to a place that is late."""

SHEET_QUALITY = 75


class OpenVideo:
    """A video that is kept open for pictures.

    Parameters
    ----------
    path
        The video.

    Raises
    ------
    InputError, MissingFileError
        If it cannot be read as a video; also by each picture that cannot be decoded.
    """

    def __init__(self, path: AnyPath) -> None:
        self.path = path
        self._files = ExitStack()
        self._open()

    def _open(self) -> None:
        """Open the file at its start."""
        self._files.close()
        self._container, self._stream = self._files.enter_context(opened(self.path))
        self._tick_s = float(self._stream.time_base or 0)
        started = self._stream.start_time
        self._origin_s = origin_s(self._container, 0.0 if started is None else started * self._tick_s)
        self._aspect = float(self._stream.sample_aspect_ratio or 1)

    def close(self) -> None:
        """Close the file."""
        self._files.close()

    def key_frame(self, start_s: float, end_s: float) -> tuple[float, VideoFrame]:
        """Return a key frame and its time: the last one before the middle of a moment, or a later one inside it."""
        middle_s = (start_s + end_s) / 2
        with reading_video(self.path):
            frame = self._key_frame_from(middle_s, backward=True)
            if frame is None or frame[0] < start_s:
                later = self._key_frame_from(middle_s, backward=False)
                if later is not None and (frame is None or later[0] < end_s):
                    frame = later
        if frame is None:
            raise InputError("has no key frame that can be decoded", path=self.path)
        return frame

    def frame_at(self, time_s: float) -> tuple[float, VideoFrame]:
        """Return the frame shown at a time, and when it is first shown."""
        with reading_video(self.path):
            for before_s in (*LANDINGS_S, max(0.0, time_s)):
                shown = self._frame_after(max(0.0, time_s - before_s), time_s)
                if shown is not None:
                    return shown
        raise InputError("has no frame that can be decoded", path=self.path)

    def jpeg(self, frame: VideoFrame, longest_side: int) -> bytes:
        """Return a frame as a JPEG file of at most `longest_side` pixels."""
        with reading_video(self.path):
            return jpeg_of(self._pixels(frame, longest_side))

    def sheet(self, start_s: float, end_s: float, count: int, longest_side: int) -> bytes:
        """Return `count` pictures of a moment side by side, at key frames where there are enough, as a JPEG file."""
        try:
            from PIL import Image  # noqa: PLC0415 - only pictures need it
        except ModuleNotFoundError:
            raise MissingPackageError("pillow", "pages", "pictures of videos") from None
        times_s = start_s + (np.arange(count) + 0.5) * (end_s - start_s) / count
        pictures = [self._pixels(self.frame_at(float(time_s))[1], longest_side) for time_s in times_s]
        height, width = (max(picture.shape[axis] for picture in pictures) for axis in (0, 1))
        sheet = np.zeros((height, width * count, 3), np.uint8)
        for number, picture in enumerate(pictures):
            sheet[: picture.shape[0], number * width : number * width + picture.shape[1]] = picture
        stream = io.BytesIO()
        Image.fromarray(sheet).save(stream, "JPEG", quality=SHEET_QUALITY)
        return stream.getvalue()

    def _pixels(self, frame: VideoFrame, longest_side: int) -> Pixels:
        scale = min(1.0, longest_side / max(frame.width * self._aspect, frame.height))
        return pixels_of(frame, self._aspect, scale)

    def _seek(self, time_s: float, *, backward: bool) -> None:
        at = round((time_s + self._origin_s + SAME_TIME_S) / self._tick_s) if self._tick_s else 0
        self._container.seek(at, stream=self._stream, backward=backward)

    def _key_frame_from(self, time_s: float, *, backward: bool) -> tuple[float, VideoFrame] | None:
        """Decode the key frame before a time, or after it, and nothing else."""
        try:
            self._seek(max(0.0, time_s), backward=backward)
            packet = next((packet for packet in packets_of(self._container, self._stream) if packet.is_keyframe), None)
            if packet is None:
                return None
            frames = chain(self._stream.decode(packet), self._stream.decode(None))
            return next(((self._time_of(frame), frame) for frame in frames if frame.pts is not None), None)
        except read_errors():
            return None
        finally:
            self._stream.codec_context.flush_buffers()

    def _frame_after(self, from_s: float, time_s: float) -> tuple[float, VideoFrame] | None:
        """Decode from the key frame before a time on, or from the start; None if the file led to a later place."""
        is_start = from_s <= 0
        try:
            if is_start:  # seeking to 0 leads past a first key frame that is decoded and not shown
                self._open()
            else:
                self._seek(from_s, backward=True)
        except read_errors():
            return None
        shown: tuple[float, VideoFrame] | None = None
        for at_s, frame in self._frames(key_s=-math.inf if is_start else None):
            if at_s > time_s + SAME_TIME_S:
                # Before its first frame a video shows that frame.
                return shown or ((at_s, frame) if is_start else None)
            shown = (at_s, frame)
        return shown

    def _frames(self, key_s: float | None) -> Iterator[tuple[float, VideoFrame]]:
        """Decode frames from the time of a key frame on: earlier ones depend on frames that are not decoded.

        None is the time of the next key frame.
        """
        for packet in packets_of(self._container, self._stream):
            try:
                frames = packet.decode()
            except read_errors():
                continue
            for frame in frames:
                if frame.pts is None:
                    continue
                at_s = self._time_of(frame)
                if key_s is None and frame.key_frame:
                    key_s = at_s
                if key_s is not None and at_s >= key_s:
                    yield at_s, frame

    def _time_of(self, frame: VideoFrame) -> float:
        return float((frame.pts or 0) * (frame.time_base or self._stream.time_base or 0)) - self._origin_s
