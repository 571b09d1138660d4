"""Frames of a video by time: which picture is shown at a given second.

Convention
    Time 0 is where the file's own clock starts. The frame at time t is the last one whose time stamp is not after t,
    as a player shows it; before the first frame it is the first. Frames are found by time stamp, never by counting,
    so a variable frame rate changes nothing. What a file says of rotation and of pixels that are not square is applied.

A video is read twice: once without decoding, which finds its end and its key frames, and once to decode what is
needed. At most two decoded frames are held at a time.
"""

from __future__ import annotations

import bisect
import io
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from truemoment.exceptions import InputError, MissingFileError, MissingPackageError, UsageError
from truemoment.intervals import Floats

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

MOST_FRAMES = 10_000
"""Frames of one video beyond which no model takes them and memory is lost."""

JPEG_QUALITY = 90

SAME_TIME_S = 1e-6
"""Times closer than this are one: time stamps are rounded to the file's clock."""

WORTH_SEEKING_S = 2.0
"""Frames to skip, in seconds, from which on seeking is quicker than decoding."""

CONTAINERS = "mov,mp4,matroska,webm,avi,mpegts,mpeg,flv,asf,ogg"
"""Kinds of file that are opened. Playlists are not: they name other files, and addresses."""


@dataclass(frozen=True)
class Sampling:
    """Which frames are taken of a video, and how large.

    Parameters
    ----------
    fps
        Frames a second: the frames at k / fps from 0, as long as that lies before the video's end.
    n_frames
        In place of `fps`: so many frames, at the middles of as many equal parts of the video.
    longest_side
        Pixels; larger pictures are made smaller, smaller ones stay.

    Raises
    ------
    UsageError
        If both or neither of `fps` and `n_frames` are given, or a number is out of range.

    Examples
    --------
    >>> Sampling(fps=0.5).times_s(5.0), Sampling(n_frames=2).times_s(5.0)
    (array([0., 2., 4.]), array([1.25, 3.75]))
    """

    fps: float | None = None
    n_frames: int | None = None
    longest_side: int = 448

    def __post_init__(self) -> None:
        """Refuse impossible numbers."""
        if (self.fps is None) == (self.n_frames is None):
            raise UsageError("which frames? expected frames a second or a number of frames, one of the two")
        if self.fps is not None and not 0 < self.fps <= 1000:
            raise UsageError(f"got {self.fps:g} frames a second, expected above 0 and up to 1000")
        if self.n_frames is not None and not 1 <= self.n_frames <= MOST_FRAMES:
            raise UsageError(f"got {self.n_frames} frames, expected 1 to {MOST_FRAMES}")
        if not 16 <= self.longest_side <= 8192:
            raise UsageError(f"got a longest side of {self.longest_side}, expected 16 to 8192 pixels")

    def times_s(self, duration_s: float) -> Floats:
        """Return the times asked for in a video of this duration, rising seconds, shape (N,).

        Raises
        ------
        InputError
            If these are more than :data:`MOST_FRAMES`.
        """
        if self.n_frames is not None:
            return (np.arange(self.n_frames) + 0.5) * (duration_s / self.n_frames)
        assert self.fps is not None  # noqa: S101 - one of the two is given, as checked above
        n_frames = max(1, math.ceil((duration_s - SAME_TIME_S) * self.fps))
        if n_frames > MOST_FRAMES:
            raise InputError(
                f"{self.fps:g} frames a second of {duration_s:.0f} s are {n_frames} frames, expected up to "
                f"{MOST_FRAMES}"
            )
        return np.arange(n_frames) / self.fps


@dataclass(frozen=True, eq=False)
class Frames:
    """Frames of one video.

    Parameters
    ----------
    times_s : (N,)
        The times asked for, rising.
    images : N JPEG files
        The picture shown at each.
    duration_s
        Seconds from the start of the file's clock to the end of its last frame.
    """

    times_s: Floats
    images: Sequence[bytes]
    duration_s: float


