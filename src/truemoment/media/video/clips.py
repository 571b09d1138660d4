"""Pictures and clips of a video to look at."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise, takewhile
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from truemoment.base.boundary.files import atomic_write
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError, UsageError
from truemoment.media.video.frames import (
    Outline,
    frames_between,
    has_decoder,
    jpeg_of,
    opened,
    outline_of,
    packets_of,
    pixels_of,
    read_errors,
    reading_video,
    shown_at,
)

if TYPE_CHECKING:
    from av.audio.stream import AudioStream
    from av.container import InputContainer, OutputContainer
    from av.packet import Packet
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

Samples = npt.NDArray[np.float32]  # sound, (channels, samples)

TICKS_A_SECOND = 90_000
"""The clock of a clip: exact enough for any frame rate."""

AAC_RATES = (96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000)
"""Samples a second that AAC knows; sound of another rate is converted to 48,000."""

LEAST_RATE = 1000
"""Samples a second below which there is no sound to be heard, and much to be made of little."""

BT709, LIMITED = 1, 1
"""Numbers of H.273 for how a clip's colours are coded: the matrix, and the range 16 to 235."""

SOUND_BLOCK = 1024
"""Samples that are encoded at a time: what AAC puts into one packet."""


@dataclass(frozen=True)
class ClipForm:
    """How a part of a video is encoded.

    Parameters
    ----------
    ticks_a_second
        The clock of the file that is written.
    most_lines
        Largest height in pixels; larger pictures are reduced. None keeps the size.
    key_s
        Longest time between key frames in seconds; None leaves it to the encoder.
    crf
        Quality of H.264, lower is better.
    """

    ticks_a_second: int = TICKS_A_SECOND
    most_lines: int | None = None
    key_s: float | None = None
    crf: int = 20


def thumbnail(path: AnyPath, time_s: float, longest_side: int = 320, *, outline: Outline | None = None) -> bytes:
    """Return the picture shown at a time (clipped to the video) as a JPEG file of at most `longest_side` pixels."""
    if not 16 <= longest_side <= 8192:
        raise UsageError(f"got a longest side of {longest_side}, expected 16 to 8192 pixels")
    if np.isnan(time_s):
        raise UsageError("got a time that is no number, expected seconds")
    outline = outline or outline_of(path)
    time_s = min(max(0.0, time_s), outline.duration_s)
    _, frame = next(shown_at(path, outline, [time_s]))
    scale = min(1.0, longest_side / max(frame.width * outline.pixel_aspect, frame.height))
    with reading_video(path):
        return jpeg_of(pixels_of(frame, outline.pixel_aspect, scale))


def cut_clip(path: AnyPath, out: AnyPath, start_s: float, end_s: float, *, outline: Outline | None = None) -> None:
    """Write a part of a video, clipped to it, as an MP4 file, exact to the frame, with its sound if there is any.

    The part is re-encoded (H.264 and AAC), since a copy can start at a key frame only. Frame times are kept; the first
    frame is the one shown at `start_s`.
    """
    if out.suffix.lower() != ".mp4":
        raise UsageError(f"got {out.name} to write a clip to, expected a name that ends in .mp4")
    if out.exists() and path.exists() and os.path.samestat(out.stat(), path.stat()):
        raise UsageError(f"{out} is the video itself, expected another file for the clip")
    outline = outline or outline_of(path)
    if not start_s < end_s:
        raise UsageError(f"got the part from {start_s:g} to {end_s:g} s, expected start < end")
    start_s, end_s = max(0.0, start_s), min(end_s, outline.duration_s)
    if not start_s < end_s:
        raise UsageError(f"got a part outside the video, which lasts {outline.duration_s:.3f} s")
    with atomic_write(out) as stream:
        _write_clip(stream, path, outline, start_s, end_s)


def _write_clip(stream: IO[bytes], path: AnyPath, outline: Outline, start_s: float, end_s: float) -> None:
    import av  # noqa: PLC0415 - only videos need it

    sink = _Sink(stream)
    try:
        with av.open(sink, "w", format="mp4") as container:
            encode_part(container, path, outline, (start_s, end_s), form=ClipForm(), goes_on=lambda: sink.fault is None)
    except read_errors() as error:
        if sink.fault is None:
            raise InputError(f"cannot be cut into a clip ({' '.join(str(error).split())})", path=path) from None
    if sink.fault is not None:
        raise sink.fault


def encode_part(
    container: OutputContainer,
    path: AnyPath,
    outline: Outline,
    part_s: tuple[float, float],
    *,
    form: ClipForm,
    goes_on: Callable[[], bool] = lambda: True,
) -> None:
    """Encode a part of a video into a container, pictures as H.264 without B-frames and sound as AAC.

    Parameters
    ----------
    part_s
        Start and end in seconds, within the video.
    goes_on
        Asked before each frame: the rest is left out once it returns False.
    """
    start_s, end_s = part_s
    shown = frames_between(path, outline, start_s, end_s)
    first = next(shown, None)
    if first is None:
        raise InputError(f"has no frame from {start_s:.3f} to {end_s:.3f} s", path=path)
    sound = _sound_form(path)
    pictures = container.add_stream("libx264", rate=form.ticks_a_second)
    voice = container.add_stream("aac", rate=sound[0], layout=sound[1]) if sound else None
    written = takewhile(lambda _: goes_on(), chain([first], shown))
    _encode_pictures(container, pictures, written, outline.pixel_aspect, part_s, form=form)
    if voice is not None:
        _encode_sound(container, voice, _sound_between(path, outline, start_s, end_s, voice))


