"""Differences over other videos and other trainings, in the report of a comparison."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from truemoment.report.model import Cell, Table
from truemoment.report.words import UNDEFINED, listed, number
from truemoment.studies.compare.comparison import Comparison
from truemoment.studies.compare.trainings import SOURCES

EXPLANATION = (
    "where a method of a pair has several runs, differences are about other videos and other trainings, by a t test; "
    f"parts: how much of their variance comes from {' / '.join(SOURCES)}; more of the largest part's kind help most"
)


def trainings_table(comparison: Comparison) -> Table:
    """Return what the variance of differences comes from: a row a pair of which a method has several runs."""
    tested = comparison.trainings
    known = [
        pair
        for pair in np.flatnonzero(np.isfinite(tested.share).any(axis=(1, 2))).tolist()
        if _several(comparison, pair)
    ]

    def cells(name: str, pair: int, row: int) -> tuple[Cell, ...]:
        parts = " / ".join(UNDEFINED if np.isnan(of) else f"{100 * of:.0f}" for of in tested.share[pair, row])
        return tuple(map(Cell, (name, number(float(tested.freedom[pair, row]), 1), parts)))

    groups = [
        (
            str(measure),
            tuple(cells(" - ".join(comparison.methods[i] for i in comparison.pairs[at]), at, row) for at in known),
        )
        for row, measure in enumerate(comparison.measures)
    ]
    title = "What the uncertainty of differences over videos and trainings comes from"
    return Table(title, ("methods", "degrees of freedom", "parts (%)"), tuple(groups), text_columns=(0, 2))


def has_trainings(comparison: Comparison) -> bool:
    """Return whether a method that is no blind one has several runs, so that a pair is tested over its trainings."""
    tested = np.isfinite(comparison.trainings.share).any(axis=(1, 2))
    return any(_several(comparison, pair) for pair in np.flatnonzero(tested).tolist())


def _several(comparison: Comparison, pair: int) -> bool:
    names = (comparison.methods[number] for number in comparison.pairs[pair])
    return any(len(comparison.groups[name]) > 1 for name in names if name not in comparison.blind)


def trainings_notes(comparison: Comparison) -> Iterator[str]:
    """Name the methods with one run, where others have several."""
    single = [method for method, runs in comparison.groups.items() if len(runs) == 1 and method not in comparison.blind]
    if single and has_trainings(comparison):
        yield f"{listed(single)}: one run, so its own luck in training is in no interval"


def trainings_entry(comparison: Comparison, pair: int, row: int) -> dict[str, Any] | None:
    """Return what programs read about a difference over videos and trainings; None where it is not tested so."""
    tested = comparison.trainings
    if np.isnan(tested.share[pair, row]).all():
        return None
    return {
        "degrees_of_freedom": float(tested.freedom[pair, row]),
        "variance": dict(zip(SOURCES, tested.share[pair, row].tolist(), strict=True)),
    }
