"""The learning curves of a run: the loss and the figures on the validation split, epoch by epoch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from truemoment.report.drawing import FLOOR, INK, METHOD, OTHER, SOFT, new_figure, save_drawings
from truemoment.report.model import Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from truemoment.learning.training.checkpoints import Epoch
    from truemoment.learning.training.runs import TrainingResult

NAME = "curves"
"""Name of the file, without ending."""

HEIGHT_IN = 4.2
MOST_TERMS = 3
"""Terms of the loss that have a line of their own, beside the total."""

LINES = ((METHOD, "-", "o"), (FLOOR, "--", "D"), (INK, ":", "^"), (OTHER, "-.", "v"))


def drawing(result: TrainingResult) -> Drawing:
    """Return the figure of a run."""
    caption = (
        f"Loss in training above, figures on {result.run.val.split} below; the vertical line is the epoch that the run "
        f"keeps, {result.best.epoch}."
    )
    return Drawing(NAME, f"Learning curves of {result.run.recipe.model}", caption, partial(_drawn, result.history))


def save_curves(result: TrainingResult) -> list[Path]:
    """Write the figure into the folder of the run, as PNG and SVG."""
    return save_drawings([drawing(result)], result.folder, ("png", "svg")) if result.history else []


def _drawn(history: Sequence[Epoch]) -> Figure:
    figure = new_figure(HEIGHT_IN)
    above, below = figure.subplots(2, 1, sharex=True)
    losses = ["total", *[name for name in history[-1].loss if name != "total"][:MOST_TERMS]]
    if len(losses) == 2:  # the only term is the total
        losses = losses[:1]
    _curves(above, history, {name: [of.loss.get(name) for of in history] for name in losses})
    figures = list(history[-1].val)[: len(LINES)]
    _curves(below, history, {name: [_percent(of.val.get(name)) for of in history] for name in figures})
    best = next(of.epoch for of in reversed(history) if of.best)
    for axes in (above, below):
        axes.axvline(best, color=SOFT, linewidth=0.8, zorder=0)
        axes.legend(frameon=False, fontsize="small")
    stages = [of.epoch for of, before in zip(history[1:], history, strict=False) if of.stage != before.stage]
    for axes in (above, below):
        for epoch in stages:
            axes.axvline(epoch - 0.5, color=SOFT, linewidth=0.8, linestyle=":", zorder=0)
    above.set_ylabel("loss")
    below.set_ylabel("validation, %")
    below.set_xlabel("epoch")
    below.locator_params(axis="x", integer=True)
    return figure


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _curves(axes: Axes, history: Sequence[Epoch], values: dict[str, list[float | None]]) -> None:
    """Draw a line for each name; a value that an epoch does not have is left out."""
    for number, (name, of_epochs) in enumerate(values.items()):
        colour, line, marker = LINES[number % len(LINES)]
        there = [(of.epoch, value) for of, value in zip(history, of_epochs, strict=True) if value is not None]
        axes.plot(*zip(*there, strict=True), color=colour, linestyle=line, marker=marker, markersize=3, label=name)
