"""Bars of one measure by method and split: methods, blind floors, and published figures beside.

After Closer Look (Yuan et al. 2021), Fig. 1b, 1c and 7 (Fig. 11 of the journal version), and Hidden Challenges (Otani
et al. 2020), Fig. 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from truemoment.report.drawing import (
    FLOOR,
    FLOOR_FAINT,
    INK,
    METHOD,
    METHOD_FAINT,
    OTHER,
    OTHER_FAINT,
    PAPER,
    SMALL,
    drawing_style,
    new_figure,
    wrapped,
)
from truemoment.report.model import Drawing
from truemoment.report.words import listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BAR_IN, BETWEEN_IN, AROUND_IN = 0.145, 0.1, 0.95
"""Height of a bar, of the room between two methods, and of what surrounds the bars, inches."""

COLOURS = {"method": (METHOD, METHOD_FAINT), "floor": (FLOOR, FLOOR_FAINT), "published": (OTHER, OTHER_FAINT)}
"""Full and faint colour of each kind of row."""

FILLS = (("faint", None), ("paper", "////"), ("faint", "...."))
"""How the bars of each split but the last are filled, in their order: colour inside and hatch. The last one is full."""

MOST_SPLITS = len(FILLS) + 1
"""Splits that a figure can distinguish."""

LABEL_WIDTH = 21
"""Letters of a line of the name of a split in the legend."""

SHORT_KINDS = {"method": "method", "floor": "floor (blind)", "published": "published"}
KINDS = {"method": "methods", "floor": "floors, which never see a video", "published": "published figures"}


Kind = Literal["method", "floor", "published"]
"""Whose figure a bar is."""


class SplitBar(NamedTuple):
    """A figure of a method on one split.

    Parameters
    ----------
    method
        Name of its row.
    split
        Name of the split, e.g. ``test-ood``.
    value
        A fraction; NaN where it is undefined.
    ci95
        Ends of its 95 % interval, fractions; NaN where it has none.
    kind
        Whose figure it is.
    source
        Where a published figure is printed.
    """

    method: str
    split: str
    value: float
    ci95: tuple[float, float] = (math.nan, math.nan)
    kind: Kind = "method"
    source: str = ""


def split_bars(
    bars: Sequence[SplitBar],
    measure: str,
    *,
    name: str = "splits",
    splits: Sequence[str] | None = None,
    note: str = "",
) -> Drawing:
    """Return the figure of a measure: a row a method (floors and published ones last), a bar a split.

    Parameters
    ----------
    bars
        At most one for each kind, method and split; methods of a kind are in the order in which they occur.
    measure
        What is measured.
    name
        Name of the file of the figure.
    splits
        Order of the splits; by default that in which they occur. Only the first :data:`MOST_SPLITS` are drawn.
    note
        Sentence that the caption has besides, after a blank.
    """
    splits = list(dict.fromkeys(bar.split for bar in bars) if splits is None else splits)
    kinds = [words for kind, words in KINDS.items() if any(bar.kind == kind for bar in bars)]
    left_out = f" {listed(splits[MOST_SPLITS:])}: not drawn." if len(splits) > MOST_SPLITS else ""
    caption = (
        f"{measure} in percent by split: {listed(kinds)}, with 95 % intervals by resampling videos where the "
        f"predictions are known.{note}{left_out} After Closer Look, Fig. 7."
    )
    return Drawing(
        name,
        f"{measure} by method and split",
        caption,
        partial(split_bars_figure, bars, measure, splits[:MOST_SPLITS]),
        partial(split_numbers, bars, measure),
    )


def split_numbers(bars: Sequence[SplitBar], measure: str) -> list[dict[str, Any]]:
    """Return the numbers of the figure, a row a bar; fractions."""
    return [
        {
            "measure": measure,
            "split": bar.split,
            "kind": bar.kind,
            "method": bar.method,
            "value": bar.value,
            "ci95_low": bar.ci95[0],
            "ci95_high": bar.ci95[1],
            "source": bar.source,
        }
        for bar in bars
    ]


def split_bars_figure(bars: Sequence[SplitBar], measure: str, splits: Sequence[str]) -> Figure:
    """Draw the bars, the methods from top to bottom."""
    rows = [(kind, bar.method) for kind in KINDS for bar in bars if bar.kind == kind and bar.split in splits]
    rows = list(dict.fromkeys(rows))
    with drawing_style():
        row_in = BAR_IN * len(splits) + BETWEEN_IN
        figure = new_figure(AROUND_IN + row_in * len(rows) + 0.15 * any(len(split) > LABEL_WIDTH for split in splits))
        axes = figure.add_subplot()
        height, fills = BAR_IN / row_in, _fills(len(splits))
        reached = 0.01
        for number, row in enumerate(rows):
            of_row = {bar.split: bar for bar in bars if (bar.kind, bar.method) == row}
            for place, split in enumerate(splits):
                if split in of_row:
                    at = number + height * (place - (len(splits) - 1) / 2)
                    reached = max(reached, _draw_bar(axes, at, of_row[split], fills[place], height))
        axes.set_yticks(range(len(rows)), [wrapped(method, 19) for _, method in rows])
        axes.set_ylim(len(rows) - 0.45, -0.55)
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(0, min(100 * reached * 1.16, 116))
        axes.set_xlabel(f"{measure}, %")
        axes.grid(axis="x")
        _legend(figure, [kind for kind in KINDS if any(row[0] == kind for row in rows)], splits)
    return figure


def _fills(n_splits: int) -> list[tuple[str, str | None]]:
    return [*FILLS[: n_splits - 1], ("full", None)]


def _draw_bar(axes: Axes, at: float, bar: SplitBar, look: tuple[str, str | None], height: float) -> float:
    """Draw a bar with its interval and number; return how far it reaches, a fraction."""
    end = 0.0
    if math.isfinite(bar.value):
        full, faint = COLOURS[bar.kind]
        fill, hatch = look
        inside = {"full": full, "faint": faint, "paper": PAPER}[fill]
        value = 100 * bar.value
        axes.barh(at, value, height=0.86 * height, color=inside, edgecolor=full, hatch=hatch, linewidth=0.6)
        end = bar.value
        low, high = bar.ci95
        if math.isfinite(low) and math.isfinite(high):
            axes.hlines(at, 100 * low, 100 * high, color=PAPER, linewidth=2.6)
            axes.hlines(at, 100 * low, 100 * high, color=INK, linewidth=1.1)
            end = max(end, high)
    text = f"{100 * bar.value:.1f}" if math.isfinite(bar.value) else "undefined"
    axes.annotate(text, (100 * end, at), (3, 0), textcoords="offset points", va="center", fontsize=SMALL, color=INK)
    return end


def _legend(figure: Figure, kinds: Sequence[str], splits: Sequence[str]) -> None:
    """Say above the bars what their fill and their colour mean."""
    from matplotlib.patches import Patch  # noqa: PLC0415 - see drawing_style

    full, faint = COLOURS["published"] if kinds == ["published"] else (INK, OTHER_FAINT)
    inside = {"full": full, "faint": faint, "paper": PAPER}
    labels = [wrapped(split, LABEL_WIDTH) for split in splits]
    n_lines = max(label.count("\n") for label in labels)
    labels = [label + "\n" * (n_lines - label.count("\n")) for label in labels]  # so that entries are side by side
    handles = [
        Patch(facecolor=inside[fill], edgecolor=INK, hatch=hatch, linewidth=0.6, label=label)
        for label, (fill, hatch) in zip(labels, _fills(len(splits)), strict=True)
    ]
    columns = max(len(splits), len(kinds)) if len(kinds) > 1 else len(splits)
    if len(kinds) > 1:  # a second line; matplotlib fills columns first
        second = [Patch(facecolor=COLOURS[kind][0], edgecolor="none", label=SHORT_KINDS[kind]) for kind in kinds]
        nothing = Patch(facecolor="none", edgecolor="none", label="")
        lines = [line + [nothing] * (columns - len(line)) for line in (handles, second)]
        handles = [handle for column in zip(*lines, strict=True) for handle in column]
    figure.legend(
        handles=handles,
        loc="outside upper center",
        ncols=columns,
        columnspacing=0.9,
        handlelength=1.3,
        handletextpad=0.4,
    )
