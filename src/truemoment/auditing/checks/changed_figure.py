"""The figure of the model on changed videos."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from truemoment.auditing.charts import draw_interval, percent_axis
from truemoment.auditing.checks.changed_videos import Changed
from truemoment.auditing.results import Results
from truemoment.reports.drawing import (
    FLOOR,
    METHOD,
    METHOD_FAINT,
    drawing_style,
    new_figure,
    shortened,
    wrapped,
    write_beside,
)
from truemoment.text import one_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def changed_figure(results: Results, changed: Changed) -> Figure:
    """Draw the headline measure on original and on changed videos, the floor beside (Hidden Challenges, Fig. 5)."""
    m = results.headline
    measure = results.measure
    names = ["original", *(one.words for one in changed.controls)]
    values = 100 * np.array([of.value(measure) for of in (changed.scores, *(one.scores for one in changed.controls))])
    intervals = np.stack([changed.ci95[m], *(one.ci95[m] for one in changed.controls)])
    floor = 100 * results.strongest_scores.value(measure)
    with drawing_style():
        figure = new_figure(0.85 + 0.3 * len(names))
        axes = figure.add_subplot()
        for row, value in enumerate(values.tolist()):
            face, hatch = (METHOD, None) if row == 0 else (METHOD_FAINT, "////")
            end = 0.0
            if np.isfinite(value):
                axes.barh(row, value, height=0.62, color=face, edgecolor=METHOD, hatch=hatch, linewidth=0.8)
                end = max(value, draw_interval(axes, row, 100 * intervals[row]))
            write_beside(axes, f"{value:.1f}" if np.isfinite(value) else "undefined", end, row)
        if np.isfinite(floor):
            label = f"strongest floor, {shortened(one_line(results.strongest(m)), 30)}"
            axes.axvline(floor, color=FLOOR, linewidth=1.1, linestyle=(0, (4, 3)), zorder=0.5, label=label)
            figure.legend(loc="outside upper center", handletextpad=0.5)
        axes.set_yticks(range(len(names)), [wrapped(name, 20) for name in names])
        axes.get_yticklabels()[0].set_fontweight("bold")
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0, pad=7)
        percent_axis(axes, np.append(values, floor), intervals, f"{measure}, %")
    return figure
