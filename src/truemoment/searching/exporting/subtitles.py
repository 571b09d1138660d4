"""Moments of one video as subtitles: SubRip (``.srt``) and WebVTT (``.vtt``), one cue for each moment."""

from __future__ import annotations

import html
from collections.abc import Sequence

from truemoment.base.boundary.text import one_line
from truemoment.base.errors import MissingPackageError, UsageError
from truemoment.searching.exporting.moments import ExportedMoment


def srt_text(moments: Sequence[ExportedMoment]) -> str:
    """Return SubRip."""
    try:
        import pysubs2  # noqa: PLC0415 - an optional package
    except ImportError:
        raise MissingPackageError("pysubs2", "timelines", "subtitles") from None
    file = pysubs2.SSAFile()
    for start_ms, end_ms, sentence in _cues(moments, ".srt"):
        event = pysubs2.SSAEvent(start=start_ms, end=end_ms)
        event.plaintext = sentence.replace("{", "(").replace("}", ")").replace("\\", "/")
        file.events.append(event)
    return str(file.to_string("srt"))


def vtt_text(moments: Sequence[ExportedMoment]) -> str:
    """Return WebVTT, which players show as chapters too."""
    cues = [
        f"{number}\n{_clock(start_ms)} --> {_clock(end_ms)}\n{html.escape(sentence, quote=False)}\n"
        for number, (start_ms, end_ms, sentence) in enumerate(_cues(moments, ".vtt"), start=1)
    ]
    return "\n".join(["WEBVTT\n", *cues])


def _cues(moments: Sequence[ExportedMoment], form: str) -> list[tuple[int, int, str]]:
    """Return start and end in milliseconds and the sentence of each moment, in order of time."""
    films = list(dict.fromkeys(moment.film.path.name for moment in moments))
    if len(films) > 1:
        raise UsageError(
            f"{form}: found moments of {len(films)} videos, expected those of one: search one video, or write "
            ".otio or .csv"
        )
    cues = []
    for moment in moments:
        start_s, end_s = moment.times_s
        start_ms = round(1000 * start_s)
        cues.append((start_ms, max(start_ms + 1, round(1000 * end_s)), one_line(moment.sentence)))
    return sorted(cues)


def _clock(time_ms: int) -> str:
    seconds, ms = divmod(time_ms, 1000)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{ms:03d}"
