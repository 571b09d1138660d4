"""Datasets by length of the video, coverage of the moments and size of the vocabulary (MAD, Fig. 1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from truemoment.report.drawing import (
    INK,
    METHOD,
    METHOD_FAINT,
    SMALL,
    SOFT,
    drawing_style,
    new_figure,
    wrapped,
)
from truemoment.report.model import Drawing
from truemoment.studies.bias.surveys import Survey

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_AREA_PT2 = 700.0
"""Area of the circle of the largest vocabulary, square points."""

LINE_PT = 10.5
"""Height of a line of a name, points."""

HEIGHT_IN = 3.4


class DatasetPlace(NamedTuple):
    """Where a dataset is drawn.

    Parameters
    ----------
    duration_min, duration_quartiles_min
        Mean duration of a video, and the middle half of the durations, counted once a moment; minutes.
    coverage, coverage_quartiles
        Mean share of the video that a moment covers, and the middle half of these shares; fractions.
    n_words
        Number of distinct words.
    """

    name: str
    duration_min: float
    duration_quartiles_min: tuple[float, float]
    coverage: float
    coverage_quartiles: tuple[float, float]
    n_words: int


def places(surveys: Sequence[Survey]) -> list[DatasetPlace]:
    """Return the datasets whose durations and moments are known."""
    found = []
    for survey in surveys:
        of, whole = survey.statistics.whole, survey.whole
        lengths = whole.points[:, 1] - whole.points[:, 0]
        known = math.isfinite(of.videos.mean_min) and math.isfinite(of.moments.coverage_mean)
        if known and of.moments.coverage_mean > 0 and len(whole.duration_s) and len(lengths):
            found.append(
                DatasetPlace(
                    survey.title,
                    of.videos.mean_min,
                    _quartiles(whole.duration_s / 60),
                    of.moments.coverage_mean,
                    _quartiles(lengths),
                    of.sentences.vocabulary.sizes.total,
                )
            )
    return found


def _quartiles(values: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[float, float]:
    low, high = np.quantile(values, (0.25, 0.75)).tolist()
    return low, high


def scatter_drawings(surveys: Sequence[Survey]) -> list[Drawing]:
    """Return the figure, where two datasets or more can be drawn."""
    found = places(surveys)
    if len(found) < 2:
        return []
    return [
        Drawing(
            "datasets-scatter",
            "Length, coverage and vocabulary",
            "Mean duration of a video and mean share of the video that a moment covers, on logarithmic axes; lines are "
            "the middle half of the moments. The area of a circle is the number of distinct words. Moments are "
            "hard to guess at the lower right. After MAD, Fig. 1.",
            partial(scatter_figure, found),
            partial(scatter_numbers, found),
        )
    ]


def scatter_numbers(found: Sequence[DatasetPlace]) -> list[dict[str, Any]]:
    """Return the numbers of the figure, a row a dataset."""
    return [
        {
            "dataset": of.name,
            "video_minutes_mean": of.duration_min,
            "video_minutes_q25": of.duration_quartiles_min[0],
            "video_minutes_q75": of.duration_quartiles_min[1],
            "coverage_mean": of.coverage,
            "coverage_q25": of.coverage_quartiles[0],
            "coverage_q75": of.coverage_quartiles[1],
            "distinct_words": of.n_words,
        }
        for of in found
    ]


def scatter_figure(found: Sequence[DatasetPlace]) -> Figure:
    """Draw a circle a dataset; names are at the right, joined to their circles."""
    labels = [f"{wrapped(of.name, 20)}\n{of.n_words:,} words" for of in found]
    n_lines = sum(label.count("\n") + 1 for label in labels)
    with drawing_style():
        figure = new_figure(max(HEIGHT_IN, 0.8 + (n_lines + 0.5 * len(found)) * LINE_PT / 72))
        axes = figure.add_subplot()
        most = max(of.n_words for of in found)
        for of in sorted(found, key=lambda one: -one.n_words):  # small circles over large ones
            low, high = of.duration_quartiles_min
            axes.hlines(100 * of.coverage, low, high, color=SOFT, linewidth=0.8)
            axes.vlines(of.duration_min, *(100 * np.array(of.coverage_quartiles)), color=SOFT, linewidth=0.8)
            area = max(MOST_AREA_PT2 * of.n_words / max(most, 1), 8.0)
            x, y = [of.duration_min], [100 * of.coverage]
            axes.scatter(x, y, s=area, facecolor=METHOD_FAINT, edgecolor=METHOD, linewidth=1.0, alpha=None)
            axes.plot(x, y, marker=".", color=METHOD, markersize=3)
        _set_axes(axes, found)
        _name_circles(axes, figure, found, labels)
    return figure


def _set_axes(axes: Any, found: Sequence[DatasetPlace]) -> None:  # noqa: ANN401 - matplotlib's
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: PLC0415 - see drawing_style

    axes.set_xscale("log")
    axes.set_yscale("log")
    minutes = [value for of in found for value in (of.duration_min, *of.duration_quartiles_min)]
    percents = [100 * value for of in found for value in (of.coverage, *of.coverage_quartiles) if value > 0]
    axes.set_xlim(min(minutes) / 1.8, max(minutes) * 2.2)
    axes.set_ylim(min(percents) / 1.5, max(percents) * 1.6)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("duration of a video, minutes")
    axes.set_ylabel("coverage of a moment, % of the video")
    axes.grid(axis="both")


def _name_circles(axes: Any, figure: Figure, found: Sequence[DatasetPlace], labels: Sequence[str]) -> None:  # noqa: ANN401 - matplotlib's
    """Write the names at the right in the order of their circles, without overlap, and join them."""
    low, high = axes.get_ylim()
    span = math.log(high / low)
    height_pt = 72 * (figure.get_figheight() - 0.6)
    heights = [(label.count("\n") + 1.5) * LINE_PT / height_pt for label in labels]
    order = sorted(range(len(found)), key=lambda at: -found[at].coverage)
    at_y: dict[int, float] = {}
    ceiling = 1.0
    left = sum(heights)
    for number in order:  # from the top: near its circle, and not where the rest below would have no room
        wanted = math.log(100 * found[number].coverage / low) / span + heights[number] / 2
        top = min(ceiling, max(wanted, left))
        at_y[number] = top - heights[number] / 2
        ceiling = top - heights[number]
        left -= heights[number]
    for number, of in enumerate(found):
        axes.annotate(
            labels[number],
            (of.duration_min, 100 * of.coverage),
            (1.03, at_y[number]),
            textcoords="axes fraction",
            va="center",
            fontsize=SMALL,
            color=INK,
            arrowprops={
                "arrowstyle": "-",
                "color": SOFT,
                "linewidth": 0.6,
                "linestyle": (0, (1, 2)),
                "relpos": (0, 0.5),
                "shrinkA": 1,
                "shrinkB": 2,
            },
        )
