"""Parts that the figures of all studies share: styles of measures, heat maps with numbers, and lines of measures.

A measure has the same style in every figure: its family determines the colour, its threshold the marker and the line,
and its number of answers the fill of the marker. Figures of many measures have one panel per K, as those of the AxIoU
paper (Togashi et al. 2022, Fig. 6 and 7), and a label at the end of each line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.report.drawing import FLOOR_FAINT, OTHER, SMALL, new_figure, shortened
from truemoment.report.roles import GRID, INK, PAPER, SCALE, SERIES, SOFT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from truemoment.evaluation.measures import Measure

Line = Literal["-"] | tuple[float, tuple[float, ...]]
Fill = Literal["full", "none", "left"]

_DOTTED: Line = (0, (1.2, 1.2))
_DASHED: Line = (0, (5, 1.6))
_DOT_DASHED: Line = (0, (6, 1.6, 1.2, 1.6))

_COLOURS = {family: look.colour for family, look in zip(("R", "AxIoU", "dR"), SERIES, strict=False)}
_LOOKS: dict[tuple[str, str], tuple[str, Line]] = {
    ("R", "0.3"): ("^", _DOTTED),
    ("R", "0.5"): ("o", _DASHED),
    ("R", "0.7"): ("s", "-"),
    ("AxIoU", ""): ("D", "-"),
    ("dR", "0.3"): ("v", _DOTTED),
    ("dR", "0.5"): ("P", _DASHED),
    ("dR", "0.7"): ("X", "-"),
}
"""Marker and line of the usual measures, by family and threshold; other measures use spare ones."""

_SPARE_MARKERS = ("*", "<", ">", "p", "h", "d", "8", "H")
_SPARE_LINES: tuple[Line, ...] = ("-", _DOT_DASHED, _DASHED, _DOTTED)
_FILLS: dict[int | None, Fill] = {None: "full", 1: "full", 5: "none", 10: "left"}
_SHORT = {"AxIoU": "Ax", "NCxIoU": "NCx"}
_LABEL_WIDTH = 12
_PANEL_IN = 1.45


class MeasureLook(NamedTuple):
    """The style of a measure, with its short name: ``R@1 .5`` has the family ``R``, rank 1 and threshold ``0.5``."""

    label: str
    family: str
    rank: int | None
    threshold: str
    colour: str
    line: Line
    marker: str
    fill: Fill

    def line_style(self) -> dict[str, Any]:
        """Return the style of its line, with markers, as arguments of ``Axes.plot``."""
        return self.marker_style() | {"linestyle": self.line, "linewidth": 1.5}

    def marker_style(self) -> dict[str, Any]:
        """Return the style of its markers, without a line, as arguments of ``Axes.plot``."""
        return {
            "color": self.colour,
            "linestyle": "none",
            "marker": self.marker,
            "markersize": 4.5,
            "fillstyle": self.fill,
            "markerfacecoloralt": PAPER,
            "markeredgewidth": 1.0,
        }


def named(system: str) -> str:
    r"""Return the name of a system for a sentence: on one line, and shortened if it is long.

    Examples
    --------
    >>> named("a\nb"), len(named("z" * 900))
    ('a b', 40)
    """
    return shortened(system, 40)


def short_label(measure: Measure | str) -> str:
    """Return a short name of a measure.

    Examples
    --------
    >>> [short_label(name) for name in ("R@1,IoU=0.5", "AxIoU@10", "dR@1,IoU=0.7", "mIoU")]
    ['R@1 .5', 'Ax@10', 'dR@1 .7', 'mIoU']
    """
    text = str(measure)
    parts = re.fullmatch(r"([A-Za-z]+)@(\d+)(?:,IoU=0?(\.\d+|1))?", text)
    if parts is None:
        return shortened(text, _LABEL_WIDTH)
    threshold = f" {parts[3]}" if parts[3] else ""
    return shortened(f"{_SHORT.get(parts[1], parts[1])}@{parts[2]}{threshold}", _LABEL_WIDTH)


def measure_looks(measures: Sequence[Measure | str]) -> tuple[MeasureLook, ...]:
    """Return the style of each measure; usual ones are fixed, and markers within one K differ if possible."""
    looks: list[MeasureLook] = []
    for measure in measures:
        text = str(measure)
        named = re.match(r"([A-Za-z][A-Za-z0-9-]*)(?:@(\d+))?", text)
        family, rank = (named[1], int(named[2]) if named[2] else None) if named else (text, None)
        threshold_text = re.search(r"IoU=([0-9.]+)", text)
        threshold = threshold_text[1] if threshold_text else ""
        is_usual = re.fullmatch(rf"{re.escape(family)}@\d+(,IoU=[0-9.]+)?", text)
        marker, line = _LOOKS.get((family, threshold), ("", "-")) if is_usual else ("", "-")
        if not marker:
            taken = {look.marker for look in looks if look.rank == rank}
            free = [spare for spare in _SPARE_MARKERS if spare not in taken] or list(_SPARE_MARKERS)
            marker, line = free[0], _SPARE_LINES[len(looks) % len(_SPARE_LINES)]
        colour = _COLOURS.get(family, INK if len(looks) % 2 else OTHER)
        fill = _FILLS.get(rank, "full")
        looks.append(MeasureLook(short_label(measure), family, rank, threshold, colour, line, marker, fill))
    return tuple(looks)


def panels_of(measures: Sequence[Measure | str]) -> list[tuple[str, list[int]]]:
    """Group measures by K: ``"K = 1"`` and so on, then ``"other"``, each with the numbers of its measures.

    Examples
    --------
    >>> panels_of(["R@1,IoU=0.5", "mIoU", "AxIoU@5", "AxIoU@1"])
    [('K = 1', [0, 3]), ('K = 5', [2]), ('other', [1])]
    """
    ranks = [look.rank for look in measure_looks(measures)]
    known = sorted({rank for rank in ranks if rank is not None})
    groups: list[tuple[str, int | None]] = [(f"K = {rank}", rank) for rank in known]
    if None in ranks:
        groups.append(("other" if groups else "", None))
    return [(title, [at for at, rank in enumerate(ranks) if rank == group]) for title, group in groups]


def lines_figure(
    measures: Sequence[Measure | str],
    x: Floats,
    y: Floats,
    *,
    x_label: str,
    y_label: str,
    x_log: bool = False,
    x_ticks: Sequence[float] | None = None,
    y_limits: tuple[float | None, float | None] = (None, None),
) -> Figure:
    """Draw a line for each measure, in a panel for each K, with its name at the end of the line.

    Parameters
    ----------
    measures
        M measures.
    x : (N,)
        Common to all.
    y : (N, M)
        In the unit that `y_label` names; NaN leaves a gap.
    x_label, y_label
        Labels of the axes, with units.
    x_log
        Whether x is logarithmic.
    x_ticks
        Labelled places of x; None for the default.
    y_limits
        Ends of y in all panels; None for what the values need.
    """
    looks, panels = measure_looks(measures), panels_of(measures)
    figure = new_figure(0.45 + _PANEL_IN * len(panels))
    rows = figure.subplots(len(panels), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for axes, (title, members) in zip(rows, panels, strict=True):
        axes.set_title(title, loc="left", fontsize=SMALL, color=SOFT)
        axes.grid(axis="y")
        for at in members:
            look = looks[at]
            axes.plot(x, y[:, at], **look.line_style())
        axes.set_ylabel(y_label)
    if x_log:
        rows[-1].set_xscale("log")
    if x_ticks is not None:
        label_ticks(rows[-1], x_ticks)
    rows[-1].set_xlabel(x_label)
    low, high = y_limits
    if low is not None and high is None and not (y > low).any():
        high = low + 1  # no value is above the low end
    rows[-1].set_ylim(low, high)
    for axes, (_, members) in zip(rows, panels, strict=True):
        label_ends(axes, [looks[at] for at in members], [_last(x, y[:, at]) for at in members], _PANEL_IN)
    return figure


def _last(x: Floats, y: Floats) -> tuple[float, float]:
    """Return the last point at which a line is defined; NaN if there is none."""
    defined = np.flatnonzero(np.isfinite(y))
    return (float(x[defined[-1]]), float(y[defined[-1]])) if len(defined) else (np.nan, np.nan)


def label_ticks(axes: Axes, ticks: Sequence[float]) -> None:
    """Label an x axis at some places, with a comma in thousands."""
    from matplotlib.ticker import NullLocator  # noqa: PLC0415 - see truemoment.report.drawing.drawing_style

    axes.set_xticks(list(ticks), [f"{tick:,g}" if abs(tick) < 1e6 else f"{tick:.0e}" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())


def label_ends(axes: Axes, looks: Sequence[MeasureLook], ends: Sequence[tuple[float, float]], height_in: float) -> None:
    """Write the name of each measure to the right of its line's end, without overlap, once limits are final.

    `ends` has NaN for lines without a label; `height_in` is the height of the panel.
    """
    shown = [number for number, end in enumerate(ends) if np.isfinite(end).all()]
    places = _without_overlap(
        [float(axes.transLimits.transform(axes.transScale.transform(ends[number]))[1]) for number in shown],
        9.5 / (72 * max(height_in - 0.35, 0.4)),
    )
    for number, place in zip(shown, places, strict=True):
        axes.annotate(
            looks[number].label,
            ends[number],
            (1.05, place),
            textcoords="axes fraction",
            va="center",
            fontsize=SMALL,
            color=INK,
            arrowprops={"arrowstyle": "-", "color": looks[number].colour, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 3},
            annotation_clip=False,
        )


def _without_overlap(places: Sequence[float], gap: float) -> list[float]:
    """Move places until all differ by `gap` or more, about the middle of each cluster."""
    order = sorted(range(len(places)), key=places.__getitem__)
    clusters: list[tuple[float, list[int]]] = []  # middle and members of each run of labels that touch
    for number in order:
        middle, members = places[number], [number]
        while clusters and middle - clusters[-1][0] < gap * (len(members) + len(clusters[-1][1])) / 2:
            previous, others = clusters.pop()
            middle = (middle * len(members) + previous * len(others)) / (len(members) + len(others))
            members = [*others, *members]
        clusters.append((middle, members))
    moved = [0.0] * len(places)
    for middle, members in clusters:
        for at, number in enumerate(members):
            moved[number] = middle + gap * (at - (len(members) - 1) / 2)
    return moved


def legend_of(figure: Figure, looks: Sequence[MeasureLook], labels: Sequence[str], *, with_line: bool = True) -> None:
    """Draw the legend of styles and measures below a figure."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 - see truemoment.report.drawing.drawing_style

    handles = [
        Line2D([], [], label=label, **(look.line_style() if with_line else look.marker_style()))
        for look, label in zip(looks, labels, strict=True)
    ]
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=min(len(handles), 3 if with_line else 4),
        columnspacing=1.2,
        handletextpad=0.5,
        handlelength=3.0 if with_line else 1.2,
    )


