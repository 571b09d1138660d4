"""Datasets by length of the video, coverage of the moments and size of the vocabulary (MAD, Fig. 1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from truemoment.report.drawing import METHOD, METHOD_FAINT, SMALL, drawing_style, new_figure, wrapped
from truemoment.report.model import Drawing
from truemoment.report.roles import INK, SOFT
from truemoment.studies.bias.surveys import Survey

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_AREA_PT2 = 700.0
"""Area of the circle of the largest vocabulary, square points."""

LINE_PT = 10.5
"""Height of a line of a name, points."""

HEIGHT_IN = 3.4


class DatasetPlace(NamedTuple):
    """Position of a dataset in the figure.

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
    datasets = []
    for survey in surveys:
        statistics, whole = survey.statistics.whole, survey.whole
        lengths = whole.points[:, 1] - whole.points[:, 0]
        is_known = math.isfinite(statistics.videos.mean_min) and math.isfinite(statistics.moments.coverage_mean)
        if is_known and statistics.moments.coverage_mean > 0 and len(whole.duration_s) and len(lengths):
            datasets.append(
                DatasetPlace(
                    survey.title,
                    statistics.videos.mean_min,
                    _quartiles(whole.duration_s / 60),
                    statistics.moments.coverage_mean,
                    _quartiles(lengths),
                    statistics.sentences.vocabulary.sizes.total,
                )
            )
    return datasets


def _quartiles(values: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[float, float]:
    low, high = np.quantile(values, (0.25, 0.75)).tolist()
    return low, high


def scatter_drawings(surveys: Sequence[Survey]) -> list[Drawing]:
    """Return the figure, where two datasets or more can be drawn."""
    datasets = places(surveys)
    if len(datasets) < 2:
        return []
    return [
        Drawing(
            "datasets-scatter",
            "Length, coverage and vocabulary",
            "Mean duration of a video and mean share of the video that a moment covers, on logarithmic axes; lines are "
            "the middle half of the moments. The area of a circle is the number of distinct words. Moments are "
            "hard to guess at the lower right. After MAD, Fig. 1.",
            partial(scatter_figure, datasets),
            partial(scatter_numbers, datasets),
        )
    ]


def scatter_numbers(datasets: Sequence[DatasetPlace]) -> list[dict[str, Any]]:
    """Return the numbers of the figure, a row a dataset."""
    return [
        {
            "dataset": dataset.name,
            "video_minutes_mean": dataset.duration_min,
            "video_minutes_q25": dataset.duration_quartiles_min[0],
            "video_minutes_q75": dataset.duration_quartiles_min[1],
            "coverage_mean": dataset.coverage,
            "coverage_q25": dataset.coverage_quartiles[0],
            "coverage_q75": dataset.coverage_quartiles[1],
            "distinct_words": dataset.n_words,
        }
        for dataset in datasets
    ]


def scatter_figure(datasets: Sequence[DatasetPlace]) -> Figure:
    """Draw a circle a dataset; names are at the right, joined to their circles."""
    labels = [f"{wrapped(dataset.name, 20)}\n{dataset.n_words:,} words" for dataset in datasets]
    n_lines = sum(label.count("\n") + 1 for label in labels)
    with drawing_style():
        figure = new_figure(max(HEIGHT_IN, 0.8 + (n_lines + 0.5 * len(datasets)) * LINE_PT / 72))
        axes = figure.add_subplot()
        most = max(dataset.n_words for dataset in datasets)
        for dataset in sorted(datasets, key=lambda dataset: -dataset.n_words):  # small circles over large ones
            low, high = dataset.duration_quartiles_min
            axes.hlines(100 * dataset.coverage, low, high, color=SOFT, linewidth=0.8)
            axes.vlines(dataset.duration_min, *(100 * np.array(dataset.coverage_quartiles)), color=SOFT, linewidth=0.8)
            area = max(MOST_AREA_PT2 * dataset.n_words / max(most, 1), 8.0)
            x, y = [dataset.duration_min], [100 * dataset.coverage]
            axes.scatter(x, y, s=area, facecolor=METHOD_FAINT, edgecolor=METHOD, linewidth=1.0, alpha=None)
            axes.plot(x, y, marker=".", color=METHOD, markersize=3)
        _set_axes(axes, datasets)
        _name_circles(axes, figure, datasets, labels)
    return figure


def _set_axes(axes: Any, datasets: Sequence[DatasetPlace]) -> None:  # noqa: ANN401 - matplotlib's
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: PLC0415 - see drawing_style

    axes.set_xscale("log")
    axes.set_yscale("log")
    minutes = [value for dataset in datasets for value in (dataset.duration_min, *dataset.duration_quartiles_min)]
    percents = [
        100 * value for dataset in datasets for value in (dataset.coverage, *dataset.coverage_quartiles) if value > 0
    ]
    axes.set_xlim(min(minutes) / 1.8, max(minutes) * 2.2)
    axes.set_ylim(min(percents) / 1.5, max(percents) * 1.6)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("duration of a video, minutes")
    axes.set_ylabel("coverage of a moment, % of the video")
    axes.grid(axis="both")


def _name_circles(axes: Any, figure: Figure, datasets: Sequence[DatasetPlace], labels: Sequence[str]) -> None:  # noqa: ANN401 - matplotlib's
    """Write the names at the right in the order of their circles, without overlap, and join them."""
    low, high = axes.get_ylim()
    span = math.log(high / low)
    height_pt = 72 * (figure.get_figheight() - 0.6)
    heights = [(label.count("\n") + 1.5) * LINE_PT / height_pt for label in labels]
    order = sorted(range(len(datasets)), key=lambda at: -datasets[at].coverage)
    at_y: dict[int, float] = {}
    ceiling = 1.0
    rest = sum(heights)
    for number in order:  # from the top: near its circle, and not where the rest below would have no room
        target = math.log(100 * datasets[number].coverage / low) / span + heights[number] / 2
        top = min(ceiling, max(target, rest))
        at_y[number] = top - heights[number] / 2
        ceiling = top - heights[number]
        rest -= heights[number]
    for number, dataset in enumerate(datasets):
        axes.annotate(
            labels[number],
            (dataset.duration_min, 100 * dataset.coverage),
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
