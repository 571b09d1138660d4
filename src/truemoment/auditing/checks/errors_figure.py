"""The figure of the kinds of error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from truemoment.diagnosis.errors import ErrorKinds
from truemoment.reports.drawing import (
    METHOD,
    METHOD_FAINT,
    OTHER,
    PAPER,
    SOFT,
    drawing_style,
    new_figure,
    wrapped,
    write_beside,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def errors_figure(kinds: ErrorKinds) -> Figure:
    """Draw what correcting each kind of error would add to R@1, mIoU and AxIoU."""
    lines = [line for line in kinds.table if line.n_queries and line.kind != "hit"]
    looks = ((METHOD, METHOD, None), (METHOD_FAINT, METHOD, "////"), (PAPER, OTHER, "\\\\\\\\"))
    with drawing_style():
        figure = new_figure(1.1 + 0.42 * max(len(lines), 1))
        axes = figure.add_subplot()
        for number, (measure, (face, edge, hatch)) in enumerate(zip(kinds.measures, looks, strict=True)):
            gains = [100 * line.gain[number] for line in lines]
            at = np.arange(len(lines)) + 0.26 * (number - 1)
            label = measure.removesuffix(f"[ref={kinds.references}]")
            axes.barh(at, gains, 0.26, color=face, edgecolor=edge, hatch=hatch, linewidth=0.7, label=label)
        for row, line in enumerate(lines):
            write_beside(axes, f"{100 * line.gain[0]:+.1f}", 100 * line.gain[0], row - 0.26)
        if not lines:
            axes.text(0.5, 0, "no first answer is wrong", ha="center", va="center", color=SOFT)
            axes.set_xticks([])
        axes.set_yticks(range(len(lines)), [f"{wrapped(line.kind, 16)} ({line.n_queries:,})" for line in lines])
        axes.set_ylim(max(len(lines), 1) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0, pad=7)
        axes.set_xlim(0, max(1.0, 114 * max((float(np.max(line.gain)) for line in lines), default=0)))
        axes.set_xlabel("gain from correcting, percentage points")
        axes.grid(axis="x")
        figure.legend(loc="outside upper center", ncols=3, columnspacing=1.0, handlelength=1.2, handletextpad=0.4)
    return figure
