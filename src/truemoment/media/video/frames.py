"""Frames of a video by time: the picture shown at a given second.

:func:`sample_frames` decodes a few frames as JPEG, for served models; :func:`stream_frames` yields any number of them
as pixels, one at a time, so that hours of video need no more memory than a clip.

Convention
    Time 0 is the start of the file's own clock. The frame at time t is the last one whose time stamp is not after t, as
    in a player; before the first frame it is the first. Frames are found by time stamp, never by counting, so a
    variable frame rate has no effect. Rotation, mirroring and the pixel aspect ratio are applied.

A video is read twice: once without decoding, for its end and key frames (its :class:`Outline`), and once to decode. At
most two decoded frames are in memory, besides those of the decoder. The work depends on the number of frames, not on
the stated duration.
"""

from __future__ import annotations

import bisect
import io
import itertools
import math
import shlex
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError, MissingPackageError, UsageError
from truemoment.base.intervals import Floats
from truemoment.media.video.containers import MOST_PIXELS, estimates_length, opened_container

if TYPE_CHECKING:
    from av.audio.stream import AudioStream
    from av.bitstream import BitStreamFilterContext
    from av.container import InputContainer
    from av.packet import Packet
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

Decodable = TypeVar("Decodable", "VideoStream", "AudioStream")

Pixels = npt.NDArray[np.uint8]  # a picture, (H, W, 3), red, green and blue

MOST_FRAMES = 10_000
"""Frames of one video beyond which no served model takes them and memory is lost."""

MOST_FPS = 1000

LONGEST_S = 3.6e6
"""A thousand hours. A file that claims more has a broken clock."""

LONGEST_STILL_S = 3600.0
"""An hour. A file that shows one picture for longer has a broken clock."""

STILL_S = 10.0
"""Seconds of one picture from which on an outline names them."""

JPEG_QUALITY = 90

SAME_TIME_S = 1e-6
"""Times closer than this are one: time stamps are rounded to the file's clock."""

WORTH_SEEKING_S = 2.0
"""Frames to skip, in seconds, from which on seeking is quicker than decoding."""

SEEK_BEFORE = (0, 1, 4)
"""Key frames before the wanted one to ask for: some files lead to a place that is a little late."""


