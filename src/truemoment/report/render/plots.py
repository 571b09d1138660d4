"""Places of curves and densities on a page, in pixels of a drawing :data:`WIDTH` wide."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple, cast

import contourpy
import numpy as np

from truemoment.base.intervals import Floats, Ints
from truemoment.report.chart_axis import plot_axes
from truemoment.report.charts import Cloud, Clouds, Plot, PlotCurve
from truemoment.report.density_classes import DENSITY_BOUNDS, MostFrequent, density_on_grid, histogram, most_frequent
from truemoment.report.roles import SCALE, MarkLook
from truemoment.report.words import number

WIDTH, HEIGHT = 400, 260
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 8, 42
"""Margins around the axes."""

MOST_TIPS = 11
"""Points of a curve that show their values, evenly spaced."""


class Tip(NamedTuple):
    """A place with its values in words."""

    x: float
    y: float
    text: str


class PlacedCurve(NamedTuple):
    """A curve: its look, its line, and the places of its markers."""

    look: MarkLook
    path: str
    markers: tuple[tuple[float, float], ...]


class PlacedPlot(NamedTuple):
    """A plot: ticks with their places, curves, and values."""

    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    curves: list[PlacedCurve]
    tips: list[Tip]


def placed_plot(plot: Plot) -> PlacedPlot:
    """Return the places of a plot."""
    x, y = plot_axes(plot)

    def at(x_value: float, y_value: float) -> tuple[float, float]:
        return (
            round(LEFT + x.share(x_value) * (WIDTH - LEFT - RIGHT), 1),
            round(HEIGHT - BOTTOM - y.share(y_value) * (HEIGHT - TOP - BOTTOM), 1),
        )

    curves: list[PlacedCurve] = []
    tips: list[Tip] = []
    for order, curve in enumerate(plot.curves):
        places = [(k, at(*point)) for k, point in enumerate(_points(curve)) if math.isfinite(point[1])]
        shown = [] if curve.is_histogram else places[order % 3 :: max(len(places) // 7, 1)]
        path = "M" + "L".join(f"{px:g} {py:g}" for _, (px, py) in places) if places else ""
        curves.append(PlacedCurve(curve.look, path, tuple(place for _, place in shown)))
        tips += _tips(plot, curve, at)
    x_ticks = [(at(value, 0)[0], text) for value, text in zip(x.ticks, x.tick_texts, strict=True)]
    y_ticks = [(at(0, value)[1], text) for value, text in zip(y.ticks, y.tick_texts, strict=True)]
    return PlacedPlot(x_ticks, y_ticks, curves, tips)


def _points(curve: PlotCurve) -> list[tuple[float, float]]:
    """Return the points of a line; the outline of a histogram."""
    if not curve.is_histogram:
        return list(zip(curve.x, curve.y, strict=True))
    tops = [(bound, y) for low, high, y in zip(curve.x, curve.x[1:], curve.y, strict=False) for bound in (low, high)]
    return [(curve.x[0], 0.0), *tops, (curve.x[-1], 0.0)]


def _tips(plot: Plot, curve: PlotCurve, at: Callable[[float, float], tuple[float, float]]) -> Iterator[Tip]:
    """Yield points with their values."""
    n = len(curve.y)
    for k in sorted({round(k) for k in np.linspace(0, n - 1, min(n, MOST_TIPS)).tolist()}):
        if not math.isfinite(curve.y[k]):
            continue
        where = f"{curve.x[k]:.4g}" + (f" to {curve.x[k + 1]:.4g}" if curve.is_histogram else "")
        x = (curve.x[k] + curve.x[k + 1]) / 2 if curve.is_histogram else curve.x[k]
        decimals = 0 if all(float(y).is_integer() for y in curve.y) else 1
        text = f"{curve.name}\n{plot.x_label}: {where}\n{plot.y_label}: {number(curve.y[k], decimals)}"
        yield Tip(*at(x, curve.y[k]), text)


# ------------------------------------------------------------------------------------------- densities

PANEL, GAP_X, GAP_Y = 150, 38, 60
"""Side of a panel of a density, and the room between two."""


class PlacedCloud(NamedTuple):
    """A panel of a density: its title, upper left corner, an outline a class, and its most frequent place."""

    title: str
    left: float
    top: float
    outlines: list[str]
    most: MostFrequent | None
    is_empty: bool


class PlacedClouds(NamedTuple):
    """Panels of densities, the height of the drawing, and the classes in words."""

    panels: list[PlacedCloud]
    height: float
    classes: list[str]


def placed_clouds(clouds: Clouds) -> PlacedClouds:
    """Return the places of densities, two panels a row."""
    panels = []
    for k, cloud in enumerate(clouds.clouds):
        left, top = LEFT + (k % 2) * (PANEL + GAP_X), 22 + (k // 2) * (PANEL + GAP_Y)
        panels.append(
            PlacedCloud(
                cloud.title, left, top, _outlines(cloud), most_frequent(cloud.points), is_empty=not len(cloud.points)
            )
        )
    classes = [f"{low:g}\u2013{high:g}" for low, high in itertools.pairwise(DENSITY_BOUNDS)]
    n_rows = math.ceil(len(panels) / 2)
    return PlacedClouds(panels, n_rows * (PANEL + GAP_Y) + 8, [*classes, f"over {DENSITY_BOUNDS[-1]:g}"])


_Filled = tuple[list[Floats], list[Ints]]
"""Polygons and where their rings begin and end, as contourpy returns them of OuterOffset."""


def _outlines(cloud: Cloud) -> list[str]:
    """Return the outline of each class of density in its panel, thin to dense; cells where all lie on one line."""
    if not len(cloud.points):
        return []
    density = density_on_grid(cloud.points)
    if density is None:
        return [_cells(histogram(cloud.points), k) for k in range(len(SCALE))]
    middles = (np.arange(len(density)) + 0.5) / len(density)
    contours = contourpy.contour_generator(middles, middles, density, fill_type=contourpy.FillType.OuterOffset)
    outlines = []
    for low, high in zip(DENSITY_BOUNDS, (*DENSITY_BOUNDS[1:], 1e9), strict=True):
        polygons, offsets = cast(_Filled, contours.filled(low, high))
        outlines.append(
            "".join(
                _polygon(points[first:last])
                for points, bounds in zip(polygons, offsets, strict=True)
                for first, last in itertools.pairwise(bounds.tolist())
            )
        )
    return outlines


def _polygon(points: Floats) -> str:
    """Return a closed path through points of the unit square, in steps of half a pixel."""
    places = np.rint(2 * PANEL * np.stack([points[:, 0], 1 - points[:, 1]], axis=1)).astype(int)
    places = places[np.any(np.diff(places, axis=0, prepend=places[:1] - 1) != 0, axis=1)]
    return "M" + "L".join(f"{x / 2:g} {y / 2:g}" for x, y in places.tolist()) + "z"


def _cells(table: Floats, number_of_class: int) -> str:
    """Return the cells of a table, (start, end), that are of a class, as a path."""
    of_cell = np.searchsorted(DENSITY_BOUNDS, table, side="right") - 1
    side = PANEL / len(table)
    squares = np.argwhere(of_cell == number_of_class).tolist()
    return "".join(f"M{x * side:.1f} {PANEL - y * side:.1f}h{side:.1f}v{-side:.1f}h{-side:.1f}z" for x, y in squares)