class _Sink:
    """A file that PyAV writes to. Errors are stored in `fault`: PyAV may lose or print an error raised there."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.fault: OSError | None = None

    def write(self, data: bytes) -> int:
        try:
            self._stream.write(data)
        except OSError as error:
            self.fault = self.fault or error
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        try:
            return self._stream.seek(offset, whence)
        except OSError as error:
            self.fault = self.fault or error
            return offset

    def tell(self) -> int:
        return self._stream.tell()


def _encode_pictures(
    container: OutputContainer,
    stream: VideoStream,
    shown: Iterator[tuple[float, VideoFrame]],
    pixel_aspect: float,
    part_s: tuple[float, float],
    *,
    form: ClipForm,
) -> None:
    import av  # noqa: PLC0415 - only videos need it

    start_s, end_s = part_s
    ticks = form.ticks_a_second
    lasts: dict[int | None, int] = {}
    last_tick = round((end_s - start_s) * ticks)
    timed = ((round((time_s - start_s) * ticks), frame) for time_s, frame in shown)
    next_key = 0.0
    for (tick, frame), (next_tick, _) in pairwise(chain(timed, [(last_tick, None)])):
        if frame is None or next_tick <= tick:
            continue
        shorter = min(frame.height, frame.width)  # the picture may be turned
        scale = 1.0 if form.most_lines is None else min(1.0, form.most_lines / shorter)
        picture = pixels_of(frame, pixel_aspect, scale)
        height, width = picture.shape[:2]  # H.264 needs even sides
        picture = np.pad(picture, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
        if not lasts:
            stream.height, stream.width = picture.shape[:2]
            stream.pix_fmt = "yuv420p"
            context = stream.codec_context
            context.time_base = Fraction(1, ticks)
            context.options = {"preset": "veryfast", "crf": str(form.crf), "bf": "0", "forced-idr": "1"}
            # Players guess colours that are not stated by the picture's size. These stay as the video's.
            context.colorspace, context.color_range = BT709, LIMITED
            context.color_primaries, context.color_trc = frame.color_primaries, frame.color_trc
        lasts[tick] = next_tick - tick
        coded = av.VideoFrame.from_ndarray(picture, format="rgb24").reformat(
            width=stream.width,  # a video may change its size on the way
            height=stream.height,
            format="yuv420p",
            dst_colorspace="ITU709",
            dst_color_range="MPEG",
        )
        coded.pts, coded.time_base = tick, Fraction(1, ticks)
        if form.key_s is not None and tick >= next_key:
            coded.pict_type = av.video.frame.PictureType.I
            next_key = tick + form.key_s * ticks
        _mux(container, stream.encode(coded), lasts)
    _mux(container, stream.encode(), lasts)


def _mux(container: OutputContainer, packets: list[Packet[Any]], lasts: dict[int | None, int]) -> None:
    """Write packets, each with the duration of its frame: the encoder has no frame after the last."""
    for packet in packets:
        packet.duration = lasts.pop(packet.pts, 0)
        container.mux(packet)


def _sound_form(path: AnyPath) -> tuple[int, str] | None:
    """Return the form in which the sound of a video is written: samples a second and channels; None without sound."""
    with opened(path) as (container, _):
        stream = sound_of(container)
        if stream is None:
            return None
        rate = stream.rate if stream.rate in AAC_RATES else 48000
        return rate, "mono" if stream.channels == 1 else "stereo"


def sound_of(container: InputContainer) -> AudioStream | None:
    """Return the first stream of sound that can be decoded; None if there is none."""
    for stream in container.streams.audio:
        if has_decoder(stream) and stream.rate >= LEAST_RATE and stream.channels:
            return stream
    return None


def _sound_between(
    path: AnyPath, outline: Outline, start_s: float, end_s: float, like: AudioStream
) -> Iterator[tuple[int, Samples]]:
    """Yield the sound of a part (channels, samples), with the number of its first sample; faulty sound is left out."""
    import av  # noqa: PLC0415 - only videos need it

    rate = like.rate or 48000
    n_samples = round((end_s - start_s) * rate)
    resampler = av.AudioResampler(format="fltp", layout=like.layout, rate=rate)
    with opened(path) as (container, _):
        stream = sound_of(container)
        if stream is None:
            return
        tick_s = float(stream.time_base or 0)
        if tick_s:
            container.seek(max(0, int((start_s + outline.origin_s) / tick_s)), stream=stream)
        for packet in packets_of(container, stream):
            try:
                frames = [part for frame in packet.decode() for part in resampler.resample(frame)]
            except read_errors():
                continue
            for frame in frames:
                if frame.pts is None:
                    continue
                at = round((float(frame.pts * (frame.time_base or 0)) - outline.origin_s - start_s) * rate)
                if at >= n_samples:
                    return
                samples = frame.to_ndarray().astype(np.float32, copy=False)[:, max(0, -at) : n_samples - at]
                if samples.shape[1]:
                    yield max(0, at), samples


def _encode_sound(container: OutputContainer, stream: AudioStream, parts: Iterator[tuple[int, Samples]]) -> None:
    import av  # noqa: PLC0415 - only videos need it

    done = 0

    def put(samples: Samples) -> None:
        nonlocal done
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples), "fltp", stream.layout.name)
        frame.sample_rate, frame.pts, frame.time_base = stream.rate, done, Fraction(1, stream.rate)
        done += samples.shape[1]
        container.mux(stream.encode(frame))

    for at, samples in parts:
        for first in range(done, at, SOUND_BLOCK):
            put(np.zeros((len(samples), min(SOUND_BLOCK, at - first)), np.float32))
        put(samples[:, max(0, done - at) :])
    container.mux(stream.encode())
