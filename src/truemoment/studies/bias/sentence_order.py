"""How reports show the order of sentences: the share of neighbouring sentences that start later, and chance."""

from __future__ import annotations

from typing import Any

from truemoment.base.boundary.documents import Measured
from truemoment.data.language.paragraphs import OrderOfStarts
from truemoment.report.model import Cell
from truemoment.report.words import UNDEFINED, low_to_high, percent, points

NO_PAIR = "no video has two sentences with a moment"

HEADINGS = ("pairs", "start later, %", "by chance, %", "95 % interval")
"""Headings of :func:`cells`."""

CAPTION = (
    "Pairs of neighbouring sentences of a video in the order of the file: share whose second moment starts later, by "
    "chance (in random order), and its 95 % interval, from the spread between videos."
)


def cells(order: OrderOfStarts) -> tuple[Cell, ...]:
    """Return the cells of a split's row below :data:`HEADINGS`."""
    return (
        Cell(f"{order.n_pairs:,}"),
        Cell(points(order.later)),
        Cell(points(order.by_chance)),
        Cell(low_to_high(order.ci95, 1, times=100) or UNDEFINED),
    )


def later_in_words(order: OrderOfStarts) -> str:
    """Return the share that starts later as a clause: ``the next sentence of a video starts later in 95.5 % ...``."""
    interval = low_to_high(order.ci95, 1, times=100) or "undefined"
    return (
        f"the next sentence of a video starts later in {percent(order.later, 1)} of {order.n_pairs:,} pairs "
        f"({points(order.by_chance)} % by chance, 95 % interval {interval})"
    )


def document(order: OrderOfStarts) -> dict[str, Any]:
    """Return what programs read."""
    return {
        "n_pairs": order.n_pairs,
        "later": Measured(order.later, NO_PAIR, order.ci95),
        "by_chance": Measured(order.by_chance, NO_PAIR),
        "informs": order.informs,
    }
