"""Cues of subtitles, SRT and WebVTT: lines ``START --> END`` and the text below each."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from truemoment.base.boundary.files import read_number
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError

ARROW = "-->"
_TIMES = re.compile(r"\s*(?P<start>\S+)\s*-->\s*(?P<end>\S+)(?:\s.*)?")
_MARKUP = re.compile(r"<[^>]*>|\{\\[^}]*\}")


class TimedText(NamedTuple):
    """A cue: line of its times, start and end in seconds, and its text without markup, on one line."""

    line: int
    start_s: float
    end_s: float
    text: str


def read_clock(text: str, path: AnyPath, line: int) -> float:
    """Return the seconds of ``HH:MM:SS.mmm`` or ``MM:SS.mmm``, with a dot or a comma and any number of digits."""
    parts = [read_number(part) for part in text.replace(",", ".").replace("\N{FULLWIDTH COMMA}", ".").split(":")]
    if not 2 <= len(parts) <= 3 or any(math.isnan(part) or part < 0 for part in parts):
        raise InputError(f"got the time {text[:40]!r}, expected HH:MM:SS.mmm", path=path, line=line)
    return sum(part * 60.0**power for power, part in enumerate(reversed(parts)))


def times_of(line: str, path: AnyPath, number: int) -> tuple[float, float] | None:
    """Return start and end of a line of times; None for another line, and a refusal where it cannot be read."""
    if ARROW not in line:
        return None
    times = _TIMES.fullmatch(line)
    if times is None:
        raise InputError(f"got {line.strip()[:60]!r}, expected START --> END", path=path, line=number)
    return read_clock(times["start"], path, number), read_clock(times["end"], path, number)


def cues_of(text: str, path: AnyPath) -> Iterator[TimedText]:
    """Yield every cue of a text of SRT or WebVTT; the number or name above a cue is no part of its text.

    A blank line ends a cue of WebVTT. In SRT the text goes up to the number of the next cue.
    """
    lines = text.splitlines()
    blank_ends = text.lstrip().startswith("WEBVTT")
    starts = [(number, times) for number, line in enumerate(lines) if (times := times_of(line, path, number + 1))]
    for (number, times), below in zip(starts, [*(number for number, _ in starts[1:]), len(lines)], strict=True):
        words = [_MARKUP.sub("", line).strip() for line in lines[number + 1 : below]]
        if blank_ends and "" in words:
            words = words[: words.index("")]
        elif below < len(lines) and words and words[-1].isdecimal():
            words.pop()
        yield TimedText(number + 1, *times, " ".join(filter(None, words)))