def sample_frames(path: Path, sampling: Sampling) -> Frames:
    """Decode the frames of a video that `sampling` asks for.

    Parameters
    ----------
    path
        A video file.
    sampling
        Which frames, and how large.

    Returns
    -------
    Frames

    Raises
    ------
    MissingFileError
        If there is no such file.
    InputError
        If it is no video, has no pictures, no time stamps or no usable ones, is cut off, or cannot be decoded, or if
        too many frames are asked for.
    MissingPackageError
        If PyAV or Pillow is not installed.
    """
    outline = _outline_of(path)
    try:
        times_s = sampling.times_s(outline.duration_s)
    except InputError as error:
        raise InputError(error.problem, path=path) from None
    images: list[bytes] = []
    last: VideoFrame | None = None
    for frame in _shown_at(path, outline, times_s.tolist()):
        images.append(images[-1] if frame is last else _jpeg_of(frame, outline.pixel_aspect, sampling.longest_side))
        last = frame
    return Frames(times_s, images, outline.duration_s)


@dataclass(frozen=True)
class _Outline:
    """What is known of a video before it is decoded: times in seconds from the start of its clock."""

    origin_s: float
    duration_s: float
    keyframes_s: Sequence[float]
    keyframes_pts: Sequence[int]
    pixel_aspect: float

    def keyframe_before(self, time_s: float) -> int:
        """Position of the last key frame not after a time; -1 where there is none."""
        return bisect.bisect_right(self.keyframes_s, time_s + SAME_TIME_S) - 1


