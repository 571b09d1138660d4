"""The frame rate of a video as an exact fraction, and its time code."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.media.video.stamps import FrameTable

RATES = tuple(
    Fraction(rate)
    for rate in (
        "24000/1001",
        "24",
        "25",
        "30000/1001",
        "30",
        "48",
        "50",
        "60000/1001",
        "60",
        "120000/1001",
        "120",
        "15",
        "12",
        "10",
    )
)
"""Nominal rates; the clock of many files is too coarse to distinguish 30000/1001 from 29.97."""

SMPTE = tuple(Fraction(rate) for rate in ("24000/1001", "24", "25", "30000/1001", "30", "48", "50", "60000/1001", "60"))
"""Rates that have time codes."""

SHARPEST_TICKS = 1.0
"""Ticks of the file's clock by which a frame may be off the time of a constant rate."""

TIME_CODE = re.compile(r"(\d\d):([0-5]\d):([0-5]\d)[:;](\d\d)")


def constant_rate(table: FrameTable) -> Fraction | None:
    """Return the frames per second of a video of constant rate, as an exact fraction; None for a variable rate.

    A nominal rate that explains all times to a tick of the clock comes first, then the fraction of equal steps.

    Examples
    --------
    >>> starts_ms = np.round(np.arange(300) * 1001 / 30).astype(int)  # a clock of milliseconds, 10 s
    >>> constant_rate(FrameTable(Fraction(1, 1000), starts_ms, 10_010))
    Fraction(30000, 1001)
    """
    if len(table) < 2:
        return None
    steps = np.diff(table.starts)
    fits = [rate for rate in RATES if _error_ticks(table, rate) <= SHARPEST_TICKS]
    if fits:
        return min(fits, key=lambda rate: _error_ticks(table, rate))
    if (steps == steps[0]).all():
        return 1 / (int(steps[0]) * table.tick)
    return None


def _error_ticks(table: FrameTable, rate: Fraction) -> float:
    """Return by how many ticks the worst frame is off a constant rate."""
    step_ticks = float(1 / (rate * table.tick))
    return float(np.abs(table.starts - table.starts[0] - step_ticks * np.arange(len(table))).max())


def nominal(rate: Fraction) -> int:
    """Return the whole frames that a time code counts per second: 30 for 30000/1001."""
    return round(rate)


def drops_frames(rate: Fraction) -> bool:
    """Whether time codes of this rate leave out numbers (drop frame), as is usual for 29.97 and 59.94."""
    return rate.denominator == 1001 and nominal(rate) % 30 == 0


def frames_of_time_code(text: str, rate: Fraction) -> int:
    """Return the number of the frame with a time code, ``01:00:00:00``, or ``01:00:00;00`` where frames are dropped.

    Raises
    ------
    UsageError
        If it is no time code, or has more frames than the rate.

    Examples
    --------
    >>> frames_of_time_code("00:01:00;02", Fraction(30000, 1001))
    1800
    """
    match = TIME_CODE.fullmatch(text)
    base = nominal(rate)
    if match is None or int(match[4]) >= base:
        raise UsageError(
            f"got the time code {text!r}, expected hours, minutes, seconds and frames below {base}: 01:00:00:00"
        )
    hours, minutes, seconds, frames = map(int, match.groups())
    count = (3600 * hours + 60 * minutes + seconds) * base + frames
    if ";" in text and drops_frames(rate):
        total = 60 * hours + minutes
        count -= base // 15 * (total - total // 10)
    return count


def frames_of_day(rate: Fraction) -> int:
    """Return the number of frames after which time codes begin again, 24 hours of them.

    Examples
    --------
    >>> frames_of_day(Fraction(25)), frames_of_day(Fraction(30000, 1001))
    (2160000, 2589408)
    """
    return frames_of_time_code(f"23:59:59;{nominal(rate) - 1:02d}", rate) + 1
