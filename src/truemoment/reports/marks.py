"""What a page shows of a figure under the pointer: the values of its bars, dots and curves, read from the figure itself.

A mark has its name from the panel, the rows and the legend of its axes, and its values from the data, so that a new
figure needs no code of its own. Densities, shapes and reference lines have no marks.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from truemoment.text import one_line

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_POINTS = 40
"""Points of a curve that have a mark, evenly spaced."""

MOST_MARKS = 400
"""A figure with more marks than this, such as a dot a query, has none."""

_SIDE_PT = 8.0
"""Side of the box of a point, so that a finger or a pointer hits it."""


class Mark(NamedTuple):
    """A place of a figure and what it shows.

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
    """A bar, dot or point of a curve: its series, its place, its box, and its values in words, "" for none."""

    series: str
    x: float
    y: float
    box: tuple[float, float, float, float]
    x_text: str
    y_text: str


def marks_of(figure: Figure) -> list[Mark]:
    """Return the marks of a figure that has been drawn, panel by panel; none if there are more than `MOST_MARKS`."""
    panels = [axes for axes in figure.axes if axes.get_visible() and axes.axison]
    found = [mark for axes in panels for mark in _of_axes(figure, axes)]
    return found if len(found) <= MOST_MARKS else []


def marks_svg(marks: Sequence[Mark]) -> str:
    """Return marks as SVG: boxes without colour, with their text as title, which browsers show without a script."""
    boxes = (
        f'<rect class="mark" x="{of.left:.1f}" y="{of.top:.1f}" width="{of.width:.1f}" height="{of.height:.1f}">'
        f"<title>{html.escape(of.text)}</title></rect>"
        for of in marks
    )
    return f"<g>{''.join(boxes)}</g>" if marks else ""


def _of_axes(figure: Figure, axes: Axes) -> Iterator[Mark]:
    """Go through the marks of a panel; those that lie outside it are left out."""
    titles = [axes.get_title(loc) for loc in ("left", "center", "right")] if len(figure.axes) > 1 else []
    panel = next(filter(None, map(_words, titles)), "")
    x, y = _Scale(axes, "x"), _Scale(axes, "y")
    frame, points_a_pixel = axes.bbox.padded(2), 72 / figure.dpi
    for datum in (*_bars(axes), *_points(axes)):
        corners = axes.transData.transform(np.reshape(datum.box, (2, 2)))
        (left, low), (right, high) = corners.min(axis=0), corners.max(axis=0)
        if not frame.contains((left + right) / 2, (low + high) / 2):
            continue
        names = ", ".join(filter(None, (panel, x.name(datum.x), y.name(datum.y), datum.series)))
        text = "\n".join(filter(None, (names, x.line(datum.x_text), y.line(datum.y_text))))
        box = np.array([left, figure.bbox.height - high, right - left, high - low]) * points_a_pixel
        grown = np.maximum(_SIDE_PT - box[2:], 0)
        yield Mark(text, *(box[:2] - grown / 2).tolist(), *(box[2:] + grown).tolist())


# ---------------------------------------------------------------------------------------------- words


class _Scale:
    """An axis of a panel, which gives a value in words: the name of a row or column, or a number with its label."""

    def __init__(self, axes: Axes, which: str) -> None:
        axis = axes.xaxis if which == "x" else axes.yaxis
        labels = [_words(tick.get_text()) for tick in axis.get_majorticklabels()]
        named = [(at, of) for at, of in zip(axis.get_majorticklocs().tolist(), labels, strict=False) if of]
        self.names: list[tuple[float, str]] = [] if all(_is_number(name) for _, name in named) else named
        self.label = _label_of(axes, which)
        self.has_numbers = bool(self.label or len(axis.get_majorticklocs())) and not self.names

    def name(self, value: float) -> str:
        """Return the name of the row or column at a value; "" for none."""
        at, name = min(self.names, key=lambda of: abs(of[0] - value), default=(np.inf, ""))
        return name if abs(at - value) <= 0.5 else ""

    def line(self, text: str) -> str:
        """Return a line with a value and the label of its axis; "" for rows, columns and axes without ticks."""
        return "" if not (text and self.has_numbers) else f"{self.label}: {text}" if self.label else text


def _label_of(axes: Axes, which: str) -> str:
    """Return the label of an axis, or that of a panel that shares it, or that of the figure; "" for none."""
    shared = axes.get_shared_x_axes() if which == "x" else axes.get_shared_y_axes()
    of_panels = [of.get_xlabel() if which == "x" else of.get_ylabel() for of in (axes, *shared.get_siblings(axes))]
    figure = axes.get_figure(root=True)
    of_figure = "" if figure is None else figure.get_supxlabel() if which == "x" else figure.get_supylabel()
    return next(filter(None, map(_words, (*of_panels, of_figure))), "")


def _words(text: str) -> str:
    """Write a text of a figure on one line; a name that was broken into lines is whole again."""
    lines = text.split("\n")
    return one_line("".join(line if not line or line[-1] in "-_/." else f"{line} " for line in lines)).strip()


def _is_number(text: str) -> bool:
    try:
        float(text.replace("\u2212", "-").replace(",", "").removesuffix("%"))
    except ValueError:
        return False
    return True


def _number(value: float) -> str:
    """Write a value with four digits, or without decimals from 1,000 on."""
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return text.replace("-", "\u2212") if "e" not in text else text


# ----------------------------------------------------------------------------------------------- data


