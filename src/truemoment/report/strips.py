"""Strip charts: the axis that a page draws them on, and the figure of a file."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from truemoment.report.drawing import drawing_style, new_figure, wrapped, write_beside
from truemoment.report.model import Strip, StripMark
from truemoment.report.roles import GRID, ROLES, SOFT
from truemoment.report.words import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

N_STEPS = 5
"""Most steps of an axis."""


class StripAxis(NamedTuple):
    """The axis of a strip chart: its ends are the first and the last tick.

    Examples
    --------
    >>> StripAxis(0.0, 20.0, 3).ticks, StripAxis(0.0, 20.0, 3).place(15)
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

    def place(self, value: float) -> str:
        """Return where a value lies, in percent of the axis."""
        return f"{100 * (value - self.low) / (self.step * self.n_steps):.4g}%"


def strip_axis(strip: Strip) -> StripAxis:
    """Return the shortest axis of at most :data:`N_STEPS` round steps that contains all values and intervals."""
    marks = [*(mark for row in strip.rows for mark in row.marks), *([strip.line] if strip.line else [])]
    values = np.array([value for mark in marks for value in (mark.value, *mark.ci95)])
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    low, high = (min(low, 0.0), max(high, 0.0)) if strip.from_zero else (low, high)
    span = high - low or max(abs(high), 1.0)
    power = 10.0 ** math.floor(math.log10(span / N_STEPS))
    for step in (factor * power for factor in (1, 2, 2.5, 5, 10, 20)):
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        if last - first <= N_STEPS:
            break
    return StripAxis(first * step, step, max(last - first, 1))


def interval_text(mark: StripMark, decimals: int) -> str:
    """Return both ends of the interval of a mark; "" where it has none."""
    low, high = mark.ci95
    return f"{number(low, decimals)} to {number(high, decimals)}" if math.isfinite(low) and math.isfinite(high) else ""


def strip_figure(strip: Strip) -> Figure:
    """Draw a strip chart with matplotlib, for a file."""
    labels = [(row.label, row.is_main) for row in strip.rows]
    height_in = 0.2 if not strip.roles else 0.26
    lines = [wrapped(label, 24).count("\n") for label, _ in labels]
    with drawing_style():
        figure = new_figure(0.8 + 0.2 * bool(strip.roles) + height_in * len(labels) + 0.13 * sum(lines))
        axes = figure.add_subplot()
        for at, row in enumerate(strip.rows):
            for k, mark in enumerate(row.marks):
                offset = (k - (len(row.marks) - 1) / 2) * 0.3
                _draw_mark(axes, mark, at + offset, label=ROLES[mark.role].word if strip.roles else "")
            if not any(math.isfinite(mark.value) for mark in row.marks):
                write_beside(axes, "undefined", 0, at, share_of_width=True, color=SOFT)
            note = row.note if strip.note else ", ".join(number(mark.value, strip.decimals) for mark in row.marks[:1])
            write_beside(axes, note, 1, at, share_of_width=True, fontweight="bold" if row.is_main else "normal")
        if strip.note:
            write_beside(axes, strip.note, 1, -0.8, share_of_width=True, color=SOFT)
        axes.set_yticks(range(len(labels)), [wrapped(label, 24) for label, _ in labels])
        axes.set_ylim(max(len(labels), 1) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0, pad=7)
        for label, (_, is_main) in zip(axes.get_yticklabels(), labels, strict=True):
            label.set_fontweight("bold" if is_main else "normal")
        for edge in np.cumsum([len(rows) for _, rows in strip.groups])[:-1] - 0.5:
            axes.axhline(edge, color=GRID, linewidth=0.7, zorder=0)
        if strip.line is not None and math.isfinite(strip.line.value):
            look = ROLES[strip.line.role].look
            axes.axvline(strip.line.value, color=look.colour, linestyle=look.line, linewidth=0.9, zorder=0.5)
        ticks = strip_axis(strip).ticks
        axes.set_xlim(ticks[0], ticks[-1])
        axes.set_xticks(ticks, strip_axis(strip).tick_texts)
        axes.set_xlabel(strip.axis)
        axes.grid(axis="x")
        if strip.roles:
            handles, words = axes.get_legend_handles_labels()
            entries = dict(zip(words, handles, strict=True))
            figure.legend(entries.values(), entries.keys(), loc="outside upper center", ncols=3, columnspacing=1.2)
    return figure


def _draw_mark(axes: Axes, mark: StripMark, at: float, *, label: str) -> None:
    look = ROLES[mark.role].look
    if not math.isfinite(mark.value):
        return
    if all(map(math.isfinite, mark.ci95)):
        axes.hlines(at, *mark.ci95, color=look.colour, linewidth=1.4)
    size = 9 if look.marker == "|" else 5
    axes.plot(
        [mark.value],
        [at],
        look.marker,
        color=look.colour,
        mfc=look.face,
        mew=2 if look.marker == "|" else 1.2,
        ms=size,
        label=label,
        clip_on=False,
    )
