"""The time code that a file states."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from truemoment.base.errors import UsageError
from truemoment.media.video.containers import opened_container
from truemoment.media.video.frames import read_errors, reading_video
from truemoment.searching.exporting.timecodes import TimeCode, can_drop, read_time_code, time_code_of

if TYPE_CHECKING:
    from av.container import InputContainer

NUMBER_BYTES = 4
"""Of the number of the first frame, in the time code track of QuickTime."""


def stated_time_code(path: Path, rate: Fraction) -> TimeCode | None:
    """Return the time code that a file states, drop-frame if it states so; else that of the rate.

    Some cameras mark the track as drop-frame at rates that have no such labels. FFmpeg then writes a label that is
    wrong, or none, so the number of the frame is read from the track itself.
    """
    usual = time_code_of(rate)
    with reading_video(path), opened_container(path) as container:
        tables = (container.metadata, *(stream.metadata for stream in container.streams))
        labels = [text for table in tables for key, text in table.items() if key.lower() == "timecode"]
        text = labels[0] if labels else ""
        if usual is not None and not can_drop(rate) and (not text or ";" in text):
            first = _number_in_track(container)
            if first is not None:
                return usual._replace(first=first)
            text = text.replace(";", ":")
    try:
        return read_time_code(text, rate) if text else usual
    except UsageError:
        return usual


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
