"""Marks that a page shows under the pointer: the values of bars, dots and curves, read from the figure.

A mark has its name from the panel, the rows and the legend of its axes, and its values from the data, so that a new
figure needs no code of its own. Densities, shapes and reference lines have no marks.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from truemoment.base.boundary.text import one_line
from truemoment.base.intervals import Floats

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.container import Container
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

MOST_POINTS = 21
"""Points of a curve that have a mark, evenly spaced."""

MOST_MARKS = 400
"""A figure with more marks than this, such as a dot a query, has none."""

_SIDE_PT = 8.0
"""Side of the box of a point, so that a finger or a pointer hits it."""


class Mark(NamedTuple):
    """A place in a figure, with its name and values.

    Parameters
    ----------
    text
        Its name on the first line, if it has one, then a line a value.
    left, top, width, height
        Its box in points, from the upper left corner of the figure.
    """

    text: str
    left: float
    top: float
    width: float
    height: float


class _Datum(NamedTuple):
    """A bar, a dot or a point of a curve.

    Parameters
    ----------
    series
        Its name in the legend; "" for none.
    x, y
        Its place, from which a row or column has its name.
    box
        Two opposite corners, x and y of each.
    x_values, y_values
        Its values on each axis: a number, both ends of a span, or none.
    """

    series: str
    x: float
    y: float
    box: tuple[float, float, float, float]
    x_values: tuple[float, ...]
    y_values: tuple[float, ...]


def marks_of(figure: Figure) -> list[Mark]:
    """Return the marks of a figure that has been drawn, panel by panel; none if there are more than `MOST_MARKS`."""
    panels = [axes for axes in figure.axes if axes.get_visible() and axes.axison]
    marks = list(dict.fromkeys(mark for axes in panels for mark in _of_axes(figure, axes)))
    return marks if len(marks) <= MOST_MARKS else []


def marks_svg(marks: Sequence[Mark]) -> str:
    """Return marks as SVG: boxes without colour, with their text as title, which browsers show without a script."""
    boxes = (
        f'<rect x="{mark.left:.1f}" y="{mark.top:.1f}" width="{mark.width:.1f}" height="{mark.height:.1f}">'
        f"<title>{html.escape(mark.text)}</title></rect>"
        for mark in marks
    )
    return f'<g class="marks">{"".join(boxes)}</g>' if marks else ""


def _of_axes(figure: Figure, axes: Axes) -> Iterator[Mark]:
    """Yield the marks of a panel, without those outside it."""
    titles = [axes.get_title(loc) for loc in ("left", "center", "right")] if len(figure.axes) > 1 else []
    panel = next(filter(None, map(_words, titles)), "")
    data = [*_bars(axes), *_points(axes)]
    x = _Scale(axes, "x", [value for datum in data for value in datum.x_values])
    y = _Scale(axes, "y", [value for datum in data for value in datum.y_values])
    segments = _segments(axes, np.array([(datum.x, datum.y) for datum in data]).reshape(-1, 2))
    frame, points_a_pixel = axes.bbox.padded(2), 72 / figure.dpi
    for datum in data:
        corners = axes.transData.transform(np.reshape(datum.box, (2, 2)))
        (left, low), (right, high) = corners.min(axis=0), corners.max(axis=0)
        if not frame.contains((left + right) / 2, (low + high) / 2):
            continue
        names = ", ".join(filter(None, (panel, x.name(datum.x), y.name(datum.y), datum.series)))
        x_line = x.line(datum.x_values, _interval(segments, datum.x, datum.y, along=0))
        y_line = y.line(datum.y_values, _interval(segments, datum.y, datum.x, along=1))
        box = np.array([left, figure.bbox.height - high, right - left, high - low]) * points_a_pixel
        grown = np.maximum(_SIDE_PT - box[2:], 0)
        text = "\n".join(filter(None, (names, x_line, y_line)))
        yield Mark(text, *(box[:2] - grown / 2).tolist(), *(box[2:] + grown).tolist())


# ---------------------------------------------------------------------------------------------- words


class _Scale:
    """An axis of a panel, which gives a value in words: the name of a row or column, or a number with its label."""

    def __init__(self, axes: Axes, axis_name: str, values: Sequence[float]) -> None:
        from matplotlib.ticker import FixedLocator  # noqa: PLC0415 - see truemoment.report.drawing.drawing_style

        axis = axes.xaxis if axis_name == "x" else axes.yaxis
        ticks = axis.get_majorticklocs()
        labels = map(_words, axis.get_major_formatter().format_ticks(ticks.tolist()))
        is_fixed = isinstance(axis.get_major_locator(), FixedLocator)
        named = [(at, label) for at, label in zip(ticks.tolist(), labels, strict=True) if is_fixed and label]
        self.names = [] if all(_is_number(name) for _, name in named) else named
        self.label = _label_of(axes, axis_name)
        self.has_numbers = bool(self.label or len(ticks)) and not self.names
        self.decimals = None if axis.get_scale() == "log" else _decimals(values)

    def name(self, value: float) -> str:
        """Return the name of the row or column at a value; "" for none."""
        at, name = min(self.names, key=lambda item: abs(item[0] - value), default=(math.inf, ""))
        return name if abs(at - value) <= 0.5 else ""

    def line(self, values: tuple[float, ...], interval: tuple[float, ...]) -> str:
        """Return a line with a value and the label of its axis; "" for rows, columns and axes without ticks."""
        if not values or not self.has_numbers:
            return ""
        text = " to ".join(map(self._number, values))
        text += f" ({' to '.join(map(self._number, interval))})" if interval else ""
        return f"{self.label}: {text}" if self.label else text

    def _number(self, value: float) -> str:
        """Write a value as precisely as the others of its axis; with four digits on a logarithmic one."""
        if self.decimals is None:
            text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
        else:
            text = f"{value + 0.0:,.{self.decimals}f}"
        return text.replace("-", "\u2212", 1) if text.startswith("-") else text


def _decimals(values: Sequence[float]) -> int:
    """Return decimals that give the largest value four digits, fewer where no value needs them."""
    largest = max(map(abs, values), default=0.0)
    most = min(max(4 - math.ceil(math.log10(largest)), 0), 6) if largest > 0 else 0
    return next(
        n for n in range(most + 1) if n == most or all(abs(round(value, n) - value) < 0.5e-9 for value in values)
    )


def _label_of(axes: Axes, axis_name: str) -> str:
    """Return the label of an axis, or the one that all other panels have, or that of the figure; "" for none."""
    figure = axes.get_figure(root=True)

    def label(panel: Axes) -> str:
        return _words(panel.get_xlabel() if axis_name == "x" else panel.get_ylabel())

    if figure is None or label(axes):
        return label(axes)
    labels = set(filter(None, map(label, figure.axes)))
    of_figure = figure.get_supxlabel() if axis_name == "x" else figure.get_supylabel()
    return labels.pop() if len(labels) == 1 else _words(of_figure)


def _words(text: str) -> str:
    """Write a text of a figure on one line; a name that was broken into lines is whole again."""
    lines = text.split("\n")
    return one_line("".join(line if line.endswith(("-", "_", "/", ".")) else f"{line} " for line in lines)).strip()


def _is_number(text: str) -> bool:
    try:
        float(text.replace("\u2212", "-").replace(",", "").removesuffix("%"))
    except ValueError:
        return text == "undefined"
    return True


# ----------------------------------------------------------------------------------------------- data


def _bars(axes: Axes) -> Iterator[_Datum]:
    """Yield bars and steps; a bar that begins elsewhere than at 0 or on another bar shows both ends."""
    from matplotlib.container import BarContainer  # noqa: PLC0415 - see truemoment.report.drawing.drawing_style
    from matplotlib.patches import StepPatch  # noqa: PLC0415 - see truemoment.report.drawing.drawing_style

    tops: set[tuple[float, float]] = set()
    for container in axes.containers:
        if not isinstance(container, BarContainer):
            continue
        for bar in container.patches:
            x, y = (bar.get_x(), bar.get_x() + bar.get_width()), (bar.get_y(), bar.get_y() + bar.get_height())
            flat = container.orientation == "horizontal"
            (base, end), across = (x, y) if flat else (y, x)
            if not np.isfinite([*x, *y]).all():
                continue
            shown = (end - base,) if base == 0 or (across[0], base) in tops else (base, end)
            tops.add((across[0], end))
            at = (end, sum(across) / 2) if flat else (sum(across) / 2, end)
            values = (shown, across) if flat else (across, shown)
            yield _Datum(_series(axes, container, bar), *at, (x[0], y[0], x[1], y[1]), *values)
    for step in axes.patches:
        if isinstance(step, StepPatch):
            heights, edges, _ = step.get_data()
            for height, low, high in zip(heights.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True):
                box = (low, height, high, height)
                if height > 0:
                    yield _Datum(_series(axes, step, step), (low + high) / 2, height, box, (low, high), (height,))


def _points(axes: Axes) -> Iterator[_Datum]:
    """Yield dots and the points of curves; a line between two points is an interval or a reference."""
    from matplotlib.collections import PathCollection  # noqa: PLC0415 - see truemoment.report.drawing.drawing_style
    from matplotlib.container import ErrorbarContainer  # noqa: PLC0415 - see truemoment.report.drawing.drawing_style

    around: dict[Artist, Container] = {
        container.lines[0]: container for container in axes.containers if isinstance(container, ErrorbarContainer)
    }
    series: list[tuple[str, Floats]] = []
    for line in axes.lines:
        places = np.asarray(line.get_xydata(), dtype=np.float64)
        dots = _marker(line) != ""
        if line.get_transform() != axes.transData or not (dots or len(places) > 2):
            continue
        if len(places) > MOST_POINTS and line.get_linestyle() != "None":
            places = places[np.linspace(0, len(places) - 1, MOST_POINTS).round().astype(int)]
        series.append((_series(axes, around.get(line, line), line), places))
    clouds = (cloud for cloud in axes.collections if isinstance(cloud, PathCollection))
    series += [(_series(axes, cloud, cloud), np.array(cloud.get_offsets(), dtype=np.float64)) for cloud in clouds]
    names = _names_beside(axes)
    for name, all_places in series:
        for x, y in all_places[np.isfinite(all_places).all(axis=1)].tolist():
            yield _Datum(name or names.get((x, y), ""), x, y, (x, y, x, y), (x,), (y,))


def _names_beside(axes: Axes) -> dict[tuple[float, float], str]:
    """Return the words, not numbers, that are written beside places, by place."""
    from matplotlib.text import Annotation  # noqa: PLC0415 - see truemoment.report.drawing.drawing_style

    notes = [note for note in axes.texts if isinstance(note, Annotation) and note.xycoords in ("data", axes.transData)]
    words = {(float(note.xy[0]), float(note.xy[1])): _words(note.get_text()) for note in notes}
    return {place: text for place, text in words.items() if not _is_number(text)}


def _segments(axes: Axes, places: Floats) -> Floats:
    """Return the lines between two points, (n, 2, 2); those that end at a place join places, and are no interval."""
    lines = [
        np.asarray(line.get_xydata())
        for line in axes.lines
        if len(np.asarray(line.get_xdata())) == 2 and line.get_transform() == axes.transData
    ]
    for collection in axes.collections:
        if hasattr(collection, "get_segments") and collection.get_transform() == axes.transData:
            lines += [segment for segment in collection.get_segments() if len(segment) == 2]
    segments = np.array(lines, dtype=np.float64).reshape(-1, 2, 2)
    distance = np.abs(segments[:, :, None] - places).max(axis=3)
    return np.asarray(segments[~(distance < 1e-9).any(axis=(1, 2))])


def _interval(segments: Floats, value: float, other: float, *, along: int) -> tuple[float, ...]:
    """Return the interval around a value: the first line along an axis through it; () for none."""
    low, high = segments[:, :, along].min(axis=1), segments[:, :, along].max(axis=1)
    crosses = (np.abs(segments[:, :, 1 - along] - other) < 1e-9).all(axis=1) & (low < value) & (value < high)
    return (float(low[crosses][0]), float(high[crosses][0])) if crosses.any() else ()


# --------------------------------------------------------------------------------------------- series


def _series(axes: Axes, labelled: Artist | Container, drawn: Artist) -> str:
    """Return the name of a series: its label, else the one entry of a legend that looks like it; "" for none.

    A label that begins with "_" is in no legend; those that matplotlib makes up are no names.
    """
    label = _words(str(labelled.get_label()))
    if label and not re.fullmatch(r"_(child|container)\d+|_nolegend_", label):
        return label.removeprefix("_")
    figure = axes.get_figure(root=True)
    legends = [legend for legend in (axes.get_legend(), *(figure.legends if figure else ())) if legend is not None]
    entries = [
        (_look(handle), _words(text.get_text()))
        for legend in legends
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True)
    ]
    look = _look(drawn)
    alike = [name for handle_look, name in entries if handle_look == look] or [
        name for handle_look, name in entries if handle_look[:1] == look[:1]
    ]
    return alike[0] if len(alike) == 1 else ""


def _look(artist: Artist | None) -> tuple[str, ...]:
    """Return what distinguishes an entry of a legend: its colour, then line and marker, or hatch."""
    from matplotlib.colors import to_hex  # noqa: PLC0415 - see truemoment.report.drawing.drawing_style
    from matplotlib.lines import Line2D  # noqa: PLC0415 - see truemoment.report.drawing.drawing_style
    from matplotlib.patches import Patch, StepPatch  # noqa: PLC0415 - see truemoment.report.drawing.drawing_style

    if isinstance(artist, Line2D):
        return to_hex(artist.get_color()), str(artist.get_linestyle()), _marker(artist)
    if isinstance(artist, StepPatch):
        return to_hex(artist.get_edgecolor()), str(artist.get_linestyle()), ""
    return (to_hex(artist.get_facecolor()), str(artist.get_hatch())) if isinstance(artist, Patch) else ("none",)


def _marker(line: Line2D) -> str:
    """Return the marker of a line; "" for none."""
    marker = line.get_marker()
    return "" if marker in (None, "", " ", "None", "none") else str(marker)