@dataclass(frozen=True)
class Sampling:
    """Frames to read from a video, and their size.

    Parameters
    ----------
    fps
        Frames per second: the frames at k / fps from 0, before the video's end.
    n_frames
        Instead of `fps`: number of frames, at the middles of as many equal parts of the video.
    longest_side
        Pixels; larger pictures are reduced.

    Examples
    --------
    >>> Sampling(fps=0.5).times_s(5.0), Sampling(n_frames=2).times_s(5.0)
    (array([0., 2., 4.]), array([1.25, 3.75]))
    """

    fps: float | None = None
    n_frames: int | None = None
    longest_side: int = 448

    def __post_init__(self) -> None:
        if (self.fps is None) == (self.n_frames is None):
            raise UsageError("which frames? expected frames a second or a number of frames, one of the two")
        if self.fps is not None and not 0 < self.fps <= MOST_FPS:
            raise UsageError(f"got {self.fps:g} frames a second, expected above 0 and up to {MOST_FPS}")
        if self.n_frames is not None and not 1 <= self.n_frames <= MOST_FRAMES:
            raise UsageError(f"got {self.n_frames} frames, expected 1 to {MOST_FRAMES}")
        if not 16 <= self.longest_side <= 8192:
            raise UsageError(f"got a longest side of {self.longest_side}, expected 16 to 8192 pixels")

    def times_s(self, duration_s: float) -> Floats:
        """Return the times of the frames in a video of this duration, rising seconds, (N,)."""
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
        Times, rising.
    images : N JPEG files
        The picture shown at each.
    duration_s
        Seconds from the start of the file's clock to the end of its last frame.
    """

    times_s: Floats
    images: Sequence[bytes]
    duration_s: float


def sample_frames(path: AnyPath, sampling: Sampling) -> Frames:
    """Decode the frames of a video that `sampling` selects.

    Raises
    ------
    InputError
        If it is no video, has no pictures or no usable time stamps, is truncated, or too many frames are requested.
    """
    outline = outline_of(path)
    try:
        times_s = sampling.times_s(outline.duration_s)
    except InputError as error:
        raise InputError(error.problem, path=path) from None
    images: list[bytes] = []
    last: VideoFrame | None = None
    for _, frame in shown_at(path, outline, times_s.tolist()):
        if frame is last:
            images.append(images[-1])
            continue
        with reading_video(path):
            scale = min(1.0, sampling.longest_side / max(_shown_size(frame, outline.pixel_aspect)))
            images.append(jpeg_of(pixels_of(frame, outline.pixel_aspect, scale)))
        last = frame
    return Frames(times_s, images, outline.duration_s)


def stream_frames(
    path: AnyPath,
    fps: float,
    *,
    start_s: float = 0.0,
    end_s: float | None = None,
    shortest_side: int | None = None,
    outline: Outline | None = None,
    offset_s: float = 0.0,
    threads: int = 0,
) -> Iterator[tuple[float, Pixels]]:
    """Yield the frames shown at offset + k / fps as (time in seconds, pixels (H, W, 3)), while they are decoded.

    Pixels are upright and square. Successive frames may be the same array: do not change it.

    Parameters
    ----------
    fps
        Frames per second; above the file's rate, frames repeat.
    start_s, end_s
        The part: times from `start_s` and before `end_s`, or before the end of the video.
    shortest_side
        Pixels; larger pictures are reduced while decoding. None keeps the size.
    offset_s
        Time of the first frame.
    threads
        Threads of the decoder; 0 for one a core.
    """
    if not 0 < fps <= MOST_FPS:
        raise UsageError(f"got {fps:g} frames a second, expected above 0 and up to {MOST_FPS}")
    if shortest_side is not None and not 1 <= shortest_side <= 8192:
        raise UsageError(f"got a shortest side of {shortest_side}, expected 1 to 8192 pixels")
    if not 0 <= start_s < math.inf or (end_s is not None and not start_s <= end_s):
        raise UsageError(f"got the part from {start_s} to {end_s} s, expected 0 <= start <= end")
    outline = outline or outline_of(path)
    end = outline.n_frames(fps, offset_s)
    end = end if end_s is None else min(end, _first_at(end_s - offset_s, fps))
    times_s = [offset_s + k / fps for k in range(_first_at(start_s - offset_s, fps), end)]
    last: VideoFrame | None = None
    pixels: Pixels | None = None
    for time_s, frame in shown_at(path, outline, times_s, threads=threads):
        if pixels is None or frame is not last:
            width, height = _shown_size(frame, outline.pixel_aspect)
            scale = 1.0 if shortest_side is None else min(1.0, shortest_side / min(width, height))
            with reading_video(path):
                pixels = pixels_of(frame, outline.pixel_aspect, scale)
        last = frame
        yield time_s, pixels


def _first_at(time_s: float, fps: float) -> int:
    """Return the first k with k / fps not before a time."""
    return max(0, math.ceil((time_s - SAME_TIME_S) * fps))


@dataclass(frozen=True)
class Outline:
    """Properties of a video that are known without decoding; times are seconds from the start of its clock.

    Parameters
    ----------
    origin_s
        Start of the file's own clock.
    duration_s
        From there to the end of the last frame.
    keyframes_s, keyframes_pts
        Times and time stamps of key frames, where decoding can start.
    restarts_s
        Times of those key frames that no later frame looks back past (IDR), where the file says so.
    pixel_aspect
        Width of a pixel divided by its height.
    fault
        What is wrong with a partially readable file; "" if nothing.
    stills_s
        Start and end of each part longer than :data:`STILL_S` without a new frame.
    """

    origin_s: float
    duration_s: float
    keyframes_s: Sequence[float]
    keyframes_pts: Sequence[int]
    pixel_aspect: float
    fault: str = ""
    stills_s: Sequence[tuple[float, float]] = ()
    restarts_s: Sequence[float] = ()

    def n_frames(self, fps: float, offset_s: float = 0.0) -> int:
        """Return how many frames :func:`stream_frames` yields, at least 1."""
        return max(1, _first_at(self.duration_s - offset_s, fps))

    def is_still(self, start_s: float, end_s: float) -> bool:
        """Whether the frame shown at a time is known to be still shown at a later one."""
        at = bisect.bisect_right(self.stills_s, (start_s + SAME_TIME_S, math.inf)) - 1
        return at >= 0 and end_s + SAME_TIME_S < self.stills_s[at][1]

    def keyframe_before(self, time_s: float) -> int:
        """Return the position of the last key frame not after a time, or -1."""
        return bisect.bisect_right(self.keyframes_s, time_s + SAME_TIME_S) - 1


def duration_of(path: AnyPath) -> float:
    """Return the duration of :func:`outline_of`, which reads the whole file."""
    return outline_of(path).duration_s


@contextmanager
def reading_video(path: AnyPath) -> Iterator[None]:
    """Raise an InputError in one line for any error of PyAV."""
    try:
        yield
    except MissingPackageError:  # the errors of a package that is not there cannot be named
        raise
    except read_errors() as error:
        raise InputError(f"cannot be read as a video ({error_in_words(error)})", path=path) from None


@contextmanager
def opened(path: AnyPath) -> Iterator[tuple[InputContainer, VideoStream]]:
    """Open a video and its first video stream; errors are reported in one line."""
    with reading_video(path), opened_container(path) as container:
        import av  # noqa: PLC0415 - opened_container has found it

        cover = av.stream.Disposition.attached_pic
        stream = next((video for video in container.streams.video if not video.disposition & cover), None)
        if stream is None:
            raise InputError("has no video stream", path=path)
        if not has_decoder(stream):
            raise InputError("has pictures of an unknown codec, expected one that FFmpeg decodes", path=path)
        stream.codec_context.options = {"max_pixels": str(MOST_PIXELS)}
        yield container, stream


def has_decoder(stream: VideoStream | AudioStream) -> bool:
    """Whether a stream can be decoded; one of an unknown codec has no context."""
    return getattr(stream, "codec_context", None) is not None


def read_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that PyAV raises for damaged files."""
    import av  # noqa: PLC0415 - only videos need it

    return (
        av.FFmpegError,
        ArithmeticError,
        LookupError,
        MemoryError,
        OSError,
        RuntimeError,
        TypeError,
        ValueError,
    )