def _bars(axes: Axes) -> Iterator[_Datum]:
    """Go through the bars: one on another has its length as value, one that begins elsewhere than at 0 both ends."""
    from matplotlib.container import BarContainer  # noqa: PLC0415 - see truemoment.reports.drawing.drawing_style

    containers = [of for of in axes.containers if isinstance(of, BarContainer)]
    segments = _segments(axes)
    tops: set[tuple[float, float]] = set()
    for container in containers:
        flat = container.orientation == "horizontal"
        for bar in container.patches:
            (across0, across1), (base, end) = (
                ((bar.get_y(), bar.get_y() + bar.get_height()), (bar.get_x(), bar.get_x() + bar.get_width()))
                if flat
                else ((bar.get_x(), bar.get_x() + bar.get_width()), (bar.get_y(), bar.get_y() + bar.get_height()))
            )
            if not np.isfinite([across0, across1, base, end]).all():
                continue
            stacked = base == 0 or (across0, base) in tops
            tops.add((across0, end))
            middle = (across0 + across1) / 2
            value = _number(end - base) if stacked else f"{_number(base)} to {_number(end)}"
            value += _interval(segments, end, middle, flat=flat)
            width = f"{_number(across0)} to {_number(across1)}"
            series = _series(axes, container, bar)
            if flat:
                yield _Datum(series, end, middle, (base, across0, end, across1), value, width)
            else:
                yield _Datum(series, middle, end, (across0, base, across1, end), width, value)


def _points(axes: Axes) -> Iterator[_Datum]:
    """Go through dots and the points of curves, without lines between two points: intervals and references."""
    from matplotlib.container import ErrorbarContainer  # noqa: PLC0415 - see truemoment.reports.drawing.drawing_style

    around = {of.lines[0]: of for of in axes.containers if isinstance(of, ErrorbarContainer)}
    series: list[tuple[str, np.ndarray]] = []
    for line in axes.lines:
        places = np.asarray(line.get_xydata(), dtype=np.float64)
        dots = line.get_marker() not in ("", " ", "None", None)
        if line.get_transform() != axes.transData or not (dots or len(places) > 2):
            continue
        if not dots and len(places) > MOST_POINTS:
            places = places[np.linspace(0, len(places) - 1, MOST_POINTS).round().astype(int)]
        series.append((_series(axes, around.get(line, line), line), places))
    for cloud in axes.collections:
        if len(offsets := np.ma.filled(cloud.get_offsets(), np.nan)) and cloud.get_offset_transform() == axes.transData:
            series.append((_series(axes, cloud, cloud), np.asarray(offsets, dtype=np.float64)))
    segments = _segments(axes)
    for name, places in series:
        for x, y in places[np.isfinite(places).all(axis=1)].tolist():
            x_text = _number(x) + _interval(segments, x, y, flat=True)
            y_text = _number(y) + _interval(segments, y, x, flat=False)
            yield _Datum(name, x, y, (x, y, x, y), x_text, y_text)


def _segments(axes: Axes) -> np.ndarray:
    """Return the lines between two points, as intervals are drawn, shape (n, 2, 2)."""
    found = [
        np.asarray(line.get_xydata())
        for line in axes.lines
        if len(np.asarray(line.get_xdata())) == 2 and line.get_transform() == axes.transData
    ]
    for collection in axes.collections:
        if hasattr(collection, "get_segments") and collection.get_transform() == axes.transData:
            found += [of for of in collection.get_segments() if len(of) == 2]
    return np.array(found, dtype=np.float64).reshape(-1, 2, 2)


def _interval(segments: np.ndarray, value: float, other: float, *, flat: bool) -> str:
    """Return the interval around a value, in brackets: the first line through it, at the same row or column."""
    along, across = segments[:, :, 0 if flat else 1], segments[:, :, 1 if flat else 0]
    low, high = along.min(axis=1, initial=np.inf), along.max(axis=1, initial=-np.inf)
    here = (np.abs(across - other) < 1e-9).all(axis=1) & (low < value) & (value < high)
    return f" ({_number(low[here][0])} to {_number(high[here][0])})" if here.any() else ""


def _series(axes: Axes, labelled: Artist, drawn: Artist) -> str:
    """Return what the legend calls a series: by its label, else by an entry of the same look; "" for none."""
    if (label := _words(str(labelled.get_label()))) and not label.startswith("_"):
        return label
    figure = axes.get_figure(root=True)
    legends = [of for of in (axes.get_legend(), *(figure.legends if figure else ())) if of is not None]
    entries = [
        (_look(handle), _words(text.get_text()))
        for legend in legends
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True)
    ]
    alike = [name for look, name in entries if look == _look(drawn)]
    return alike[0] if len(alike) == 1 else ""


def _look(artist: Artist | None) -> tuple[str, ...]:
    """Return what distinguishes an entry of a legend: colour, line and marker, or face and hatch."""
    from matplotlib.colors import to_hex  # noqa: PLC0415 - see truemoment.reports.drawing.drawing_style
    from matplotlib.lines import Line2D  # noqa: PLC0415 - see truemoment.reports.drawing.drawing_style
    from matplotlib.patches import Patch  # noqa: PLC0415 - see truemoment.reports.drawing.drawing_style

    if isinstance(artist, Line2D):
        marker = str(artist.get_marker())
        face = to_hex(artist.get_markerfacecolor()) if marker not in ("", "None") else ""
        return to_hex(artist.get_color()), str(artist.get_linestyle()), marker, face
    return (to_hex(artist.get_facecolor()), str(artist.get_hatch())) if isinstance(artist, Patch) else ()