@contextmanager
def _opened(path: Path) -> Iterator[tuple[InputContainer, VideoStream]]:
    """Open a video and its first stream of moving pictures; what goes wrong in it is told in one line."""
    try:
        import av  # noqa: PLC0415 - only videos need it
    except ImportError:
        raise MissingPackageError("av", "served", "reading videos") from None
    if not path.exists():
        raise MissingFileError(f"{path}: no such file")
    try:
        # A full path cannot be taken for an address, and what is no video is not tried as one.
        with av.open(str(path.resolve()), options={"format_whitelist": CONTAINERS}) as container:
            cover = av.stream.Disposition.attached_pic
            stream = next((of for of in container.streams.video if not of.disposition & cover), None)
            if stream is None:
                raise InputError("has no video stream", path=path)
            yield container, stream
    except (av.FFmpegError, OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read as a video ({what})", path=path) from None


def _outline_of(path: Path) -> _Outline:
    """Go through a video without decoding it.

    Raises
    ------
    InputError
        If it is empty, without time stamps, or ends long before its own end.
    """
    keyframes: list[int] = []
    first = last = end = None
    preroll = 0  # in front of what is shown there may be frames that others lean on
    with _opened(path) as (container, stream):
        for packet in container.demux(stream):
            pts = packet.dts if packet.pts is None else packet.pts
            if pts is None:
                continue
            if packet.is_discard:
                preroll += packet.duration or 0
                continue
            first = pts if first is None else min(first, pts)
            last = pts if last is None else max(last, pts)
            end = max(pts + (packet.duration or 0), pts if end is None else end)
            if packet.is_keyframe and packet.pts is not None:
                keyframes.append(packet.pts)
        if first is None or last is None or end is None:
            raise InputError("has no frame with a time stamp", path=path)
        tick_s = float(stream.time_base or 0)
        rate = float(stream.average_rate or 0)
        told_s = _told_end_s(container, stream)
        started: int | None = getattr(container, "start_time", None)  # it can be None, whatever its type says
        aspect = float(stream.sample_aspect_ratio or 1)
    origin_s = first * tick_s if started is None else min(started / 1e6, first * tick_s)
    end_s = end * tick_s if end > last or not rate else last * tick_s + 1 / rate
    duration_s = end_s - origin_s
    if told_s is not None and duration_s + preroll * tick_s < told_s - max(1.0, 0.05 * told_s):
        raise InputError(f"ends at {duration_s:.1f} s of the {told_s:.1f} s it says it has: cut off?", path=path)
    if not 0 < duration_s < math.inf:
        raise InputError(f"lasts {duration_s:g} s, expected more than 0", path=path)
    keyframes.sort()
    return _Outline(origin_s, duration_s, [pts * tick_s - origin_s for pts in keyframes], keyframes, aspect)


def _told_end_s(container: InputContainer, stream: VideoStream) -> float | None:
    """Duration that the file's head tells of its pictures; None where it tells none of them alone."""
    if container.format.name == "avi" and stream.frames and stream.average_rate:  # its duration follows the file's size
        return float(stream.frames / stream.average_rate)
    if stream.duration is not None:
        return float(stream.duration * (stream.time_base or 0))
    parts = stream.metadata.get("DURATION", "").split(":")
    if len(parts) == 3:
        try:
            hours, minutes, seconds = map(float, parts)
        except ValueError:
            return None
        return 3600 * hours + 60 * minutes + seconds
    alone = len(container.streams) == 1 and container.duration is not None
    return (container.duration or 0) / 1e6 if alone else None


def _shown_at(path: Path, outline: _Outline, asked_s: Sequence[float]) -> Iterator[VideoFrame]:
    """Yield the frame shown at each of some rising times.

    Raises
    ------
    InputError
        If a frame cannot be decoded, or time stamps are missing or fall.
    """
    with _opened(path) as (container, stream):
        stream.thread_type = "AUTO"
        frames = _timed(container, stream, path, outline.origin_s)
        shown: tuple[float, VideoFrame] | None = None
        ahead = next(frames, None)
        seeks = True
        for time_s in asked_s:
            at = outline.keyframe_before(time_s)
            if seeks and ahead and at >= 0 and outline.keyframes_s[at] > ahead[0] + WORTH_SEEKING_S:
                landed = _seek(container, stream, path, outline, at)
                seeks = landed is not None
                # A file whose index leads elsewhere is decoded from its start.
                frames = landed or _from_start(container, stream, path, outline)
                shown, ahead = None, next(frames, None)
            while ahead and ahead[0] <= time_s + SAME_TIME_S:
                shown, ahead = ahead, next(frames, None)
                if ahead and ahead[0] < shown[0]:
                    raise InputError(f"has time stamps that fall, from {shown[0]:.3f} to {ahead[0]:.3f} s", path=path)
            frame = shown or ahead
            if frame is None:
                raise InputError("has no frame that can be decoded", path=path)
            yield frame[1]


def _timed(
    container: InputContainer, stream: VideoStream, path: Path, origin_s: float
) -> Iterator[tuple[float, VideoFrame]]:
    """Decode from where the file stands, each frame with its time."""
    tick_s = float(stream.time_base or 0)
    for frame in container.decode(stream):
        if frame.pts is None:
            raise InputError("has frames without time stamps", path=path, hint="put it into a container that has them")
        yield frame.pts * tick_s - origin_s, frame


def _from_start(
    container: InputContainer, stream: VideoStream, path: Path, outline: _Outline
) -> Iterator[tuple[float, VideoFrame]]:
    first = outline.keyframes_pts[0] if outline.keyframes_pts else 0
    container.seek(first, stream=stream)
    return _timed(container, stream, path, outline.origin_s)


def _seek(
    container: InputContainer, stream: VideoStream, path: Path, outline: _Outline, at: int
) -> Iterator[tuple[float, VideoFrame]] | None:
    """Decode from a key frame on; None where the file leads to a later place."""
    container.seek(outline.keyframes_pts[at], stream=stream)
    wanted_s = outline.keyframes_s[at] - SAME_TIME_S
    frames = _timed(container, stream, path, outline.origin_s)
    for time_s, frame in frames:
        if time_s >= wanted_s:  # frames before it lean on some that were not decoded
            if time_s > wanted_s + 2 * SAME_TIME_S:
                return None
            return _after(time_s, frame, frames)
    return None


def _after(
    time_s: float, frame: VideoFrame, frames: Iterator[tuple[float, VideoFrame]]
) -> Iterator[tuple[float, VideoFrame]]:
    yield time_s, frame
    yield from frames


def _jpeg_of(frame: VideoFrame, pixel_aspect: float, longest_side: int) -> bytes:
    """Return a frame as it is shown: upright, with square pixels, no larger than asked."""
    try:
        from PIL import Image  # noqa: PLC0415 - only pictures need it
    except ImportError:
        raise MissingPackageError("pillow", "served", "writing pictures") from None
    shown_width = frame.width * pixel_aspect
    scale = min(1.0, longest_side / max(shown_width, frame.height))
    width, height = max(1, round(shown_width * scale)), max(1, round(frame.height * scale))
    pixels = frame.reformat(width=width, height=height, format="rgb24", interpolation="AREA").to_ndarray()
    turned = np.ascontiguousarray(np.rot90(pixels, round(frame.rotation / 90) % 4))  # both turn counter-clockwise
    stream = io.BytesIO()
    Image.fromarray(turned).save(stream, "JPEG", quality=JPEG_QUALITY)
    return stream.getvalue()