def error_in_words(error: Exception) -> str:
    """Return the message of an error of PyAV, in one line."""
    return " ".join((getattr(error, "strerror", None) or str(error) or type(error).__name__).split())


def packets_of(container: InputContainer, stream: Decodable) -> Iterator[Packet[Decodable]]:
    """Yield the packets of a stream, then an empty one that flushes the decoder."""
    packets = container.demux(stream)
    while True:
        try:
            packet = next(packets, None)
        except IndexError:  # in the end PyAV looks for streams that appeared on the way, which it does not know
            return
        if packet is None:
            return
        yield packet


def outline_of(path: AnyPath, *, partial: bool = False) -> Outline:
    """Return the outline of a video, which is read without being decoded.

    With `partial`, the readable part of a damaged or truncated file is accepted; `fault` then states what is wrong.

    Raises
    ------
    InputError
        If it is no video, has no pictures or time stamps, or (unless `partial`) ends long before its stated end.
    """
    return outline_and_shown(path, partial=partial)[0]


def outline_and_shown(path: AnyPath, *, partial: bool = False) -> tuple[Outline, Floats, Fraction]:
    """Return the outline of a video, when each frame is shown, and the tick of its clock.

    Times are seconds from the start of the clock, rising, (N,); the tick is the time base of the video stream. Other
    behaviour is that of :func:`outline_of`.
    """
    stamps = _Stamps()
    with opened(path) as (container, stream):
        fault = _read_stamps(stamps, container, stream, partial=partial)
        if not stamps.pts:
            raise InputError("has no frame with a time stamp", path=path)
        tick = stream.time_base or Fraction(0)
        tick_s = float(tick)
        rate = float(stream.average_rate or 0)
        shown_s: Floats = np.unique(np.asarray(stamps.pts)) * tick_s
        start_s = origin_s(container, float(shown_s[0]))
        stated_s = _stated_s(container, stream, start_s)
        aspect = float(stream.sample_aspect_ratio or 1)
    end_s = stamps.end * tick_s if stamps.end > max(stamps.pts) or not rate else float(shown_s[-1]) + 1 / rate
    if stated_s is not None and end_s - start_s < stated_s - max(1.0, 0.05 * stated_s):
        fault = f"ends at {end_s - start_s:.1f} s of the {stated_s:.1f} s that it states: truncated?"
        if not partial:
            raise InputError(fault, path=path)
    too_still = _too_still(start_s, shown_s, end_s)
    if too_still and partial:
        fault = too_still
        breaks = np.flatnonzero(np.diff(shown_s) > LONGEST_STILL_S) + 1
        shown_s = max(np.split(shown_s, breaks), key=len)
        usual_step_s = float(np.median(np.diff(shown_s))) if len(shown_s) > 1 else 0.0
        start_s, end_s = float(shown_s[0]), float(shown_s[-1]) + usual_step_s
    duration_s = end_s - start_s
    if not 0 < duration_s <= LONGEST_S:
        raise InputError(f"lasts {duration_s:g} s, expected more than 0 and up to {LONGEST_S:g}", path=path)
    if too_still and not partial:
        raise InputError(too_still, path=path)
    keyframes = [pts for pts in sorted(stamps.keyframes) if start_s <= pts * tick_s <= end_s]
    keyframes_s = [pts * tick_s - start_s for pts in keyframes]
    parts_s = _shown_from_to(start_s, shown_s, end_s)
    stills_s = [(low, high) for low, high in parts_s[parts_s[:, 1] - parts_s[:, 0] > STILL_S].tolist()]
    restarts_s = [pts * tick_s - start_s for pts in sorted(stamps.restarts)]
    outline = Outline(start_s, duration_s, keyframes_s, keyframes, aspect, fault, stills_s, restarts_s)
    return outline, shown_s - start_s, tick


