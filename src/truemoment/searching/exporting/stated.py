"""The time code that a file states."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from truemoment.base.errors import UsageError
from truemoment.media.video.containers import opened_container
from truemoment.media.video.frames import read_errors, reading_video
from truemoment.searching.exporting.rates import RATES
from truemoment.searching.exporting.timecodes import TimeCode, can_drop, read_time_code, time_code_of

if TYPE_CHECKING:
    from av.container import InputContainer

NUMBER_BYTES = 4
"""Size of the number of the first frame, in the time code track of QuickTime."""


def stated_time_code(path: Path, rate: Fraction) -> TimeCode | None:
    """Return the time code that a file states, drop-frame if it states so; else that of the rate.

    Labels of 60 frames a second may be those of 30, each for two frames (SMPTE ST 12-1). Some cameras mark the track as
    drop-frame at rates that have no such labels. FFmpeg then writes a label that is wrong, or none, so the number of
    the frame is read from the track itself.

    Raises
    ------
    UsageError
        If the labels do not count the frames of the film.
    """
    usual = time_code_of(rate)
    if usual is None:
        return None
    with reading_video(path), opened_container(path) as container:
        tables = (container.metadata, *(stream.metadata for stream in container.streams))
        labels = [text for table in tables for key, text in table.items() if key.lower() == "timecode"]
        number = _number_in_track(container)
    text = labels[0] if labels else ""
    counted = [rate, *RATES] if number is not None else [rate]
    read = (code for other in counted if (code := _read(text, other)) is not None and number in (None, code.first))
    codes = [code for code in read if can_drop(rate) or not code.drops]
    if codes and usual.base % codes[0].base == 0:
        return codes[0]._replace(base=usual.base, first=codes[0].first * (usual.base // codes[0].base))
    if number is not None and not can_drop(rate) and (not text or ";" in text):
        return usual._replace(first=number)
    code = _read(text.replace(";", ":"), rate)
    if not text or (code is not None and not codes):
        return code or usual
    raise UsageError(
        f"{path}: states the time code {text}{f' of {codes[0].base} frames per second' if codes else ''}, and the film "
        f"has {rate} frames per second; expected labels of its frames: set the first one with --start 00:00:00:00"
    )


def _read(text: str, rate: Fraction) -> TimeCode | None:
    """Return the time code that a label is at a rate; None if it is none."""
    try:
        return read_time_code(text, rate)
    except UsageError:
        return None


def _number_in_track(container: InputContainer) -> int | None:
    """Return the number of the first frame in a time code track, whose only packet it is; None without one."""
    tracks = [stream for stream in container.streams.data if getattr(stream, "frames", 0) == 1]
    if not tracks:
        return None
    try:
        numbers = [bytes(packet) for packet in container.demux(tracks) if packet.size == NUMBER_BYTES]
    except read_errors():
        return None
    return int.from_bytes(numbers[0], "big") if numbers else None
