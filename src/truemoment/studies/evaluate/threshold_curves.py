"""R@1 and dR@1 of several systems against the threshold on the IoU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from truemoment.report.drawing import (
    CEILING,
    FLOOR,
    INK,
    METHOD,
    OTHER,
    PAPER,
    SOFT,
    drawing_style,
    new_figure,
    shortened,
)
from truemoment.studies.evaluate.curves import Curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = ((METHOD, "o"), (FLOOR, "D"), (OTHER, "^"), (INK, "s"), (CEILING, "v"), (SOFT, "P"))

MOST = len(LOOKS)
"""Systems that are drawn."""


def curves_figure(shown: Sequence[tuple[str, Curves]]) -> Figure:
    """Draw R@1 and dR@1 against the threshold m (Closer Look, Fig. 8): the first :data:`MOST` curves."""
    with drawing_style():
        figure = new_figure(3.4)
        axes = figure.add_subplot()
        highest = 0.0
        for number, (name, of) in enumerate(shown[:MOST]):
            colour, marker = LOOKS[number]
            every = (number, min(len(shown), MOST) + 1)
            title = shortened(name, 24)
            recall, discounted = 100 * of.recall[0], 100 * of.discounted[0]
            axes.plot(of.thresholds, recall, color=colour, marker=marker, markevery=every, label=title)
            axes.plot(
                of.thresholds,
                discounted,
                color=colour,
                marker=marker,
                mfc=PAPER,
                markevery=every,
                linestyle=(0, (3, 2)),
                label=f"_{title}, dR@1",  # in no legend, but where its values are shown
            )
            highest = max(highest, float(np.nanmax(recall, initial=0)))
        axes.plot([], [], color=SOFT, label="R@1")
        axes.plot([], [], color=SOFT, linestyle=(0, (3, 2)), mfc=PAPER, label="dR@1")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, max(highest * 1.03, 1))
        axes.set_xlabel("threshold m on the IoU")
        axes.set_ylabel("% of the queries")
        axes.grid(axis="both")
        figure.legend(loc="outside upper center", ncols=3, columnspacing=1.2)  # within, it would cover high scores
    return figure
