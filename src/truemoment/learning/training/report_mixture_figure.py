"""The figure of a study of mixtures: the score against the number of sentences, for each source alone and added."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.report.drawing import CEILING, FLOOR, METHOD, OTHER, drawing_style, new_figure
from truemoment.report.model import Drawing

if TYPE_CHECKING:  # these load matplotlib and PyTorch
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from truemoment.learning.training.mixture_study import MixtureResult, RowFigures

HEIGHT_IN = 3.6

STYLES = ((CEILING, "s", "-"), (FLOOR, "D", "--"), (OTHER, "^", ":"), (METHOD, "o", "-"))
"""Of the sources alone, in their order, and last of mixtures."""


def drawings(result: MixtureResult) -> list[Drawing]:
    """Return a figure for each test split."""
    caption = (
        f"Mean {result.headline} of the seeds, by the number of training sentences; thin marks are single seeds. Rows "
        "of one source alone are joined by a line, and so are those that add to the first source."
    )
    return [
        Drawing(
            f"mixtures-{split}",
            f"{result.headline} by size of the mixture, {split}",
            caption,
            partial(figure, result, split),
            partial(numbers, result, split),
        )
        for split in result.splits
    ]


def lines_of(result: MixtureResult, split: str) -> dict[str, list[RowFigures]]:
    """Return the rows of each line of the figure, by size."""
    titles = [source.title for source in result.grid.recipe.data or ()]
    known = [of for of in result.figures[split] if of.values[result.headline]]
    lines: dict[str, list[RowFigures]] = {}
    for at, title in enumerate(titles):
        lines[f"{title} alone"] = [of for of in known if sum(map(bool, of.row.shares)) == 1 and of.row.shares[at]]
    added = [of for of in known if sum(map(bool, of.row.shares)) > 1 and of.row.shares[0]]
    if added:
        lines[f"{titles[0]} and more"] = [*lines[f"{titles[0]} alone"][-1:], *added]
    return {name: sorted(rows, key=lambda of: of.n_sentences) for name, rows in lines.items() if rows}


def numbers(result: MixtureResult, split: str) -> list[dict[str, Any]]:
    """Return the numbers of the figure, a row a mark; fractions."""
    return [
        {
            "line": name,
            "row": of.row.name,
            "n_sentences": of.n_sentences,
            "measure": result.headline,
            "value": float(np.mean(of.values[result.headline])),
        }
        for name, rows in lines_of(result, split).items()
        for of in rows
    ]


def figure(result: MixtureResult, split: str) -> Figure:
    """Draw the figure."""
    with drawing_style():
        drawn = new_figure(HEIGHT_IN)
        axes = drawn.subplots()
        titles = [source.title for source in result.grid.recipe.data or ()]
        for name, rows in lines_of(result, split).items():
            at = next((k for k, title in enumerate(titles) if name == f"{title} alone"), len(STYLES) - 1)
            _line(axes, name, rows, result.headline, STYLES[min(at, len(STYLES) - 1)])
        axes.set_xlabel("training sentences")
        axes.set_ylabel(f"{result.headline}, %")
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.legend(frameon=False)
    return drawn


def _line(axes: Axes, name: str, rows: list[RowFigures], headline: str, style: tuple[str, str, str]) -> None:
    colour, marker, line = style
    sizes = [of.n_sentences for of in rows]
    axes.plot(
        sizes,
        [100 * float(np.mean(of.values[headline])) for of in rows],
        color=colour,
        marker=marker,
        linestyle=line,
        label=name,
    )
    for of in rows:
        values = [100 * value for value in of.values[headline]]
        axes.plot(
            [of.n_sentences] * len(values), values, color=colour, marker="_", linestyle="", markersize=5, alpha=0.6
        )