class _Stamps:
    """The time stamps of a file's packets, in ticks of its clock."""

    def __init__(self) -> None:
        self.pts = array("q")
        self.keyframes: list[int] = []
        self.restarts: list[int] = []
        self.end: float = -math.inf

    def add(self, packet: Packet[Any], restarts: BitStreamFilterContext | None) -> None:
        """Add the stamps of the next packet; `restarts` passes packets of IDR frames only, and empties them."""
        pts = packet.dts if packet.pts is None else packet.pts
        if pts is None or packet.is_discard:  # decoded for later frames, and not shown
            return
        self.pts.append(pts)
        self.end = max(self.end, pts, pts + (packet.duration or 0))
        if packet.is_keyframe and packet.pts is not None:
            self.keyframes.append(packet.pts)
            if restarts and restarts.filter(packet):
                self.restarts.append(pts)


def _read_stamps(stamps: _Stamps, container: InputContainer, stream: VideoStream, *, partial: bool) -> str:
    """Add the stamps of all packets; return the fault of the file, "" if there is none."""
    try:
        restarts = _restart_filter(stream)
        for packet in packets_of(container, stream):
            stamps.add(packet, restarts)
    except read_errors() as error:
        if not partial:
            raise
        return f"cannot be read to its end ({error_in_words(error)})"
    return ""


def _restart_filter(stream: VideoStream) -> BitStreamFilterContext | None:
    """Return a filter that passes packets of IDR frames only; None for other codecs than :data:`SKIPPING_CODECS`."""
    from av.bitstream import BitStreamFilterContext, bitstream_filters_available  # noqa: PLC0415 - as in `opened`

    kinds = SKIPPING_CODECS.get(stream.codec_context.name)
    if kinds is None or "filter_units" not in bitstream_filters_available:
        return None
    return BitStreamFilterContext(f"filter_units=pass_types={kinds}", stream)


def _shown_from_to(start_s: float, shown_s: Floats, end_s: float) -> Floats:
    """Return the start and the end of each part in which no frame begins but at its start, (N, 2)."""
    edges_s = np.concatenate([[start_s], shown_s, [end_s]])
    return np.stack([edges_s[:-1], edges_s[1:]], axis=1) - start_s


def _too_still(start_s: float, shown_s: Floats, end_s: float) -> str:
    """Describe a picture that is shown for too long; "" if there is none."""
    parts_s = _shown_from_to(start_s, shown_s, end_s)
    low_s, high_s = parts_s[np.argmax(parts_s[:, 1] - parts_s[:, 0])]
    if high_s - low_s <= LONGEST_STILL_S:
        return ""
    finding = f"shows one picture from {low_s:.1f} to {high_s:.1f} s"
    return f"{finding}, expected up to {LONGEST_STILL_S:g} s of one: a broken clock?"


def origin_s(container: InputContainer, first_s: float) -> float:
    """Where the file's own clock starts, which may be before its first frame."""
    started: int | None = getattr(container, "start_time", None)  # it can be None, whatever its type says
    if started is None or container.format.name == "avi":
        return first_s  # AVI counts from when decoding starts: shown is the first frame a little later
    return min(started / 1e6, first_s)


