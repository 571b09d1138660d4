"""The figure of where moments lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.report.drawing import (
    DENSITY_BOUNDS,
    FLOOR,
    SMALL,
    SOFT,
    draw_density,
    drawing_style,
    new_figure,
    scale_legend,
    shortened,
)
from truemoment.studies.audit.results import Results
from truemoment.studies.evaluate.first_answers import first_answers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def _clouds(results: Results) -> list[tuple[str, Floats]]:
    """Return moments as shares of the video, (N, 2), by title: train, references, first answers, the floor's."""
    setup, train = results.setup, results.setup.splits.train
    found = [
        (f"references of {of.split}", _norm(of.start_s, of.end_s, of.duration_s))
        for of in (train, setup.annotations)
        if of is not None
    ]
    duration_s = setup.annotations.queries.duration_s
    for title, answers in (
        ("first answers", setup.predictions),
        ("first answers of the floor", results.floors[int(results.verdict.strongest[results.headline])].predictions),
    ):
        first = first_answers(setup.annotations, answers, ranking=setup.protocol.ranking)
        found.append((title, _norm(first.start_s, first.end_s, duration_s)))
    return found


def _norm(start_s: Floats, end_s: Floats, duration_s: Floats) -> Floats:
    """Return moments as shares of the video, clipped to it, without those that are missing, empty or swapped."""
    proper = (end_s > start_s) & (duration_s > 0)  # NaN is neither
    times = np.stack([start_s[proper], end_s[proper]], axis=1) / duration_s[proper, None]
    return np.asarray(np.clip(times, 0, 1))


def densities_figure(results: Results) -> Figure:
    """Draw where moments lie, (start, end) as shares of the video, all on one scale (Closer Look, Fig. 2 and 4)."""
    clouds = _clouds(results)
    with drawing_style():
        figure = new_figure(4.75)
        panels = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
        for axes, (title, points) in zip(panels, clouds, strict=False):
            _draw_cloud(axes, title, points)
        for axes in panels[len(clouds) :]:
            axes.set_axis_off()
        for axes in panels[: len(clouds)]:
            axes.set_aspect("equal")
            axes.set_xlim(0, 1)
            axes.set_ylim(0, 1)
            axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
            axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
            axes.plot([0, 1], [0, 1], color=SOFT, linewidth=0.7)
            axes.tick_params(labelbottom=True, labelleft=True)
        for axes in panels[[0, 2]]:
            axes.set_ylabel("end, share of the video")
        for axes in panels[[len(clouds) - 2, len(clouds) - 1]]:
            axes.set_xlabel("start, share of the video")
        scale_legend(figure, DENSITY_BOUNDS, "times as dense as evenly spread moments")
    return figure


def _draw_cloud(axes: Axes, title: str, points: Floats) -> None:
    axes.set_title(shortened(title, 28), fontsize=SMALL)
    if not len(points):
        axes.text(0.5, 0.5, "none", ha="center", va="center", color=SOFT)
        return
    draw_density(axes, points)
    values, counts = np.unique(np.rint(points * 100), axis=0, return_counts=True)
    if counts.max() > 0.5 * len(points):
        place = values[counts.argmax()] / 100
        axes.plot(*place, "o", ms=11, mfc="none", mec=FLOOR, mew=1.5, clip_on=False)
        share = f"{100 * counts.max() / len(points):.0f} % at {place[0]:.2f} to {place[1]:.2f}"
        axes.text(0.97, 0.06, share, ha="right", fontsize=SMALL)
