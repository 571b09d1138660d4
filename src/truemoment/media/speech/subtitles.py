"""Subtitles as times of speech: cues of dialogue and songs; captions of sounds are left out.

SRT, WebVTT, ASS and MicroDVD are read. The text is UTF-8, else UTF-16 by its byte-order mark, else Windows-1252, which
is noted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from truemoment.base.boundary.files import BYTE_ORDER_MARK, read_bytes
from truemoment.base.errors import InputError
from truemoment.data.cues import ass_text, cues_of
from truemoment.media.speech.captions import CaptionKind, are_in_capitals, classify
from truemoment.media.video.containers import opened_container
from truemoment.media.video.frames import error_in_words, read_errors

LEAST_CUES_PER_MINUTE = 1.0
"""Fewer cues: a file that translates signs alone (forced subtitles)."""

LEAST_END = 0.6
"""A file whose last cue ends before this share of the film is incomplete, or another film's."""


LATE_S = 36.0
"""A file whose last cue ends so many seconds after the film is another film's."""
_FIELDS_BEFORE_TEXT = 8
"""Commas before the text of a line of ASS as FFmpeg decodes it."""


class Cue(NamedTuple):
    """A subtitle.

    Parameters
    ----------
    start_s, end_s
        When it is shown, in film time.
    text
        The spoken text, on one line, without tags, captions of sounds and names of speakers.
    kind
        ``sound`` for a caption of a sound, which is no speech.
    """

    start_s: float
    end_s: float
    text: str
    kind: CaptionKind


@dataclass(frozen=True)
class Subtitles:
    """The cues of a file.

    Parameters
    ----------
    cues
        In order of time.
    notes
        What a person should know about the file.
    doubts
        Why it should not be used; empty if it can be.
    """

    cues: tuple[Cue, ...]
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def spoken(self) -> list[Cue]:
        """Dialogue and songs."""
        return [cue for cue in self.cues if cue.kind != "sound"]

    def count(self, kind: CaptionKind) -> int:
        """Return the number of cues of a kind."""
        return sum(cue.kind == kind for cue in self.cues)


def read_subtitles(path: Path, *, fps: float | None = None) -> Subtitles:
    """Read a subtitle file.

    Parameters
    ----------
    path
        The file; ``FILM#sub:3`` is a stream of text in a film.
    fps
        Frames per second of MicroDVD, which counts frames.

    Raises
    ------
    InputError
        If it has no cues, or its form is unknown.
    """
    file, stream = embedded(path)
    notes: list[str] = []
    if stream is None:
        text, notes = _decoded(file)
        events = [(cue.start_s, cue.end_s, cue.text) for cue in cues_of(text, file, fps)]
    else:
        events = embedded_cues(file, stream)
    if not events:
        raise InputError("is no subtitle file that TrueMoment reads, expected SRT, WebVTT, ASS or MicroDVD", path=path)
    shown = [event for event in events if event[2].strip() and event[0] < event[1]]
    in_capitals = are_in_capitals(raw for *_, raw in shown)
    cues = sorted(Cue(start_s, end_s, *classify(raw, in_capitals=in_capitals)) for start_s, end_s, raw in shown)
    n_empty = sum(not raw.strip() for *_, raw in events)
    n_swapped = len(events) - len(shown) - n_empty
    left_out = [(n_swapped, "do not end after they start"), (n_empty, "have no text")]
    faults = [f"{count} of {len(events)} cues {why}" for count, why in left_out if count]
    if all(cue.kind == "sound" for cue in cues):
        problem = f"has no cues of speech: {', '.join(faults)}" if faults else "has no cues of speech"
        raise InputError(problem, path=path, hint="is it a file of subtitles?")
    notes += [f"{fault} and are left out" for fault in faults]
    return Subtitles(tuple(cues), tuple(notes))


def embedded(text: Path) -> tuple[Path, int | None]:
    """Return the file, and the number of the stream of ``FILM#sub:3``; None for a file of subtitles.

    Examples
    --------
    >>> embedded(Path("film.mkv#sub:3"))[1], embedded(Path("film.srt"))[1]
    (3, None)
    """
    name, mark, number = str(text).rpartition("#sub:")
    return (Path(name), int(number)) if mark and number.isdecimal() else (text, None)


def _decoded(path: Path) -> tuple[str, list[str]]:
    """Return the text of a file, and notes on its encoding."""
    data = read_bytes(path)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode("utf-16"), []
        except UnicodeDecodeError:
            raise InputError("got broken UTF-16, expected text", path=path) from None
    if b"\0" in data:
        raise InputError("contains NUL bytes, expected a text file of subtitles", path=path)
    try:
        return data.removeprefix(BYTE_ORDER_MARK).decode("utf-8"), []
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace"), ["the text is not UTF-8 and was read as Windows-1252"]


def with_doubts(subtitles: Subtitles, duration_s: float) -> Subtitles:
    """Return subtitles with the reasons why they may not be those of a film of this duration."""
    spoken = subtitles.spoken
    per_minute = 60 * len(spoken) / max(duration_s, 1e-9)
    end_s = max((cue.end_s for cue in spoken), default=0.0)
    doubts = []
    if per_minute < LEAST_CUES_PER_MINUTE:
        doubts.append(f"{per_minute:.2f} cues a minute, expected {LEAST_CUES_PER_MINUTE:g} or more")
    if ends_early(end_s, duration_s):
        doubts.append(f"the last cue ends at {end_s:.0f} s of {duration_s:.0f} s, before {100 * LEAST_END:g} %")
    if ends_late(end_s, duration_s):
        doubts.append(f"the last cue ends at {end_s:.0f} s, after the end of the film at {duration_s:.0f} s")
    return Subtitles(subtitles.cues, subtitles.notes, (*subtitles.doubts, *doubts))


def ends_early(end_s: float, duration_s: float) -> bool:
    """Whether a file whose last cue ends here is incomplete, or of a shorter film."""
    return end_s < LEAST_END * duration_s


def ends_late(end_s: float, duration_s: float) -> bool:
    """Whether a file whose last cue ends here is of a longer film."""
    return end_s > duration_s + LATE_S


def moved(subtitles: Subtitles, rate: float, delay_s: float) -> Subtitles:
    """Return subtitles at other times: ``rate x time + delay_s``."""
    cues = tuple(
        cue._replace(start_s=rate * cue.start_s + delay_s, end_s=rate * cue.end_s + delay_s) for cue in subtitles.cues
    )
    return Subtitles(cues, subtitles.notes, subtitles.doubts)


def cues_within(cues: Sequence[Cue], start_s: float, end_s: float, within_s: float) -> list[Cue]:
    """Return the cues that lie within some seconds of a span."""
    return [cue for cue in cues if cue.start_s - within_s < end_s and start_s < cue.end_s + within_s]


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
