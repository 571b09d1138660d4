"""The report on stability: self-agreement by size of the subset, as in Fig. 6 of the AxIoU paper."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.evaluation.measures import why_undefined
from truemoment.evaluation.uncertainty import ROUNDING
from truemoment.report.model import Cell, Drawing, Finding, Paragraph, Section, Table
from truemoment.report.words import counted, few, number, percent
from truemoment.studies.meta.reports.looks import lines_figure
from truemoment.studies.meta.reports.spans import span
from truemoment.studies.meta.stability import Stability

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENOUGH = 0.9
"""Minimum mean tau of stable rankings: they differ in at most one pair of twenty."""

WORTH_SAYING = 0.01
"""Minimum share of trials in which all systems tie for the report to name the measure."""

SHOWN_SIZES = 5


def section(result: Stability) -> Section:
    """Return the section of the study."""
    subsets = "without shared queries" if not result.overlapping else "which may share queries"
    return Section(
        "stability",
        "Does a measure give the same ranking on other or fewer queries?",
        (
            Finding(tuple(sentences(result))),
            Drawing(
                "stability-mean",
                "Self-agreement by size of the subset",
                f"{result.trials:,} pairs of subsets of each size, {subsets}, drawn by {result.unit}.",
                partial(_figure, result, result.mean, "mean tau", (None, 1)),
            ),
            Drawing(
                "stability-variance",
                "Variance of the self-agreement",
                "Variance of tau over the same pairs: lower is more reliable.",
                partial(_figure, result, result.variance, "variance", (0, None)),
            ),
            _table(result),
            *map(Paragraph, _notes(result)),
        ),
        "Stability",
    )


def sentences(result: Stability) -> list[str]:
    """Return the stable measures, and the number of queries from which they are stable."""
    names = [str(measure) for measure in result.measures]
    mean = result.mean[result.middle]
    if not np.isfinite(mean).any():
        return ["No measure is defined on these queries."]
    findings = [
        f"On two subsets of {_queries(result.queries[result.middle])}, the self-agreement (mean tau) is "
        f"{span(result.measures, mean, number)}."
    ]
    reached = first_reaching(result)
    reaching = [f"{names[at]} ({_queries(reached[at])})" for at in np.argsort(reached) if np.isfinite(reached[at])]
    findings.append(
        f"Measures that reach a mean tau of {ENOUGH:g}: {few(reaching)}."
        if reaching
        else f"No measure reaches a mean tau of {ENOUGH:g} with {_queries(result.queries[-1])} or fewer."
    )
    share = np.nan_to_num(result.undefined)
    size, column = np.unravel_index(int(share.argmax()), share.shape)
    if share[size, column] >= WORTH_SAYING:
        findings.append(
            f"On {_queries(result.queries[size])}, {names[column]} ties all systems in {percent(share[size, column])} "
            "of the trials; tau counts as 0 there."
        )
    return findings


def _queries(count: float) -> str:
    return counted(round(count), "query", "queries")


def first_reaching(result: Stability) -> Floats:
    """Return the queries of the first size from which the mean remains at least :data:`ENOUGH`, (M,); NaN for none."""
    above = np.logical_and.accumulate((result.mean >= ENOUGH)[::-1], axis=0)[::-1]
    return np.where(above.any(axis=0), result.queries[above.argmax(axis=0)], np.nan)


def _table(result: Stability) -> Table:
    shown = np.unique(np.linspace(0, len(result.sizes) - 1, SHOWN_SIZES).round().astype(int))
    best = np.fmax.reduce(result.mean, axis=1)
    rows = tuple(
        (
            Cell(str(measure)),
            *(
                Cell(
                    number(result.mean[n, m], 3),
                    f"var {result.variance[n, m]:.3f}" if np.isfinite(result.mean[n, m]) else "",
                    marked=bool(result.mean[n, m] >= best[n] - ROUNDING),
                )
                for n in shown
            ),
        )
        for m, measure in enumerate(result.measures)
    )
    headings = ("measure", *(_queries(result.queries[n]) for n in shown))
    return Table("Self-agreement: mean and variance of tau over the trials", headings, (("", rows),))


def _figure(result: Stability, table: Floats, label: str, limits: tuple[float | None, float | None]) -> Figure:
    ends = (result.queries[0], result.queries[len(result.queries) // 2], result.queries[-1])
    return lines_figure(
        result.measures,
        result.queries,
        table,
        x_label="queries in a subset",
        y_label=label,
        x_log=len(result.sizes) > 1,
        x_ticks=[round(float(end)) for end in ends],
        y_limits=limits,
    )


def document(result: Stability) -> dict[str, Any]:
    """Return the JSON document."""
    return {
        "unit": result.unit,
        "subsets": "overlapping" if result.overlapping else "disjoint",
        "trials": result.trials,
        "n_systems": result.n_systems,
        "sizes": result.sizes,
        "queries": result.queries,
        "measures": [
            {
                "measure": str(measure),
                "mean_tau": result.mean[:, m],
                "variance": result.variance[:, m],
                "undefined_share": result.undefined[:, m],
                **({"why": why_undefined(measure)} if np.isnan(result.mean[:, m]).any() else {}),
            }
            for m, measure in enumerate(result.measures)
        ],
    }


def _notes(result: Stability) -> list[str]:
    unit = (
        "Queries were drawn one by one. Queries of one video are alike, so a new test set varies more than this."
        if result.unit == "query"
        else "Whole videos were drawn; the number of queries is that of an average subset."
    )
    shared = "The subsets may share queries, so tau rises to 1 with their size by construction."
    return [
        f"Kendall's tau-b between the rankings of {result.n_systems} systems on two subsets (AxIoU paper, section "
        "6.3). Where all systems tie on a subset, tau counts as 0.",
        unit,
        *([shared] if result.overlapping else []),
    ]
