"""Subtitles that are a stream of text in a film."""

from __future__ import annotations

from pathlib import Path

from truemoment.base.errors import InputError
from truemoment.data.cues import ass_text
from truemoment.media.video.containers import opened_container
from truemoment.media.video.frames import error_in_words, read_errors

_FIELDS_BEFORE_TEXT = 8
"""Commas before the text of a line of ASS as FFmpeg decodes it."""


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
                if not packet.size:
                    continue
                if packet.pts is None:
                    raise InputError(f"has a subtitle without a time in stream {number}", path=path)
                start_s = float(packet.pts * packet.time_base) - clock_s
                end_s = start_s + float((packet.duration or 0) * packet.time_base)
                if rects := packet.decode():  # none in the gaps that MP4 fills
                    cues.append((start_s, end_s, "\n".join(filter(None, map(_text_of, rects)))))
    except read_errors() as error:
        raise InputError(f"subtitles cannot be read ({error_in_words(error)})", path=path) from None
    if not any(text for *_, text in cues):
        hint = "pictures are not read: give a file of subtitles"
        raise InputError(f"stream {number} has no subtitles of text", path=path, hint=hint)
    return cues


def _text_of(rect: object) -> str:
    """Return the text of a decoded subtitle; "" for a picture."""
    line = getattr(rect, "ass", b"") or getattr(rect, "text", b"")
    text = line.decode("utf-8", "replace") if isinstance(line, bytes) else str(line)
    return ass_text(text.split(",", _FIELDS_BEFORE_TEXT)[-1]).strip()