def _stated_s(container: InputContainer, stream: VideoStream, origin_s: float) -> float | None:
    """Duration that the file's head states for its pictures; None where it states none for them alone."""
    if estimates_length(container, stream):
        return None
    stated_s = _stated_by_head_s(container, stream)
    if stated_s is not None and "matroska" in container.format.name and stated_s > origin_s:
        return stated_s - origin_s  # the duration of Matroska may count from 0, wherever its clock starts
    return stated_s


def _stated_by_head_s(container: InputContainer, stream: VideoStream) -> float | None:
    """Duration, or where the clock starts late the end, of the pictures; None where none is stated for them alone."""
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


def frames_between(path: AnyPath, outline: Outline, start_s: float, end_s: float) -> Iterator[tuple[float, VideoFrame]]:
    """Yield the frame shown at a time, then each further one up to another time, with its start."""
    with opened(path) as (container, stream):
        stream.thread_type = "AUTO"
        at = outline.keyframe_before(start_s)
        landed = _seek(container, stream, path, outline, at) if at > 0 else None
        frames = landed or _from_start(path, outline)
        shown: VideoFrame | None = None
        begun = False
        before_s = -math.inf
        for time_s, frame in frames:
            if time_s < before_s:
                raise _falling(path, stream, before_s, time_s)
            before_s = time_s
            if time_s <= start_s + SAME_TIME_S:
                shown = frame
                continue
            if not begun:
                yield start_s, shown or frame  # before its first frame a video shows that frame
                begun = True
                if shown is None:
                    continue
            if time_s >= end_s - SAME_TIME_S:
                return
            yield time_s, frame
        if shown is not None and not begun:
            yield start_s, shown


def shown_at(
    path: AnyPath, outline: Outline, wanted_s: Sequence[float], *, threads: int = 0, skips: bool = True
) -> Iterator[tuple[float, VideoFrame]]:
    """Yield rising times, and the frame shown at each.

    Parameters
    ----------
    threads
        Threads of the decoder; 0 for one a core.
    skips
        Whether frames that are neither shown at a time nor needed for others are left undecoded. Where a decoder then
        shows another frame than the time stamps of the file say, or a damaged one, the rest is decoded again without.
    """
    with opened(path) as (container, stream):
        stream.thread_type = "AUTO"
        stream.codec_context.thread_count = threads
        can_skip = not outline.fault and stream.codec_context.name in SKIPPING_CODECS
        plan = _Skipping(wanted_s, outline) if skips and can_skip else None
        frames = _timed(container, stream, path, outline, plan=plan)
        shown: tuple[float, VideoFrame] | None = None
        ahead = next(frames, None)
        seeks = True
        for number, time_s in enumerate(wanted_s):
            at = outline.keyframe_before(time_s)
            if seeks and ahead and at >= 0 and outline.keyframes_s[at] > ahead[0] + WORTH_SEEKING_S:
                if plan:
                    plan.seen_s.clear()
                landed = _seek(container, stream, path, outline, at, plan=plan)
                # A file whose index leads elsewhere is decoded from its start.
                frames = landed or _from_start(path, outline)
                plan = plan if landed else None
                before_s, shown, ahead = ahead[0], None, next(frames, None)
                # One whose index leads back would be decoded again and again: from now on without it.
                seeks = landed is not None and ahead is not None and ahead[0] > before_s
            is_falling = False
            while ahead and ahead[0] <= time_s + SAME_TIME_S and not is_falling:
                shown, ahead = ahead, next(frames, None)
                is_falling = ahead is not None and ahead[0] < shown[0]
            frame = shown or ahead
            if plan and (is_falling or frame is None or not plan.expects(time_s, frame[0])):
                yield from shown_at(path, outline, wanted_s[number:], threads=threads, skips=False)
                return
            if is_falling and shown and ahead:
                raise _falling(path, stream, shown[0], ahead[0])
            if frame is None:
                raise InputError("has no frame that can be decoded", path=path)
            yield time_s, frame[1]


SKIPPING_CODECS = {"h264": "5", "hevc": "19-20"}
"""Codecs whose decoders know from the head of a frame that no other one needs it; the numbers of their IDR units."""

REORDERED = 32
"""Number of packets among which those of a frame and of a later one lie."""


