"""Figures of a sweep: each measure against the dial, with floors and ceilings as lines beside the methods."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from truemoment.learning.training.sweep_results import Curve, SweepResult, mean_and_spread
from truemoment.report.drawing import OTHER, SMALL, drawing_style, new_figure, shortened
from truemoment.report.model import Drawing
from truemoment.report.roles import SERIES, SOFT, MarkLook
from truemoment.report.words import listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_PANEL_IN, _NAMES_IN = 2.35, 1.0
_HEIGHT_IN, _AROUND_IN, _LEGEND_LINE_IN = 3.5, 0.75, 0.18
"""Least height of a figure; what a panel leaves of it to its title and axis, and to each line of the legend."""

_LINE_PT, _LETTER_PT = 10.0, 4.2
"""Height of a name beside a panel, and width of a letter of it."""

_LONGEST_NAME = 24
"""Letters of a name; a longer one is cut."""


def data_of(result: SweepResult) -> str:
    """Return the data of a sweep in words."""
    world = result.source.get("world")
    if world is None:
        return str(result.source["dataset"])
    return "a synthetic world of " + ", ".join(
        f"{name.removeprefix('n_').replace('_', ' ')} {value:g}" for name, value in world.items()
    )


def drawings(result: SweepResult) -> list[Drawing]:
    """List the figure of each measure, the headline first."""
    ordered = dict.fromkeys([result.headline, *result.measures])
    return [
        Drawing(
            "-".join(
                ["sweep", *re.findall(r"(?:[^\W_]|\.)+", measure.lower().replace("@", ""))]
            ),  # a file is called so
            f"{measure} against {result.dial}",
            f"Score on {listed(result.splits)} of {data_of(result)}. "
            + "".join(f"{line}. " for line in _legend_title(result)).rstrip()
            + ("" if len(result.seeds) > 1 else " One seed."),
            partial(figure, result, measure),
        )
        for measure in ordered
    ]


def figure(result: SweepResult, measure: str) -> Figure:
    """Draw a measure against the dial, a panel a test split: methods with their spread over seeds, floors dashed."""
    methods = result.methods[: len(SERIES)]
    dial = f"{result.dial} (0 none, 1 strongest)"
    if result.dial == "perception":
        dial = "perception (0 noise, 1 clean)" if "world" in result.source else "perception, frame mAP"
    with drawing_style():
        drawing = new_figure(_HEIGHT_IN)
        drawing.set_size_inches(*_size_in(result))
        panels = drawing.subplots(1, len(result.splits), sharey=True, squeeze=False)[0]
        for axes, split in zip(panels, result.splits, strict=True):
            axes.set_title(split, loc="left")
            for curve in result.references:
                mean, _ = mean_and_spread(result.table(curve, split, measure))
                line = (0, (1, 1.5)) if curve.kind == "ceiling" else (0, (4, 2))
                axes.plot(result.values, 100 * mean, color=OTHER, linestyle=line, linewidth=0.9, zorder=1.5)
            for curve, look in zip(methods, SERIES, strict=False):
                _draw_method(axes, result, curve, look, (split, measure))
            axes.set_xlabel(dial)
            axes.set_xticks(_ticks(result.values), [f"{value:g}" for value in _ticks(result.values)])
            axes.grid(axis="y")
        panels[0].set_ylabel(f"{measure}, %")
        panels[0].set_ylim(bottom=0)
        handles, labels = panels[0].get_legend_handles_labels()
        drawing.legend(
            handles,
            labels,
            loc="outside lower center",
            ncols=_legend_columns(methods, drawing.get_figwidth()),
            title="\n".join(_legend_title(result)),
            title_fontsize=SMALL,
        )
        for axes, split in zip(panels, result.splits, strict=True):
            _name_references(axes, drawing, result, split, measure)
    return drawing


def _size_in(result: SweepResult) -> tuple[float, float]:
    """Return width and height in inches of the panels, the names beside them and the legend."""
    names = [shortened(curve.title, _LONGEST_NAME) for curve in result.references]
    names_in = max([_NAMES_IN, *(len(name) * _LETTER_PT / 72 for name in names)])
    width_in = (_PANEL_IN + names_in) * len(result.splits) + 0.3
    methods = result.methods[: len(SERIES)]
    n_lines = len(_legend_title(result)) + math.ceil(len(methods) / _legend_columns(methods, width_in))
    height_in = len(names) * _LINE_PT / 72 + _AROUND_IN + n_lines * _LEGEND_LINE_IN
    return width_in, max(_HEIGHT_IN, height_in)


def _legend_columns(methods: Sequence[Curve], width_in: float) -> int:
    """Return the number of columns of the legend."""
    longest = max((len(shortened(curve.title, _LONGEST_NAME)) for curve in methods), default=0)
    return max(1, min(len(methods), int(width_in / (0.55 + longest * 5.0 / 72))))


def _legend_title(result: SweepResult) -> list[str]:
    """Return the title of the legend, which explains lines without markers, and the bars."""
    or_read = " or read no sentence" if any(floor.sees for floor in result.floors) else ""
    lines = [f"Dashed: floors, which see no video{or_read}"]
    if result.ceilings:
        lines.append("Dotted: ceiling")
    if len(result.seeds) > 1:
        lines.append(f"Bars: ± standard deviation over {len(result.seeds)} seeds")
    return lines


def _ticks(values: Sequence[float]) -> list[float]:
    """Return the values that are written below an axis without overlap; both ends are."""
    width = (values[-1] - values[0]) or 1.0
    ticks = list(values[:1])
    for value in values[1:]:
        if value - ticks[-1] >= 0.09 * width:
            ticks.append(value)
        elif value == values[-1]:
            ticks[-1:] = [value] if len(ticks) > 1 else [*ticks[-1:], value]
    return ticks


def _draw_method(axes: Axes, result: SweepResult, curve: Curve, look: MarkLook, which: tuple[str, str]) -> None:
    mean, spread = mean_and_spread(result.table(curve, *which))
    axes.errorbar(
        result.values,
        100 * mean,
        yerr=None if np.isnan(spread).all() else 100 * np.nan_to_num(spread),
        label=shortened(curve.title, _LONGEST_NAME),
        color=look.colour,
        linestyle=look.line,
        marker="none" if curve.level else look.marker,
        markerfacecolor=look.face,
        capsize=2,
        elinewidth=0.9,
        zorder=2.5,
    )


def _name_references(axes: Axes, drawing: Figure, result: SweepResult, split: str, measure: str) -> None:
    """Write the names of floors and ceilings at the right end of their lines, without overlap."""
    ends = [
        (
            100 * float(mean_and_spread(result.table(curve, split, measure))[0][-1]),
            shortened(curve.title, _LONGEST_NAME),
        )
        for curve in result.references
    ]
    ends = sorted((end for end in ends if math.isfinite(end[0])), key=lambda end: end[0])
    if not ends:
        return
    drawing.draw_without_rendering()  # only now is the panel's height known
    low, high = axes.get_ylim()
    height_pt = axes.get_window_extent().height * 72 / drawing.dpi
    step = _LINE_PT * (high - low) / height_pt
    for (value, title), place in zip(ends, spread_out([value for value, _ in ends], step, low, high), strict=True):
        axes.annotate(
            title,
            (result.values[-1], value),
            (1.08, place),
            xycoords=axes.transData,
            textcoords=axes.get_yaxis_transform(),
            va="center",
            fontsize=SMALL - 1,
            color=SOFT,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": OTHER,
                "linewidth": 0.5,
                "shrinkA": 0,
                "shrinkB": 0,
                "relpos": (0, 0.5),
            },
        )


def spread_out(values: Sequence[float], step: float, low: float, high: float) -> list[float]:
    """Space rising places until each lies a step or more above the one before it, within bounds if they fit.

    Examples
    --------
    >>> spread_out([1.0, 1.0, 5.0], 2.0, 0.0, 10.0)
    [0.0, 2.0, 5.0]
    """
    groups: list[tuple[float, int]] = []  # middle and size of each group of places that touch
    for value in values:
        groups.append((value, 1))
        while len(groups) > 1 and groups[-1][0] - groups[-2][0] < step * (groups[-1][1] + groups[-2][1]) / 2:
            (lower, m), (upper, n) = groups[-2:]
            groups[-2:] = [((m * lower + n * upper) / (m + n), m + n)]
    places = [middle + step * (k - (size - 1) / 2) for middle, size in groups for k in range(size)]
    for k in range(len(places)):  # nothing below the lowest place
        places[k] = max(places[k], low if k == 0 else places[k - 1] + step)
    for k in reversed(range(len(places))):
        places[k] = min(places[k], high if k == len(places) - 1 else places[k + 1] - step)
    return places