# ------------------------------------------------------------------------------------------------ heat maps

SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9)
"""Classes of shares and of tau: where each colour of the scale begins."""


def heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    table: Floats,
    *,
    classes: Sequence[float] = SHARES,
    text: Sequence[Sequence[str]] | None = None,
    breaks: Sequence[int] = (),
) -> Figure:
    """Draw a table as coloured cells with their numbers in them.

    Parameters
    ----------
    rows, columns
        Short names (:func:`short_label`).
    table : (R, C)
        The values; NaN stays blank.
    classes
        Lower ends of the six colours; smaller values have a warning colour.
    text
        Text of the cells, (R, C); None for the values with two decimals, ``.87``.
    breaks
        Columns, and rows of a square table, with a gap before them.
    """
    n_rows, n_columns = table.shape
    across, down = _places(n_columns, breaks), _places(n_rows, breaks if n_rows == n_columns else ())
    upright = max(map(len, columns), default=0) * 4.6 > 240 / max(n_columns, 1)  # points
    side = min(0.42, 3.3 / max(n_columns, 1))
    figure = new_figure(max(side, 0.2) * (down[-1] + 1) + (0.85 if upright else 0.45))
    axes = figure.subplots()
    size = SMALL if n_columns <= 10 else 7.0
    table = np.round(table, 2) if text is None else table  # equal numbers have equal colours
    _draw_squares(axes, table, across, down, classes)
    for r, c in np.ndindex(table.shape):
        shown = text[r][c] if text is not None else short_number(float(table[r, c]))
        dark = np.isfinite(table[r, c]) and np.searchsorted(classes, table[r, c], side="right") > 3
        axes.text(across[c], down[r], shown, ha="center", va="center", fontsize=size, color=PAPER if dark else INK)
    axes.set_xlim(-0.5, across[-1] + 0.5)
    axes.set_ylim(down[-1] + 0.5, -0.5)
    axes.xaxis.tick_top()
    axes.set_xticks(across, list(columns), rotation=90 if upright else 0)
    axes.set_yticks(down, list(rows))
    axes.tick_params(length=0, pad=2)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure


def _places(count: int, breaks: Sequence[int]) -> list[float]:
    """Return the middle of each of `count` cells, with a gap before some."""
    return [number + 0.25 * sum(0 < at <= number for at in breaks) for number in range(count)]


def _draw_squares(
    axes: Axes, table: Floats, across: Sequence[float], down: Sequence[float], classes: Sequence[float]
) -> None:
    """Draw one square per cell, in the colour of its class."""
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - see truemoment.report.drawing.drawing_style

    if len(classes) > len(SCALE):
        raise ValueError(f"got {len(classes)} classes, expected at most {len(SCALE)}")
    for r, c in np.ndindex(table.shape):
        value = table[r, c]
        at = int(np.searchsorted(classes, value, side="right")) - 1
        colour = PAPER if not np.isfinite(value) else FLOOR_FAINT if at < 0 else SCALE[at]
        square = Rectangle((across[c] - 0.5, down[r] - 0.5), 1, 1, facecolor=colour, edgecolor=PAPER, linewidth=0.8)
        if not np.isfinite(value):
            square.set_edgecolor(GRID)
        axes.add_patch(square)


def short_number(value: float) -> str:
    """Return a share or a tau with two decimals, as short as possible.

    Examples
    --------
    >>> [short_number(value) for value in (0.874, -0.21, 1.0, 0.999, 0.0, float("nan"))]
    ['.87', '-.21', '1', '1.0', '0', '-']
    """
    if not np.isfinite(value):
        return "-"
    if value in (-1, 0, 1):
        return f"{value:.0f}"
    shown = f"{value:.2f}"
    if abs(float(shown)) == 1:
        return shown[:-1]  # not 1, and no room for more
    return shown.replace("0.", ".", 1) if float(shown) else "0"


def group_breaks(measures: Sequence[Measure | str]) -> tuple[int, ...]:
    """Return the places at which K or the family changes along a list of measures, for the gaps of a heat map.

    Examples
    --------
    >>> group_breaks(["R@1,IoU=0.5", "R@1,IoU=0.7", "R@5,IoU=0.5", "AxIoU@1", "AxIoU@5"])
    (2, 3)
    """
    looks = measure_looks(measures)
    return tuple(
        at
        for at in range(1, len(looks))
        if looks[at].family != looks[at - 1].family
        or (looks[at].rank != looks[at - 1].rank and looks[at].threshold != "")
    )
