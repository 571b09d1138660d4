"""Time codes: labels of frames, ``HH:MM:SS:FF``, that count whole frames a second at every rate.

Convention
    SMPTE ST 12-1: at 30000/1001 frames a second labels count to 30. Non-drop-frame labels count every number, so an
    hour of them lasts 3.6 s longer. Drop-frame labels, ``HH:MM:SS;FF``, leave out the first two numbers of each minute
    but every tenth; at 60000/1001 the first four. No other rate has drop-frame labels.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from truemoment.base.errors import UsageError

WRITTEN = re.compile(r"(\d\d):([0-5]\d):([0-5]\d)([:;.])(\d\d\d?)")
"""A time code. The mark before its frames is ``:`` where they are counted without a gap."""

DROPPED_OF_15 = 15
"""Frames per second for which one number is dropped: 2 of 30, 4 of 60."""


class TimeCode(NamedTuple):
    """The time code of a film.

    Parameters
    ----------
    base
        Frames that labels count per second.
    drops
        Whether labels are drop-frame.
    first
        Number of the film's first frame, 0 for the label 00:00:00:00.

    Examples
    --------
    >>> TimeCode(30, True).label(1800), TimeCode(30, False).label(1800)
    ('00:01:00;02', '00:01:00:00')
    """

    base: int
    drops: bool
    first: int = 0

    @property
    def day(self) -> int:
        """Number of frames after which labels begin again, 24 hours of them.

        Examples
        --------
        >>> TimeCode(25, False).day, TimeCode(30, True).day
        (2160000, 2589408)
        """
        return 24 * 3600 * self.base - 24 * 54 * self.dropped

    @property
    def dropped(self) -> int:
        """Numbers left out at the start of a minute."""
        return self.base // DROPPED_OF_15 if self.drops else 0

    def label(self, frame: int) -> str:
        """Return the label of a frame of the film, counted from 0."""
        number = (self.first + frame) % self.day
        if self.drops:
            per_minute = 60 * self.base - self.dropped
            tens, rest = divmod(number, 10 * per_minute + self.dropped)
            minutes = max(0, rest - self.dropped) // per_minute
            number += self.dropped * (9 * tens + minutes)
        seconds, frames = divmod(number, self.base)
        mark = ";" if self.drops else ":"
        return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{mark}{frames:02d}"


def time_code_of(rate: Fraction) -> TimeCode | None:
    """Return the usual time code of a rate: drop-frame at 29.97 and 59.94; None for a rate without time codes.

    Examples
    --------
    >>> time_code_of(Fraction(30000, 1001)), time_code_of(Fraction(12)), time_code_of(Fraction(25, 2))
    (TimeCode(base=30, drops=True, first=0), TimeCode(base=12, drops=False, first=0), None)
    """
    base = round(rate)
    if rate not in (base, Fraction(1000 * base, 1001)):
        return None
    return TimeCode(base, can_drop(rate))


def read_time_code(text: str, rate: Fraction) -> TimeCode:
    """Return the time code of a film whose first frame has a label; the label shows whether frames are dropped.

    Raises
    ------
    UsageError
        If it is no label, or no frame of this rate has it.

    Examples
    --------
    >>> read_time_code("00:01:00;02", Fraction(30000, 1001))
    TimeCode(base=30, drops=True, first=1800)
    """
    usual = time_code_of(rate)
    if usual is None:
        raise UsageError(f"got the time code {text!r} for {rate} frames per second, a rate without time codes")
    match = WRITTEN.fullmatch(text)
    if match is None or int(match[5]) >= usual.base:
        raise UsageError(
            f"got the time code {text!r}, expected hours, minutes, seconds and frames below {usual.base}: 01:00:00:00"
        )
    code = usual._replace(drops=match[4] != ":")
    if code.drops and not can_drop(rate):
        raise UsageError(
            f"got the drop-frame time code {text!r} for {rate} frames per second, expected : before the frames; only "
            "29.97 and 59.94 drop frames"
        )
    hours, minutes, seconds, frames = (int(match[group]) for group in (1, 2, 3, 5))
    if code.drops and minutes % 10 and seconds == 0 and frames < code.dropped:
        raise UsageError(f"got the time code {text!r}, which no frame has: drop frame leaves out this number")
    total = 60 * hours + minutes
    first = (60 * total + seconds) * code.base + frames - code.dropped * (total - total // 10)
    return code._replace(first=first)


def can_drop(rate: Fraction) -> bool:
    """Whether a rate can have drop-frame time codes."""
    return rate in (Fraction(30000, 1001), Fraction(60000, 1001))
