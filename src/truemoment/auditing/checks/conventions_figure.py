"""The figure of the same predictions under each named convention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from truemoment.auditing.results import Results
from truemoment.reports.drawing import METHOD, PAPER, SOFT, drawing_style, new_figure, wrapped, write_beside

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def conventions_figure(results: Results, figures: Mapping[str, float]) -> Figure:
    """Draw the headline measure of the same answers under each named protocol."""
    protocol = results.setup.protocol.name
    defined = {name: 100 * value for name, value in figures.items() if np.isfinite(value)}
    names = sorted(defined, key=lambda name: (defined[name], name))
    with drawing_style():
        figure = new_figure(0.75 + 0.185 * max(len(names), 1))
        axes = figure.add_subplot()
        for row, name in enumerate(names):
            own = name == protocol
            axes.plot(defined[name], row, "o" if own else "D", color=METHOD, mfc=METHOD if own else PAPER)
            weight = "bold" if own else "normal"
            write_beside(axes, f"{defined[name]:.2f}", 1, row, share_of_width=True, fontweight=weight)
        if not names:
            axes.text(0.5, 0, "undefined under every convention", ha="center", va="center", color=SOFT)
            axes.set_xticks([])
        axes.set_yticks(range(len(names)), [wrapped(name, 24) for name in names])
        for label, name in zip(axes.get_yticklabels(), names, strict=True):
            label.set_fontweight("bold" if name == protocol else "normal")
        axes.set_ylim(max(len(names), 1) - 0.5, -0.5)
        axes.margins(x=0.08)
        axes.tick_params(axis="y", length=0, pad=7)
        axes.set_xlabel(f"{results.measure}, %")
        axes.grid(axis="both")
    return figure
