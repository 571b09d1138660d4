"""Differences over other videos and other trainings, in the report of a comparison."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from truemoment.compared_trainings import SOURCES
from truemoment.comparison import Comparison
from truemoment.reports.model import Cell, Table
from truemoment.reports.words import UNDEFINED, listed, low_to_high, p_number, points

EXPLANATION = (
    "over other videos and other trainings: a t test, corrected for all tests of that table (Bonferroni); parts: how "
    f"much of its variance comes from {' / '.join(SOURCES)}; more of the largest part's kind would help most"
)


def trainings_table(comparison: Comparison) -> Table:
    """Return the table of differences over videos and trainings: a row a pair whose methods both have several runs."""
    decimals, tested = comparison.first.protocol.decimals, comparison.trainings
    known = np.flatnonzero(np.isfinite(tested.share).any(axis=(1, 2))).tolist()

    def cells(name: str, pair: int, row: int) -> tuple[Cell, ...]:
        texts = [
            name,
            points(comparison.difference[pair, row], decimals, sign="+"),
            low_to_high(tested.interval[pair, row], decimals, times=100) or UNDEFINED,
            p_number(tested.p[pair, row]),
            p_number(tested.p_corrected[pair, row]),
            " / ".join(UNDEFINED if np.isnan(of) else f"{100 * of:.0f}" for of in tested.share[pair, row]),
        ]
        return tuple(map(Cell, texts))

    groups = [
        (
            str(measure),
            tuple(cells(" - ".join(comparison.methods[i] for i in comparison.pairs[at]), at, row) for at in known),
        )
        for row, measure in enumerate(comparison.measures)
    ]
    columns = ("methods", "difference", "95 % interval", "p", "corrected p", "parts (%)")
    title = "Differences over other videos and other trainings, in percentage points"
    return Table(title, columns, tuple(groups), text_columns=(0, 5))


def has_trainings(comparison: Comparison) -> bool:
    """Return whether a compared pair can be tested over trainings."""
    return bool(np.isfinite(comparison.trainings.share).any())


def trainings_notes(comparison: Comparison) -> Iterator[str]:
    """Name the methods with one run, where another pair is tested over trainings."""
    single = [method for method, runs in comparison.groups.items() if len(runs) == 1]
    if single and has_trainings(comparison):
        yield f"{listed(single)}: one run, so no difference can be tested over other trainings"


def trainings_entry(comparison: Comparison, pair: int, row: int) -> dict[str, Any] | None:
    """Return what programs read about a difference over videos and trainings; None where it is not tested."""
    tested = comparison.trainings
    if np.isnan(tested.share[pair, row]).all():
        return None
    interval = tested.interval[pair, row]
    return {
        **({"ci95": interval.tolist()} if np.isfinite(interval).all() else {}),
        "p": float(tested.p[pair, row]),
        "p_corrected": float(tested.p_corrected[pair, row]),
        "degrees_of_freedom": float(tested.freedom[pair, row]),
        "variance": dict(zip(SOURCES, tested.share[pair, row].tolist(), strict=True)),
        "correction": "bonferroni",
    }
