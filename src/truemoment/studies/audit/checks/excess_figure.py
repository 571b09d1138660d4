"""The figure of hits by the probability that the sentence network is right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from truemoment.base.intervals import Floats
from truemoment.evaluation.measures import Measure
from truemoment.report.drawing import FLOOR, METHOD, OTHER, PAPER, drawing_style, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def excess_figure(probability: Floats, hits: Floats, measure: Measure) -> Figure:
    """Draw the hits of the method and two networks, (D, 3), by the probability that the first one is right, (D,)."""
    looks = (
        ("the method", METHOD, "o", METHOD),
        ("sentence network", FLOOR, "D", FLOOR),
        ("a second network", OTHER, "^", PAPER),
    )
    with drawing_style():
        figure = new_figure(3.2)
        axes = figure.add_subplot()
        for (label, colour, marker, face), of_system in zip(looks, hits.T, strict=True):
            axes.plot(100 * probability, 100 * of_system, color=colour, marker=marker, mfc=face, label=label)
        axes.set_xlim(left=0)
        axes.set_ylim(0, max(1.0, 105 * float(hits.max(initial=0))))
        axes.set_xlabel("probability that the sentence network is right, %")
        axes.set_ylabel(f"hits at {measure}, %")
        axes.grid(axis="both")
        figure.legend(loc="outside upper center", ncols=3, columnspacing=1.2)
    return figure
