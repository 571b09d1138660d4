"""Charts as files: strip charts, curves and densities of moments, drawn by matplotlib."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from truemoment.report.chart_axis import plot_axes, strip_axis
from truemoment.report.charts import Clouds, Plot, StripChart, StripMark, StripRow
from truemoment.report.density_classes import DENSITY_BOUNDS, SCALE_MEANS, most_frequent
from truemoment.report.drawing import (
    SMALL,
    draw_density,
    drawing_style,
    new_figure,
    scale_legend,
    shortened,
    unit_square,
    wrapped,
    write_beside,
)
from truemoment.report.roles import INK, ROLES, SOFT
from truemoment.report.words import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def strip_figure(strip: StripChart) -> Figure:
    """Draw a strip chart with matplotlib, for a file."""
    entries = [(title, row) for title, rows in strip.groups for row in ([None] if title else []) + list(rows)]
    labels = [wrapped(title if row is None else row.label, 24) for title, row in entries]
    height_in = 0.2 if not strip.roles else 0.26
    lines = sum(label.count("\n") for label in labels)
    with drawing_style():
        figure = new_figure(0.8 + 0.2 * bool(strip.roles) + height_in * len(entries) + 0.13 * lines)
        axes = figure.add_subplot()
        for at, (_, row) in enumerate(entries):
            if row is not None:
                _draw_row(axes, strip, row, at)
                if row.is_cut:
                    axes.axhline(at - 0.5, color=row.marks[0].look.colour, linestyle=(0, (4, 3)), linewidth=0.9)
        if strip.note:
            write_beside(axes, strip.note, 1, -0.8, share_of_width=True, color=SOFT)
        axes.set_yticks(range(len(entries)), labels)
        axes.set_ylim(max(len(entries), 1) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0, pad=7)
        for label, (_, row) in zip(axes.get_yticklabels(), entries, strict=True):
            label.set_fontweight("bold" if row is not None and row.is_main else "normal")
            label.set_color(INK if row is not None else SOFT)
        if strip.line is not None and math.isfinite(strip.line.value):
            look = strip.line.look
            axes.axvline(strip.line.value, color=look.colour, linestyle=look.line, linewidth=0.9, zorder=0.5)
        ticks = strip_axis(strip).ticks
        axes.set_xlim(ticks[0], ticks[-1])
        axes.set_xticks(ticks, strip_axis(strip).tick_texts)
        axes.set_xlabel(strip.axis)
        axes.grid(axis="x")
        if strip.roles:
            handles, words = axes.get_legend_handles_labels()
            legend = dict(zip(words, handles, strict=True))
            figure.legend(legend.values(), legend.keys(), loc="outside upper center", ncols=3, columnspacing=1.2)
    return figure


def _draw_row(axes: Axes, strip: StripChart, row: StripRow, at: int) -> None:
    """Draw the marks of a row, one below the other, and its note, or its value where there are no notes."""
    for k, mark in enumerate(row.marks):
        offset = (k - (len(row.marks) - 1) / 2) * 0.3
        _draw_mark(axes, mark, at + offset, label=shortened(strip.word(mark.role), 26) if strip.roles else "")
    if not any(math.isfinite(mark.value) for mark in row.marks):
        write_beside(axes, "undefined", 0, at, share_of_width=True, color=SOFT)
    note = row.note if strip.note else ", ".join(number(mark.value, strip.decimals) for mark in row.marks[:1])
    write_beside(axes, note, 1, at, share_of_width=True, fontweight="bold" if row.is_main else "normal")


def _draw_mark(axes: Axes, mark: StripMark, at: float, *, label: str) -> None:
    look = mark.look
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


def plot_figure(plot: Plot) -> Figure:
    """Draw curves with matplotlib, for a file."""
    with drawing_style():
        figure = new_figure(3.4)
        axes = figure.add_subplot()
        for number_, curve in enumerate(plot.curves):
            look, label = curve.look, curve.name if curve.in_legend else f"_{curve.name}"
            if curve.is_histogram:
                axes.stairs(curve.y, curve.x, color=look.colour, linestyle=look.line, linewidth=1.3, label=label)
                continue
            axes.plot(
                curve.x,
                curve.y,
                color=look.colour,
                linestyle=look.line,
                marker=look.marker,
                mfc=look.face,
                markevery=(number_ % 3, max(len(curve.x) // 7, 1)),
                label=shortened(label, 26),
            )
        x, y = plot_axes(plot)
        axes.set_xlim(x.ticks[0], x.ticks[-1])
        axes.set_ylim(y.ticks[0], y.ticks[-1])
        axes.set_xlabel(plot.x_label)
        axes.set_ylabel(plot.y_label)
        axes.grid(axis="both")
        figure.legend(loc="outside upper center", ncols=3, columnspacing=1.2)
    return figure


def clouds_figure(clouds: Clouds) -> Figure:
    """Draw densities of moments with matplotlib, for a file."""
    with drawing_style():
        figure = new_figure(4.75)
        panels = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
        for axes, cloud in zip(panels, clouds.clouds, strict=False):
            axes.set_title(shortened(cloud.title, 28), fontsize=SMALL)
            if len(cloud.points):
                draw_density(axes, cloud.points)
            else:
                axes.text(0.5, 0.5, "none", ha="center", va="center", color=SOFT)
            if most := most_frequent(cloud.points):
                look = ROLES["floor"].look
                axes.plot(*most.place, "o", ms=11, mfc="none", mec=look.colour, mew=1.5, clip_on=False)
                axes.text(0.97, 0.06, most.words, ha="right", fontsize=SMALL)
            unit_square(axes)
            axes.plot([0, 1], [0, 1], color=SOFT, linewidth=0.7)
            axes.tick_params(labelbottom=True, labelleft=True)
        for axes in panels[len(clouds.clouds) :]:
            axes.set_axis_off()
        for axes in panels[[0, 2]]:
            axes.set_ylabel("end, share of the video")
        for axes in panels[[len(clouds.clouds) - 2, len(clouds.clouds) - 1]]:
            axes.set_xlabel("start, share of the video")
        scale_legend(figure, DENSITY_BOUNDS, SCALE_MEANS)
    return figure
