"""What is told of stability: curves of self-agreement by size of the subset, as Fig. 6 of the AxIoU paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from truemoment.intervals import Floats
from truemoment.measures import why_undefined
from truemoment.metaevaluation.stability import Stability
from truemoment.reports.metaevaluation.chapter import Chapter
from truemoment.reports.metaevaluation.parts import lines_figure
from truemoment.reports.model import Cell, Drawing, Table
from truemoment.reports.text import counted, few, listed, number, percent
from truemoment.uncertainty import ROUNDING

ENOUGH = 0.9
"""A ranking whose mean self-agreement is this or more changes in one pair of twenty."""

WORTH_SAYING = 0.01
"""Share of the trials from which on it is told that all systems tie."""

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
    at = found.middle
    mean = found.mean[at]
    order = [int(number) for number in np.argsort(-mean, kind="stable") if np.isfinite(mean[number])]
    if not order:
        return ["No measure is defined on these queries."]
    best, worst = order[0], order[-1]
    where = f"On two subsets of {_queries(found.queries[at])}"
    if mean[best] - mean[worst] > ROUNDING:
        sentences = [
            f"{where}, {names[best]} ranks the {found.n_systems} systems most alike (mean tau {mean[best]:.2f}), "
            f"{names[worst]} least ({number(mean[worst], 2)})."
        ]
    elif len(order) > 1:
        sentences = [
            f"{where}, all measures rank the {found.n_systems} systems equally alike (mean tau {_tau(mean, best)})."
        ]
    else:
        tau = _tau(mean, best)
        sentences = [
            f"{where}, {names[best]} ranks the {found.n_systems} systems with a mean tau of {tau} between them."
        ]
    if mean[best] - mean[worst] > ROUNDING and len(order) > 2:
        runners = order[1:-1][:3]
        sentences.append(
            f"Next {'comes' if len(runners) == 1 else 'come'} "
            f"{listed([f'{names[one]} ({_tau(mean, one)})' for one in runners])}."
        )
    sentences += [*_enough(found, names, order), *_all_tied(found, names, order)]
    if nowhere := [name for one, name in enumerate(names) if one not in order]:
        sentences.append(f"{few(nowhere)} {'is' if len(nowhere) == 1 else 'are'} undefined on these queries.")
    return sentences


def _queries(count: float) -> str:
    return counted(round(count), "query", "queries")


def _tau(mean: Floats, at: int) -> str:
    return number(float(mean[at]), 2)


def _enough(found: Stability, names: Sequence[str], defined: Sequence[int]) -> list[str]:
    """From how many queries on measures rank alike enough."""
    reached = first_reaching(found)
    largest = f"with up to {_queries(found.queries[-1])} a subset"
    enough = sorted((at for at in defined if np.isfinite(reached[at])), key=lambda at: float(reached[at]))
    never = [names[at] for at in defined if not np.isfinite(reached[at])]
    if not enough:
        who = "No measure reaches" if len(never) > 1 else f"{never[0]} does not reach"
        return [f"{who} a mean tau of {ENOUGH:g} {largest}."]
    told = few([f"{names[at]} from {_queries(reached[at])} on" for at in enough])
    sentences = [f"A mean tau of {ENOUGH:g} is reached by {told}."]
    if never:
        sentences.append(f"{few(never)} never reach{'es' if len(never) == 1 else ''} it {largest}.")
    return sentences


def _all_tied(found: Stability, names: Sequence[str], defined: Sequence[int]) -> list[str]:
    """Where all systems tie on a subset most often, if that happens."""
    share = found.undefined[:, defined]
    size, column = np.unravel_index(int(share.argmax()), share.shape)
    if share[size, column] < WORTH_SAYING:
        return []
    return [
        f"With {_queries(found.queries[size])} {names[defined[int(column)]]} ties all systems in "
        f"{percent(share[size, column])} of the trials, which counts as no agreement."
    ]


def first_reaching(found: Stability) -> Floats:
    """Queries of the first size from which on the mean stays at :data:`ENOUGH` or more, (M,); NaN for none."""
    above = np.logical_and.accumulate((found.mean >= ENOUGH)[::-1], axis=0)[::-1]
    return np.where(above.any(axis=0), found.queries[above.argmax(axis=0)], np.nan)


def _table(found: Stability) -> Table:
    shown = np.unique(np.linspace(0, len(found.sizes) - 1, SHOWN_SIZES).round().astype(int))
    best = np.fmax.reduce(found.mean, axis=1)
    rows = tuple(
        (
            Cell(str(measure)),
            *(
                Cell(
                    number(found.mean[n, m], 3),
                    f"var {found.variance[n, m]:.3f}" if np.isfinite(found.mean[n, m]) else "",
                    marked=bool(found.mean[n, m] >= best[n] - ROUNDING),
                )
                for n in shown
            ),
        )
        for m, measure in enumerate(found.measures)
    )
    headings = ("measure", *(_queries(found.queries[n]) for n in shown))
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
                **({"why": why_undefined(measure)} if np.isnan(found.mean[:, m]).any() else {}),
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
