"""The figure of hits and misses by length of the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from truemoment.diagnosis.curves import LengthCounts
from truemoment.reports.drawing import FLOOR, METHOD, OTHER, PAPER, TEXT, drawing_style, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def by_length_figure(own: LengthCounts, floor: LengthCounts) -> Figure:
    """Draw hits and misses by length of the reference: the method beside the floor (Hidden Challenges, Fig. 6)."""
    panels = (("the method", own, METHOD), ("strongest floor", floor, FLOOR))
    with drawing_style():
        figure = new_figure(2.7)
        both = figure.subplots(1, 2, sharey=True)
        for axes, (title, counts, colour) in zip(both, panels, strict=True):
            _stacked(axes, counts, colour)
            axes.set_title(title)
            axes.set_xlim(0, 1)
            axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
            axes.grid(axis="y")
            axes.legend(loc="upper right", handlelength=1.2, handletextpad=0.4)
        both[0].set_ylabel("queries")
        both[0].yaxis.get_major_locator().set_params(integer=True)
        figure.supxlabel("length of the reference, share of the video", fontsize=TEXT)
    return figure


def _stacked(axes: Axes, counts: LengthCounts, colour: str) -> None:
    left, width = counts.bounds[:-1], np.diff(counts.bounds)
    axes.bar(left, counts.success, width, align="edge", color=colour, edgecolor=PAPER, linewidth=0.4, label="hits")
    axes.bar(
        left,
        counts.failure,
        width,
        counts.success,
        align="edge",
        color=PAPER,
        edgecolor=OTHER,
        hatch="/////",
        linewidth=0.5,
        label="misses",
    )
