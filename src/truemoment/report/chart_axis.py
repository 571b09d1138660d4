"""Axes of charts: round ticks, and the place of a value."""

from __future__ import annotations

import math
from typing import NamedTuple

from truemoment.report.charts import Plot, StripChart, StripMark
from truemoment.report.words import number

N_STEPS = 5
"""Most steps of an axis."""


class ChartAxis(NamedTuple):
    """An axis of round steps: its ends are the first and the last tick.

    Examples
    --------
    >>> ChartAxis(0.0, 20.0, 3).ticks, ChartAxis(0.0, 20.0, 3).place(15)
    ((0.0, 20.0, 40.0, 60.0), '25%')
    """

    low: float
    step: float
    n_steps: int

    @property
    def ticks(self) -> tuple[float, ...]:
        """Values of the ticks."""
        return tuple(self.low + self.step * number for number in range(self.n_steps + 1))

    @property
    def tick_texts(self) -> list[str]:
        """Ticks in as few decimals as they need."""
        decimals = len(f"{self.step:.9g}".partition(".")[2])
        return [number(value, decimals) for value in self.ticks]

    def share(self, value: float) -> float:
        """Return where a value lies, as a share of the axis."""
        return (value - self.low) / (self.step * self.n_steps)

    def place(self, value: float) -> str:
        """Return where a value lies, in percent of the axis."""
        return f"{100 * self.share(value):.4g}%"


def plot_axes(plot: Plot) -> tuple[ChartAxis, ChartAxis]:
    """Return the axes of x and y of a plot."""
    values = [value for curve in plot.curves for value in curve.y if math.isfinite(value)]
    ends = [plot.x_end] if plot.x_end is not None else [value for curve in plot.curves for value in curve.x]
    return nice_axis(0.0, max(ends, default=1.0)), nice_axis(0.0, max(values, default=1.0))


def nice_axis(low: float, high: float) -> ChartAxis:
    """Return the shortest axis of at most :data:`N_STEPS` round steps from `low` or less to `high` or more.

    Around a single value it reaches a twentieth of the value to both sides; 0 is the beginning of an axis.

    Examples
    --------
    >>> nice_axis(65.8, 65.8).ticks, nice_axis(0, 0).tick_texts[-1]
    ((62.0, 64.0, 66.0, 68.0, 70.0), '1.0')
    """
    if not high > low:
        low, high = low - 0.05 * abs(low), high + (0.05 * abs(high) or 1.0)
    span = high - low
    power = 10.0 ** math.floor(math.log10(span / N_STEPS))
    for step in (factor * power for factor in (1, 2, 2.5, 5, 10, 20)):
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        if last - first <= N_STEPS:
            break
    return ChartAxis(first * step, step, max(last - first, 1))


def strip_axis(strip: StripChart) -> ChartAxis:
    """Return the axis of a strip chart: it contains all values and intervals."""
    marks = [*(mark for row in strip.rows for mark in row.marks), *([strip.line] if strip.line else [])]
    values = [value for mark in marks for value in (mark.value, *mark.ci95) if math.isfinite(value)]
    values += [0.0] if strip.from_zero or not values else []
    return nice_axis(min(values), max(values))


def interval_text(mark: StripMark, decimals: int) -> str:
    """Return both ends of the interval of a mark; "" where it has none."""
    low, high = mark.ci95
    return f"{number(low, decimals)} to {number(high, decimals)}" if math.isfinite(low) and math.isfinite(high) else ""
