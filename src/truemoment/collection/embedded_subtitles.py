"""Subtitles that are a stream of text in a film."""

from __future__ import annotations

import re
from pathlib import Path

from truemoment.base.errors import InputError
from truemoment.media.video.containers import opened_container
from truemoment.media.video.frames import error_in_words, read_errors

_FIELDS_BEFORE_TEXT = 8
"""Commas before the text of a line of ASS as FFmpeg decodes it."""

_TAG = re.compile(r"\{[^}]*\}")


def embedded_cues(path: Path, number: int) -> list[tuple[float, float, str]]:
    """Return start, end and text of every cue of a stream of text.

    Parameters
    ----------
    path
        The film.
    number
        Number of the stream in the file.
    """
    cues = []
    try:
        with opened_container(path) as container:
            streams = {stream.index: stream for stream in container.streams.subtitles}
            if number not in streams:
                numbers = ", ".join(map(str, streams)) or "none"
                raise InputError(f"has no stream {number} of subtitles, expected one of: {numbers}", path=path)
            clock_s = (container.start_time or 0) / 1e6
            for packet in container.demux(streams[number]):
                if packet.pts is None or not packet.size:
                    continue
                start_s = float(packet.pts * packet.time_base) - clock_s
                end_s = start_s + float((packet.duration or 0) * packet.time_base)
                lines = [_text_of(rect) for rect in packet.decode()]
                if text := "\n".join(line for line in lines if line):
                    cues.append((start_s, end_s, text))
    except read_errors() as error:
        raise InputError(f"subtitles cannot be read ({error_in_words(error)})", path=path) from None
    if not cues:
        hint = "pictures are not read: give a file of subtitles"
        raise InputError(f"stream {number} has no subtitles of text", path=path, hint=hint)
    return cues


def _text_of(rect: object) -> str:
    """Return the text of a decoded subtitle; "" for a picture."""
    line = getattr(rect, "ass", b"") or getattr(rect, "text", b"")
    text = line.decode("utf-8", "replace") if isinstance(line, bytes) else str(line)
    parts = text.split(",", _FIELDS_BEFORE_TEXT)
    return _TAG.sub("", parts[-1].replace("\\N", "\n").replace("\\n", "\n")).strip()