class _Skipping:
    """Which packets are decoded only if other frames need them, and which are not decoded at all.

    The first are those with a later frame before the next wanted time. The others come after the last wanted frame
    before an IDR frame: a frame is never shown before its packet's place in the order of decoding (``dts``), so from
    the first packet placed after the last wanted time on, all are left out up to the IDR frame.

    Parameters
    ----------
    wanted_s
        Rising times at which frames are wanted.
    outline
        The video.
    """

    def __init__(self, wanted_s: Sequence[float], outline: Outline) -> None:
        self._wanted_s, self._origin_s, self._restarts_s = wanted_s, outline.origin_s, outline.restarts_s
        self._leaves_out = False
        self.seen_s: list[float] = []
        """Times of the packets until now, rising."""
        self.is_damaged = False
        """Whether a frame had an error: what the decoder shows in its place depends on what it decoded before."""

    def prepare(self, stream: VideoStream, packet: Packet[Any]) -> bool:
        """Return whether a packet is decoded, and set how the decoder treats it."""
        skip = False
        if packet.is_discard or not packet.size:
            self._leaves_out = False
        elif packet.pts is not None:  # one without times, as the second half of a frame, goes the way of the first
            tick_s = float(stream.time_base or 0)
            time_s = packet.pts * tick_s - self._origin_s
            at = bisect.bisect_left(self._wanted_s, time_s - SAME_TIME_S)
            is_first = not self.seen_s
            if at < len(self._wanted_s) and not is_first and self.seen_s[0] < time_s:  # the first frame has no other
                place = bisect.bisect_right(self.seen_s, time_s + SAME_TIME_S)
                skip = place < len(self.seen_s) and self.seen_s[place] <= self._wanted_s[at] + SAME_TIME_S
            bisect.insort(self.seen_s, time_s)
            place_s = None if is_first or packet.dts is None else packet.dts * tick_s - self._origin_s
            self._leaves_out = place_s is not None and self._is_past(time_s, place_s)
        stream.codec_context.skip_frame = "NONREF" if skip else "DEFAULT"
        return not self._leaves_out

    def _is_past(self, time_s: float, place_s: float) -> bool:
        """Whether no time is wanted from a packet's place on to the next IDR frame, and one soon after."""
        restart = bisect.bisect_right(self._restarts_s, time_s + SAME_TIME_S)
        if restart == len(self._restarts_s):
            return False
        after = bisect.bisect_left(self._wanted_s, self._restarts_s[restart] - SAME_TIME_S)
        if after == len(self._wanted_s) or self._wanted_s[after] > place_s + WORTH_SEEKING_S:
            return False
        return after == 0 or self._wanted_s[after - 1] + SAME_TIME_S < place_s

    def expects(self, time_s: float, frame_s: float) -> bool:
        """Whether the time stamps say that the frame of `frame_s` is shown at a time, and no frame is damaged.

        Times before it are forgotten.
        """
        at = bisect.bisect_right(self.seen_s, time_s + SAME_TIME_S)
        expected_s = self.seen_s[max(0, at - 1)] if self.seen_s else math.inf
        del self.seen_s[: max(0, at - REORDERED)]
        return abs(expected_s - frame_s) <= SAME_TIME_S and not self.is_damaged


def _falling(path: AnyPath, stream: VideoStream, before_s: float, time_s: float) -> InputError:
    """Describe a frame that follows a later one, as in AVI, which stores no times for frames out of order."""
    fault = f"has time stamps that fall, from {before_s:.3f} to {time_s:.3f} s"
    evenly = f"-r {stream.average_rate} " if stream.average_rate else ""
    return InputError(
        fault, path=path, hint=f"encode it again, e.g. `ffmpeg {evenly}-i {shlex.quote(path.name)} whole.mp4`"
    )


def _timed(
    container: InputContainer,
    stream: VideoStream,
    path: AnyPath,
    outline: Outline,
    *,
    plan: _Skipping | None = None,
) -> Iterator[tuple[float, VideoFrame]]:
    """Decode from the current position, each frame with its time."""
    tick_s = float(stream.time_base or 0)
    decoded = _whole_frames(container, stream) if outline.fault else _all_frames(container, stream, plan)
    before_s = -SAME_TIME_S
    for frame in decoded:
        width, height = _shown_size(frame, outline.pixel_aspect)
        if width * height > MOST_PIXELS:
            finding = f"has pictures of {width:,.0f} x {height:,.0f} pixels, expected up to {MOST_PIXELS:,} in all"
            raise InputError(finding, path=path)
        time_s = None if frame.pts is None else frame.pts * tick_s - outline.origin_s
        if outline.fault:
            if time_s is None or not before_s < time_s < outline.duration_s:
                continue  # in a damaged file frames may have any time
            before_s = time_s
        if time_s is None:
            raise InputError("has frames without time stamps", path=path, hint="put it into a container that has them")
        yield time_s, frame


