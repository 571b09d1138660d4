"""Figures of the verdict: the method beside floors and ceilings, and every measure beside the strongest floor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from truemoment.baselines.floors import FloorResult
from truemoment.report.drawing import (
    CEILING,
    CEILING_FAINT,
    FLOOR,
    FLOOR_FAINT,
    METHOD,
    OTHER,
    OTHER_FAINT,
    drawing_style,
    new_figure,
    wrapped,
)
from truemoment.studies.audit.charts import draw_bar, draw_dots, draw_interval, name_rows, percent_axis, write_undefined
from truemoment.studies.audit.resampling import figures
from truemoment.studies.audit.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def floors_figure(results: Results) -> Figure:
    """Draw the headline measure of the method, the floors and the ceilings as bars with 95 % intervals."""
    setup, measure, m = results.setup, results.measure, results.headline
    baselines = [*results.floors, *results.ceilings]
    floor = results.floors[int(results.verdict.strongest[m])]
    names = [wrapped(setup.predictions.name), *(wrapped(baseline.called(m)) for baseline in baselines)]
    names[1 + baselines.index(floor)] += "\n(strongest floor)"
    values = 100 * np.array([of.value(measure) for of in (results.scores, *(r.scores for r in baselines))])
    with drawing_style():
        lines = np.array([name.count("\n") + 1 for name in names])
        heights = np.maximum(0.62 + 0.38 * lines, 1)
        at = np.cumsum(heights) - heights / 2
        figure = new_figure(0.62 + 0.26 * float(heights.sum()))
        axes = figure.add_subplot()
        for row, value in enumerate(values):
            look = _bar_look(None if row == 0 else baselines[row - 1], floor)
            draw_bar(axes, at[row], value, 100 * results.ci95[row, m], look)
        to_beat = values[1 + baselines.index(floor)]
        if np.isfinite(to_beat):
            axes.axvline(to_beat, color=FLOOR, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0.5)
        axes.set_yticks(at, names)
        axes.get_yticklabels()[0].set_fontweight("bold")
        axes.set_ylim(float(heights.sum()), 0)
        axes.tick_params(axis="y", length=0, pad=7)
        percent_axis(axes, values, results.ci95[:, m], f"{measure}, %")
    return figure


def _bar_look(baseline: FloorResult | None, strongest: FloorResult) -> tuple[str, str, str | None]:
    """Face, edge and hatch of a bar; None is the method."""
    if baseline is None:
        return METHOD, METHOD, None
    if baseline is strongest:
        return FLOOR_FAINT, FLOOR, "////"
    return (CEILING_FAINT, CEILING, "\\\\\\\\") if baseline.kind == "ceiling" else (OTHER_FAINT, OTHER, None)


def measures_figure(results: Results) -> Figure:
    """Draw every measure: the method (dot), the strongest floor (hollow diamond), the best ceiling (stroke)."""
    own, floor = 100 * figures(results.scores), 100 * figures(results.strongest_scores)
    ceilings = 100 * np.array([figures(ceiling.scores) for ceiling in results.ceilings]).reshape(-1, len(own))
    with drawing_style():
        figure = new_figure(0.95 + 0.27 * len(own))
        axes = figure.add_subplot()
        for row in range(len(own)):
            interval_of_floor = 100 * results.ci95[1 + int(results.verdict.strongest[row]), row]
            draw_interval(axes, row + 0.12, interval_of_floor, colour=FLOOR)
            draw_interval(axes, row - 0.12, 100 * results.ci95[0, row], colour=METHOD)
        draw_dots(axes, own, floor, offset=0.12)
        best = np.max(np.nan_to_num(ceilings, nan=-1.0), axis=0, initial=-1.0)
        shown = best >= 0
        axes.plot(best[shown], np.arange(len(own))[shown], "|", color=CEILING, ms=9, mew=2, label="ceiling")
        write_undefined(axes, own)
        name_rows(axes, [str(measure) for measure in results.setup.measures], 22)
        axes.set_xlim(-1, 104)
        axes.set_xlabel("%")
        axes.grid(axis="both")
        figure.legend(loc="outside upper center", ncols=3, columnspacing=1.2, handletextpad=0.3)
    return figure
