"""What is told of stability: curves of self-agreement by size of the subset, as Fig. 6 of the AxIoU paper."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from truemoment.intervals import Floats
from truemoment.metaevaluation.stability import Stability
from truemoment.reports.drawing import Drawing
from truemoment.reports.metaevaluation.chapter import Chapter
from truemoment.reports.metaevaluation.parts import lines_figure
from truemoment.reports.template import Cell, Table

ENOUGH = 0.9
"""A ranking whose mean self-agreement is this or more changes in one pair of twenty."""

SHOWN_SIZES = 5


def chapter(found: Stability) -> Chapter:
    """Tell how far rankings on two subsets agree."""
    return Chapter(
        name="stability",
        title="Does a measure rank alike on other queries, and on fewer?",
        said=tuple(said(found)),
        tables=(_table(found),),
        drawings=tuple(_drawings(found)),
        document=_document(found),
        notes=tuple(_notes(found)),
    )


def said(found: Stability) -> list[str]:
    """Say which measures are stable, and from how many queries on."""
    names = [str(measure) for measure in found.measures]
    middle = int(np.searchsorted(found.queries, math.sqrt(found.queries[0] * found.queries[-1])))
    middle = min(middle, len(found.sizes) - 1)
    order = np.argsort(-found.mean[middle], kind="stable")
    best, worst = order[0], order[-1]
    where = f"On two subsets of {found.queries[middle]:,.0f} queries, {names[best]} ranks the {found.n_systems} systems"
    sentences = [
        f"{where} most alike (mean tau {found.mean[middle, best]:.2f}), {names[worst]} least "
        f"({found.mean[middle, worst]:.2f})."
        if len(names) > 1
        else f"{where} alike with a mean tau of {found.mean[middle, best]:.2f}."
    ]
    if len(order) > 3:
        runners = ", ".join(f"{names[at]} {found.mean[middle, at]:.2f}" for at in order[1:4])
        sentences.append(f"Next come {runners}.")
    reached = first_reaching(found)
    enough = [at for at in np.argsort(np.nan_to_num(reached, nan=np.inf), kind="stable") if np.isfinite(reached[at])]
    if enough:
        told = ", ".join(f"{names[at]} from {reached[at]:,.0f}" for at in enough[:4])
        sentences.append(f"A mean tau of {ENOUGH:g} is reached by {told} queries on.")
    if never := [names[at] for at in range(len(names)) if not np.isfinite(reached[at])]:
        many = ", ".join(never[:4]) + (f" and {len(never) - 4} more" if len(never) > 4 else "")
        whom = f"{many} never reach{'es' if len(never) == 1 else ''} it"
        if len(never) == len(names):
            whom = f"No measure reaches a mean tau of {ENOUGH:g}"
        sentences.append(f"{whom} with up to {found.queries[-1]:,.0f} queries a subset.")
    empty = float(found.undefined.max())
    if empty >= 0.01:
        size, at = np.unravel_index(int(found.undefined.argmax()), found.undefined.shape)
        sentences.append(
            f"With {found.queries[size]:,.0f} queries {names[at]} ties all systems in {empty:.0%} of the trials, which "
            "counts as no agreement."
        )
    return sentences


def first_reaching(found: Stability) -> Floats:
    """Queries of the first size from which on the mean stays at :data:`ENOUGH` or more, (M,); NaN for none."""
    above = np.logical_and.accumulate((found.mean >= ENOUGH)[::-1], axis=0)[::-1]
    return np.where(above.any(axis=0), found.queries[above.argmax(axis=0)], np.nan)


def _table(found: Stability) -> Table:
    shown = np.unique(np.linspace(0, len(found.sizes) - 1, SHOWN_SIZES).round().astype(int))
    best = found.mean.max(axis=1)
    rows = tuple(
        (
            Cell(str(measure)),
            *(
                Cell(
                    f"{found.mean[n, m]:.3f}",
                    f"var {found.variance[n, m]:.3f}",
                    marked=bool(found.mean[n, m] >= best[n]),
                )
                for n in shown
            ),
        )
        for m, measure in enumerate(found.measures)
    )
    headings = ("measure", *(f"{found.queries[n]:,.0f} queries" for n in shown))
    return Table("Self-agreement: mean and variance of tau over the trials", headings, (("", rows),))


def _drawings(found: Stability) -> list[Drawing]:
    def curves(table: Floats, label: str, limits: tuple[float | None, float | None]) -> Callable[[], Any]:
        ends = (found.queries[0], found.queries[len(found.queries) // 2], found.queries[-1])
        return lambda: lines_figure(
            found.measures,
            found.queries,
            table,
            x_label="queries in a subset",
            y_label=label,
            x_log=len(found.sizes) > 1,
            x_ticks=[round(float(end)) for end in ends],
            y_limits=limits,
        )

    what = "sharing none" if not found.overlapping else "each drawn for itself"
    told = f"Of {found.trials:,} pairs of subsets of each size, {what}, drawn by {found.unit}."
    return [
        Drawing(
            "stability-mean", "Self-agreement by size of the subset", told, curves(found.mean, "mean tau", (None, 1))
        ),
        Drawing(
            "stability-variance",
            "How much of it is luck",
            "Variance of tau over the same pairs: lower is more reliable.",
            curves(found.variance, "variance", (0, None)),
        ),
    ]


def _document(found: Stability) -> dict[str, Any]:
    return {
        "unit": found.unit,
        "subsets": "overlapping" if found.overlapping else "disjoint",
        "trials": found.trials,
        "n_systems": found.n_systems,
        "sizes": found.sizes.tolist(),
        "queries": found.queries.tolist(),
        "measures": [
            {
                "measure": str(measure),
                "mean_tau": found.mean[:, m].tolist(),
                "variance": found.variance[:, m].tolist(),
                "undefined_share": found.undefined[:, m].tolist(),
            }
            for m, measure in enumerate(found.measures)
        ],
    }


def _notes(found: Stability) -> list[str]:
    notes = [
        f"Kendall's tau-b between the rankings of {found.n_systems} systems on two subsets; AxIoU paper, section 6.3 "
        "and Fig. 6. Where all systems tie on a subset, tau counts as 0."
    ]
    if found.overlapping:
        notes.append("The subsets may share queries, the more the larger they are: tau rises to 1 by construction.")
    if found.unit == "query":
        notes.append(
            "Queries were drawn one by one; those of one video are alike, so a new test set varies more than this."
        )
    else:
        notes.append("Whole videos were drawn; the number of queries is that of an average subset.")
    return notes
