"""Check whether browsers play a video exactly, and a copy that they play exactly.

A browser shows a file whose clock starts late on its raw clock, so its times would be off by the start; it cannot play
some codecs; and it seeks slowly where key frames are far apart. Such videos get a copy: H.264, yuv420p, at most 720
lines, a key frame a second, no B-frames, AAC, its clock from 0, and the same frame times.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import chain
from types import MappingProxyType
from typing import BinaryIO

import numpy as np

from truemoment.base.boundary.folders import temporary_file
from truemoment.base.boundary.inputs import reading
from truemoment.base.boundary.own_path import AnyPath, OwnPath, open_regular, path_of_opened
from truemoment.base.errors import InputError
from truemoment.media.video.clips import ClipForm, encode_part
from truemoment.media.video.frames import Outline, opened, origin_s, read_errors
from truemoment.media.video.stamps import FrameTable

CODECS = ("h264", "vp9", "av1")
"""Codecs that browsers play; VP8 has packets that are not shown, which frame tables would count."""

_CODEC_OF_DECODER = MappingProxyType({"libdav1d": "av1", "libvpx-vp9": "vp9", "libaom-av1": "av1"})

PIXEL_FORMATS = ("yuv420p", "yuvj420p")
"""8 bits a sample."""

MOST_KEY_S = 2.0
"""Longest time between key frames that is quick to seek in."""

MOST_BITS_A_SECOND = 12_000_000

COPY_LINES, COPY_KEY_S, COPY_CRF = 720, 1.0, 21

MOST_TICKS_A_SECOND = 1_000_000

FAST_START = {"movflags": "faststart"}
"""Option of FFmpeg that puts the index of an MP4 file in front."""


def why_copy(path: AnyPath, table: FrameTable, outline: Outline, *, slow: bool = True) -> str:
    """Return why browsers would not play a video exactly; "" if they do.

    Parameters
    ----------
    slow
        Whether a file that plays exactly, but slowly, counts too.
    """
    own = _wrong(path, table, outline)
    return next(chain(own, _slow(path, outline)) if slow else own, "")


def why_unplayable(path: AnyPath) -> str:
    """Return why browsers would not play a video at all, or at other times, as far as its head shows; "" if they do.

    Nothing is decoded, and the file is not read whole.
    """
    with opened(path) as (container, stream):
        started = stream.start_time
        first_s = 0.0 if started is None else float(started * (stream.time_base or 0))
        clock_s = origin_s(container, first_s)
        half_frame_s = 0.5 / float(stream.average_rate or 25)
    return next(chain(_unknown(path), _late(clock_s, first_s - clock_s, half_frame_s)), "")


def _wrong(path: AnyPath, table: FrameTable, outline: Outline) -> Iterator[str]:
    yield from _unknown(path)
    yield from _late(outline.origin_s, float(table.edges_s[0]), table.duration_s / len(table) / 2)


def _late(clock_s: float, first_s: float, half_frame_s: float) -> Iterator[str]:
    if abs(clock_s) >= half_frame_s:
        yield f"its clock starts at {clock_s:.2f} s"
    if first_s >= half_frame_s:
        yield f"its first frame is shown at {first_s:.2f} s"


def _unknown(path: AnyPath) -> Iterator[str]:
    """Yield the properties of a file that browsers do not support."""
    with opened(path) as (container, stream):
        names = set(container.format.name.split(","))
        codec, pixels = stream.codec_context.name, stream.codec_context.pix_fmt or ""
        codec = _CODEC_OF_DECODER.get(codec, codec)
    if not _is_mp4(path, names) and not ("webm" in names and path.suffix.lower() == ".webm"):
        yield f"a file of type {path.suffix.lower() or 'unknown'}"
    if codec not in CODECS:
        yield f"codec {codec}"
    if pixels not in PIXEL_FORMATS:
        yield f"pixels {pixels or 'unknown'}"


def _is_mp4(path: AnyPath, names: set[str]) -> bool:
    return "mp4" in names and path.suffix.lower() in (".mp4", ".m4v")


def _slow(path: AnyPath, outline: Outline) -> Iterator[str]:
    with opened(path) as (container, _):
        is_mp4 = _is_mp4(path, set(container.format.name.split(",")))
    if is_mp4 and not _index_in_front(path):
        yield "its index is at the end"
    if max(np.diff([0.0, *outline.keyframes_s, outline.duration_s])) > MOST_KEY_S + 0.1:
        yield "key frames are more than 2 s apart"
    if path.stat().st_size * 8 > MOST_BITS_A_SECOND * outline.duration_s:
        yield "more than 12 Mbit/s"


def _index_in_front(path: AnyPath) -> bool:
    """Whether the index of an MP4 file (``moov``) is before its pictures (``mdat``)."""
    with open_regular(reading(path)) as stream:
        while (box := _next_box(stream)) is not None:
            kind, length = box
            if kind in (b"moov", b"mdat"):
                return kind == b"moov"
            stream.seek(length, 1)
    return False


def _next_box(stream: BinaryIO) -> tuple[bytes, int] | None:
    """Return the kind of the next box of an MP4 file, and how many bytes of it follow; None at the end."""
    head = stream.read(8)
    if len(head) < 8:
        return None
    size, kind = struct.unpack(">I4s", head)
    if size == 1:
        (size,) = struct.unpack(">Q", stream.read(8).ljust(8, b"\0"))
        return kind, max(0, size - 16)
    return (kind, size - 8) if size >= 8 else None


def write_playable(path: AnyPath, out: OwnPath, table: FrameTable, outline: Outline) -> None:
    """Write the playable copy of a video; the file appears under its name only when it is complete."""
    import av  # noqa: PLC0415 - only videos need it

    exact = table.tick.denominator <= MOST_TICKS_A_SECOND
    form = ClipForm(
        ticks_a_second=table.tick.denominator if exact else 90_000,
        most_lines=COPY_LINES,
        key_s=COPY_KEY_S,
        crf=COPY_CRF,
    )
    with temporary_file(out.parent) as fresh:
        try:
            with (
                open_regular(fresh, "r+b") as stream,  # FFmpeg opens it again to move its index to the front
                av.open(path_of_opened(stream, fresh), "w", format="mp4", options=FAST_START) as container,
            ):
                encode_part(container, path, outline, (0.0, outline.duration_s), form=form)
        except read_errors() as error:
            raise InputError(f"cannot be copied ({' '.join(str(error).split())})", path=path) from None
        fresh.chmod(0o644)
        fresh.rename(out)