def _all_frames(container: InputContainer, stream: VideoStream, plan: _Skipping | None) -> Iterator[VideoFrame]:
    for packet in packets_of(container, stream):
        if plan and not plan.prepare(stream, packet):
            continue
        for frame in packet.decode():
            if plan and frame.is_corrupt:
                plan.is_damaged = True
            yield frame


def _whole_frames(container: InputContainer, stream: VideoStream) -> Iterator[VideoFrame]:
    """Decode the readable frames of a damaged file."""
    errors = read_errors()
    packets = packets_of(container, stream)
    while True:
        try:
            packet = next(packets, None)
        except errors:
            return
        if packet is None:
            return
        try:
            frames = packet.decode()
        except errors:
            continue
        yield from frames


def _from_start(path: AnyPath, outline: Outline) -> Iterator[tuple[float, VideoFrame]]:
    """Decode from the start of a newly opened file: with a wrong index, seeking to the start may fail too."""
    with opened(path) as (container, stream):
        stream.thread_type = "AUTO"
        yield from _timed(container, stream, path, outline)


def _seek(
    container: InputContainer,
    stream: VideoStream,
    path: AnyPath,
    outline: Outline,
    at: int,
    *,
    plan: _Skipping | None = None,
) -> Iterator[tuple[float, VideoFrame]] | None:
    """Decode from a key frame or before it; None if the file seeks to a later place.

    Frames shown before the key frame may depend on frames that were not decoded, and must not be used.
    """
    for before in SEEK_BEFORE:
        container.seek(outline.keyframes_pts[max(0, at - before)], stream=stream)
        frames = _timed(container, stream, path, outline, plan=plan)
        first = next(frames, None)
        if first is not None and first[0] <= outline.keyframes_s[at] + SAME_TIME_S:
            return itertools.chain([first], frames)
    return None


def _shown_size(frame: VideoFrame, pixel_aspect: float) -> tuple[float, float]:
    """Width and height of a frame in square pixels, before it is turned."""
    return frame.width * pixel_aspect, float(frame.height)


def pixels_of(frame: VideoFrame, pixel_aspect: float, scale: float = 1.0) -> Pixels:
    """Return a decoded frame upright, with square pixels, its sides multiplied by `scale`."""
    shown_width, shown_height = _shown_size(frame, pixel_aspect)
    width, height = max(1, round(shown_width * scale)), max(1, round(shown_height * scale))
    reduced = frame.reformat(width=width, height=height, format="rgb24", interpolation="AREA", threads=1)
    # The matrix is read from the copy: reading it ties a frame to itself, and frees it late.
    return np.ascontiguousarray(_upright(np.asarray(reduced.to_ndarray(), np.uint8), reduced))


def _upright(pixels: Pixels, frame: VideoFrame) -> Pixels:
    """Rotate and mirror a picture as the file states, by quarters of a turn.

    The display matrix maps x and y: to the right by ``xx`` and ``xy``, down by ``yx`` and ``yy``.
    """
    matrix: Any = frame.side_data.get("DISPLAYMATRIX")
    if matrix is None:
        return pixels
    xx, yx, _, xy, yy = np.frombuffer(bytes(matrix), np.int32)[:5].tolist()
    if abs(yx) > abs(xx):
        pixels, right, down = pixels.swapaxes(0, 1), xy, yx
    else:
        right, down = xx, yy
    return pixels[:: -1 if down < 0 else 1, :: -1 if right < 0 else 1]


def jpeg_of(pixels: Pixels) -> bytes:
    """Return a picture (H, W, 3) as a JPEG file."""
    try:
        from PIL import Image  # noqa: PLC0415 - only pictures need it
    except ModuleNotFoundError:
        raise MissingPackageError("pillow", "served", "writing pictures") from None
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=JPEG_QUALITY)
    return stream.getvalue()
