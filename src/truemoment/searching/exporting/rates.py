"""The frame rate of a video as an exact fraction."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

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

COARSE_CLOCK = Fraction(1, 1000)
"""Seconds; the clock of Matroska, FLV and WMV. The ticks of a frame table are finer."""


def constant_rate(table: FrameTable) -> Fraction | None:
    """Return the frames per second of a video of constant rate, as an exact fraction; None for a variable rate.

    A nominal rate that explains all times to a tick of the file's clock comes first, then the fraction of equal steps.

    Examples
    --------
    >>> starts_ms = np.round(np.arange(300) * 1001 / 30).astype(int)  # a clock of milliseconds, 10 s
    >>> constant_rate(FrameTable(Fraction(1, 1000), starts_ms, 10_010))
    Fraction(30000, 1001)
    """
    if len(table) < 2:
        return None
    steps = np.diff(table.starts)
    clock_ticks = math.gcd(*map(int, np.unique(steps)))
    most_ticks = clock_ticks if clock_ticks * table.tick <= COARSE_CLOCK else 1
    fits = [rate for rate in RATES if _error_ticks(table, rate) <= most_ticks]
    if fits:
        return min(fits, key=lambda rate: _error_ticks(table, rate))
    if (steps == steps[0]).all():
        return 1 / (int(steps[0]) * table.tick)
    return None


def _error_ticks(table: FrameTable, rate: Fraction) -> float:
    """Return by how many ticks the worst frame is off a constant rate."""
    step_ticks = float(1 / (rate * table.tick))
    return float(np.abs(table.starts - table.starts[0] - step_ticks * np.arange(len(table))).max())
