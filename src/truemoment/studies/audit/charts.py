"""Parts of figures that several checks draw: intervals, the method beside its floor, an axis in percent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.report.drawing import FLOOR, INK, METHOD, PAPER, SOFT, wrapped, write_beside

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_interval(axes: Axes, at: float, ci95: Floats, *, colour: str = INK) -> float:
    """Draw an interval and return its upper end; draw nothing and return 0 if it is undefined."""
    if not np.all(np.isfinite(ci95)):
        return 0.0
    axes.hlines(at, ci95[0], ci95[1], color=PAPER, linewidth=2.4)
    axes.hlines(at, ci95[0], ci95[1], color=colour, linewidth=1.2)
    return float(ci95[1])


def draw_dots(axes: Axes, own: Floats, floor: Floats, *, offset: float) -> None:
    """Draw the figures of the method and of the strongest floor, one row per figure, with a vertical offset."""
    rows = np.arange(len(own))
    axes.plot(own, rows - offset, "o", color=METHOD, label="the method", clip_on=False)
    axes.plot(
        floor, rows + offset, "D", color=FLOOR, mfc=PAPER, mew=1.2, ms=4.5, label="strongest floor", clip_on=False
    )


def draw_bar(axes: Axes, at: float, value: float, ci95: Floats, look: tuple[str, str, str | None]) -> None:
    """Draw a figure as a bar of this face, edge and hatch, with its interval and number; or "undefined"."""
    end = 0.0
    if np.isfinite(value):
        face, edge, hatch = look
        axes.barh(at, value, height=0.62, color=face, edgecolor=edge, hatch=hatch, linewidth=0.8)
        end = max(value, draw_interval(axes, at, ci95))
    write_beside(axes, f"{value:.1f}" if np.isfinite(value) else "undefined", end, at)


def name_rows(axes: Axes, names: Sequence[str], width: int) -> None:
    """Name the rows, the first one at the top."""
    axes.set_yticks(range(len(names)), [wrapped(name, width) for name in names])
    axes.set_ylim(max(len(names), 1) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0, pad=7)


def write_undefined(axes: Axes, values: Floats) -> None:
    """Write "undefined" in the row of each figure that is NaN."""
    for row in np.flatnonzero(~np.isfinite(values)).tolist():
        write_beside(axes, "undefined", 0, row, share_of_width=True, color=SOFT)


def percent_axis(axes: Axes, values: Floats, intervals: Floats, label: str) -> None:
    """Start the axis of a figure in percent at 0, and leave room for a number at its end."""
    reached = np.concatenate([np.ravel(values), 100 * np.ravel(intervals)])
    highest = float(np.max(reached[np.isfinite(reached)], initial=1.0))
    axes.set_xlim(0, highest * 1.14)
    axes.set_xlabel(label)
    axes.grid(axis="x")
