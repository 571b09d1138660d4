"""Figures of a comparison: measures by method, R and dR against the threshold, splits, changed videos, lengths."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from truemoment.report.charts import Chart, Plot
from truemoment.report.drawing import drawing_style, new_figure, wrapped
from truemoment.report.model import Drawing
from truemoment.report.roles import INK, PAPER, SOFT
from truemoment.studies.compare.files import ComparedFiles
from truemoment.studies.compare.report_beside import changed_drawings, published_caption, published_name, split_drawings
from truemoment.studies.compare.report_lengths import length_drawings, method_looks
from truemoment.studies.evaluate.curves import MOST_CURVES, curves_plot, recall_curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROW_IN, AROUND_IN = 0.22, 0.75
"""Height of a method in a panel, and of the margins of a panel, inches."""

NAME_WIDTH, LINE_IN = 26, 0.13
"""Letters of a line of a name, and height of a further line, inches."""

MOST_PANELS = 6
"""Measures that are drawn; the table has all of them."""


def drawings(compared: ComparedFiles) -> list[Drawing | Chart]:
    """List the figures."""
    comparison = compared.comparison
    n = len(comparison.measures)
    measures = f"the first {MOST_PANELS} of {n} measures" if n > MOST_PANELS else "each measure"
    runs = (
        "; where a method has several runs, of its first"
        if any(len(group) > 1 for group in compared.runs.values())
        else ""
    )
    of_methods = Drawing(
        "methods",
        "Methods by measure",
        f"Figure of each method in {measures}, with its 95 % interval by resampling videos. The diamond is the "
        "sentence "
        f"network, which never sees a video; hollow marks are published figures.{published_caption(compared)}",
        partial(_methods_figure, compared),
    )
    return [
        of_methods,
        _curves(compared, runs),
        *split_drawings(compared),
        *changed_drawings(compared),
        *length_drawings(compared),
    ]


def _methods_figure(compared: ComparedFiles) -> Figure:
    """Draw a panel for each measure, a row for each method and each published figure."""
    comparison = compared.comparison
    measures, looks = range(min(len(comparison.measures), MOST_PANELS)), method_looks(compared)
    figures = [_published(compared, row) for row in measures]
    n_rows = [len(comparison.methods) + len(group) for group in figures]
    labels = [
        [wrapped(name, NAME_WIDTH) for name in (*comparison.methods, *(name for name, _ in group))] for group in figures
    ]
    row_in = ROW_IN + LINE_IN * max(label.count("\n") for of_row in labels for label in of_row)
    with drawing_style():
        figure = new_figure(sum(row_in * count + AROUND_IN for count in n_rows))
        panels = figure.subplots(len(measures), 1, squeeze=False, height_ratios=[count + 2 for count in n_rows])[:, 0]
        for row, axes in zip(measures, panels, strict=True):
            for number, method in enumerate(comparison.methods):
                value = 100 * comparison.mean[number, row]
                low, high = 100 * comparison.interval[number, row]
                look = looks[method]
                if np.isfinite([low, high]).all():
                    axes.plot([low, high], [number, number], color=look.colour, linewidth=1.6, solid_capstyle="round")
                axes.plot([value], [number], look.marker, color=look.colour, mfc=look.face)
            for number, (_, published) in enumerate(figures[row], start=len(comparison.methods)):
                axes.plot([published], [number], "o", color=INK, mfc=PAPER, clip_on=False)
            axes.set_yticks(range(n_rows[row]), labels[row])
            axes.set_ylim(n_rows[row] - 0.4, -0.6)
            axes.set_title(compared.heading(row), fontsize="medium", loc="left")
            axes.grid(axis="x")
            axes.tick_params(axis="y", length=0)
            axes.margins(x=0.08)
            axes.set_xlim(left=0)
        panels[-1].set_xlabel("%", color=SOFT)
    return figure


def _published(compared: ComparedFiles, row: int) -> list[tuple[str, float]]:
    """Return the published figures of a measure in percent, with their names."""
    factor = {"percent": 1.0, "fraction": 100.0}
    return [
        (published_name(compared, figure), factor[figure.unit] * float(figure.value))
        for at, figure in compared.published or ()
        if at == row and figure.unit in factor
    ]


def _curves(compared: ComparedFiles, note: str) -> Plot:
    protocol = compared.comparison.first.protocol
    answers, looks = list(compared.answers.items())[:MOST_CURVES], method_looks(compared)
    return curves_plot(
        [(name, recall_curves(compared.annotations, predictions, protocol)) for name, predictions in answers],
        [looks[name] for name, _ in answers],
        note,
    )
