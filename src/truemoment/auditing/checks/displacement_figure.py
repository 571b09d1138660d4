"""The figure of how answers move when the video is shuffled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from truemoment.diagnosis.shuffled import Displacement
from truemoment.reports.drawing import METHOD, METHOD_FAINT, SMALL, draw_cells, drawing_style, new_figure, scale_legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure


DISPLACEMENT_BOUNDS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Classes of the displacements' density, times an even spread over the square."""


def displacement_figure(moved: Displacement) -> Figure:
    """Draw how far start and end move when the video is shuffled, with marginals (Hidden Challenges, Fig. F)."""
    density = moved.density()
    n_queries = int(density.counts.sum())
    with drawing_style():
        figure = new_figure(4.3)
        grid = figure.add_gridspec(2, 2, width_ratios=(4, 1), height_ratios=(1, 4))
        axes = figure.add_subplot(grid[1, 0])
        draw_cells(axes, density.density, density.bounds, DISPLACEMENT_BOUNDS)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.set_xlabel("|s - s'|, share of the video")
        axes.set_ylabel("|e - e'|, share of the video")
        axes.grid(axis="both")
        shares = f"{100 * moved.share_unchanged:.1f} % unchanged\n{100 * moved.share_within():.1f} % within 0.1"
        axes.text(0.97, 0.97, shares, ha="right", va="top", fontsize=SMALL)
        above = figure.add_subplot(grid[0, 0], sharex=axes)
        beside = figure.add_subplot(grid[1, 1], sharey=axes)
        of_start, of_end = (100 * density.counts.sum(axis=axis) / max(n_queries, 1) for axis in (1, 0))
        above.stairs(of_start, density.bounds, fill=True, color=METHOD_FAINT, edgecolor=METHOD)
        beside.stairs(of_end, density.bounds, fill=True, color=METHOD_FAINT, edgecolor=METHOD, orientation="horizontal")
        above.set_ylabel("%")
        beside.set_xlabel("%")
        above.tick_params(labelbottom=False)
        beside.tick_params(labelleft=False)
        scale_legend(figure, DISPLACEMENT_BOUNDS, "times as dense as evenly spread displacements")
    return figure
