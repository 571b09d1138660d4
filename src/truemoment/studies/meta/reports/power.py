"""The report on discriminative power: which differences can be shown with how many queries."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.base.boundary.documents import Measured
from truemoment.base.intervals import Bools
from truemoment.evaluation.measures import why_undefined
from truemoment.report.model import Cell, Drawing, Finding, Paragraph, Section, Table
from truemoment.report.words import UNDEFINED, counted, low_to_high, number, percent
from truemoment.studies.meta.power import DIFFERENCES, FEWEST_UNITS, Power
from truemoment.studies.meta.rankings import pairs_of
from truemoment.studies.meta.reports.looks import lines_figure, named
from truemoment.studies.meta.reports.spans import span

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PLANNED = (0.02, "2 points")
"""The difference for which a sentence gives the number of queries."""

_USUAL = "R@1,IoU=0.5"
"""The measure of that sentence if it was computed, else the first one."""

_MOST_TICKS = 7


def section(result: Power) -> Section:
    """Return the section of the study."""
    return Section(
        "power",
        "Which differences can be shown with how many queries?",
        (
            Finding(tuple(sentences(result))),
            Drawing(
                "power-separated",
                "Pairs of systems separated, by the number of queries",
                f"Share of the {counted(len(result.p_holm), 'pair')} of systems whose difference is significant (level "
                f"{result.level:g}, Holm's correction), mean over {result.repetitions} random subsets of each size; on "
                "the right the whole split.",
                partial(_figure, result),
            ),
            _separated(result),
            _planning(result),
            *map(Paragraph, _notes(result)),
        ),
        "Power",
    )


# ---------------------------------------------------------------------------------------------- words


def sentences(result: Power) -> list[str]:
    """Return the number of separated pairs of systems, the agreement of measures on them, and the planned queries."""
    share = result.separated[-1]
    if not np.isfinite(share).any():
        return ["No measure is defined on these queries."]
    n_pairs = len(result.p_holm)
    separated = span(result.systems.measures, share * n_pairs, partial(number, decimals=0))
    return [
        f"On all {result.queries[-1]:,.0f} queries ({result.units[-1]:,.0f} {_units(result)}), measures separate "
        f"{separated} of {counted(n_pairs, 'pair')} of systems (paired tests at level {result.level:g}, Holm's "
        "correction).",
        *_joint_findings(result),
        *_price(result),
    ]


def _joint_findings(result: Power) -> list[str]:
    """Return the number of pairs that all measures separate in one direction, and of those on which they contradict."""
    defined = np.isfinite(result.p_holm).any(axis=0)
    if defined.sum() < 2 or len(result.p_holm) < 2:
        return []
    is_separated: Bools = np.asarray(result.p_holm[:, defined] <= result.level)  # never of NaN
    sign = np.sign(result.whole.difference[:, defined]) * is_separated
    opposed: Bools = np.asarray((sign > 0).any(axis=1) & (sign < 0).any(axis=1))
    by_all, by_none = is_separated.all(axis=1) & ~opposed, ~is_separated.any(axis=1)
    findings = [
        f"All measures separate {by_all.sum():,} of {counted(len(opposed), 'pair')} in the same direction; no measure "
        f"separates {by_none.sum():,}."
    ]
    if opposed.any():
        a, b = (
            named(result.systems.names[numbers[np.flatnonzero(opposed)[0]]])
            for numbers in pairs_of(len(result.systems))
        )
        findings.append(
            f"Different measures separate {counted(int(opposed.sum()), 'pair')} in opposite directions, e.g. {a} and "
            f"{b}: there, the measure decides which system is better."
        )
    return findings


def _price(result: Power) -> list[str]:
    """Return the number of queries for one true difference."""
    planned = result.planned((_PLANNED[0],))[0]
    names = [str(measure) for measure in result.systems.measures]
    priced = [at for at in range(len(names)) if np.isfinite(planned[at]).all()]
    if not priced:
        return []
    at = next((at for at in priced if names[at] == _USUAL), priced[0])
    typical, hard = map(rounded_up, planned[at].tolist())
    return [
        f"A test set needs about {typical} queries to show a true difference of {_PLANNED[1]} in {names[at]} for a "
        f"typical pair of systems, and {hard} for a hard one (power {percent(result.power)}, level {result.level:g}"
        f"{_comparisons(result)})."
    ]


def _comparisons(result: Power) -> str:
    return "" if result.comparisons == 1 else f", corrected for {result.comparisons} comparisons"


def _units(result: Power) -> str:
    return "videos" if result.unit == "video" else "single queries"


def _notes(result: Power) -> list[str]:
    if result.unit == "video":
        clustering = result.clustering[np.isfinite(result.clustering)]
        factor = number(float(np.median(clustering))) if len(clustering) else "1"
        unit = (
            "The test treats videos as independent. Planned numbers are for test sets with "
            f"{len(result.systems.first) / result.units[-1]:.1f} queries per video, as here; similar queries of a "
            f"video multiply them by {factor} (median over measures)."
        )
    else:
        unit = (
            "The test treats queries as independent, although queries of one video are alike: p-values are too small."
        )
    return [
        f"{unit} Below {FEWEST_UNITS} {_units(result)} ({rounded_up(result.least_queries)} queries here) no test is "
        "made.",
        "Observed differences are larger than the true ones on average, so pairs rather need more queries than stated.",
        "Points of two measures are not comparable: compare measures by the queries that the same pairs need. Typical "
        "and hard: median and 90 % quantile over the pairs of the standard deviation of their difference.",
    ]


def rounded_up(queries: float) -> str:
    """Return a number of queries, rounded up to three digits.

    Examples
    --------
    >>> rounded_up(8401.2), rounded_up(17.2), rounded_up(0.2)
    ('8,410', '18', '1')
    """
    if not math.isfinite(queries):
        return UNDEFINED if math.isnan(queries) else "∞"
    step = 10 ** max(math.floor(math.log10(max(queries, 1))) - 2, 0)
    return f"{max(math.ceil(queries / step - 1e-9), 1) * step:,}"


# --------------------------------------------------------------------------------------------- tables


def _separated(result: Power) -> Table:
    needed = result.needed_median
    last = len(result.sizes) - 1
    rows = []
    for at, measure in enumerate(result.systems.measures):
        shares = [
            Cell(
                number(100 * result.separated[row, at], 0),
                low_to_high(result.separated_interval[row, at], 0, times=100) if row < last else "",
            )
            for row in range(len(result.sizes))
        ]
        is_defined = np.isfinite(result.separated[-1, at])
        rows.append((Cell(str(measure)), *shares, Cell(rounded_up(float(needed[at])) if is_defined else UNDEFINED)))
    return Table(
        f"Share of the {counted(len(result.p_holm), 'pair')} of systems that are separated, in percent, by the number "
        "of queries (with the range of 95 % of the subsets), and the number of queries that half of the pairs need at "
        "most.",
        ("measure", *(f"{queries:,.0f}" for queries in result.queries), "median pair needs"),
        (("", tuple(rows)),),
    )


def _planning(result: Power) -> Table:
    planned = result.planned()
    rows = tuple(
        (
            Cell(str(measure)),
            *(Cell(rounded_up(typical), rounded_up(hard)) for typical, hard in planned[:, at].tolist()),
        )
        for at, measure in enumerate(result.systems.measures)
    )
    return Table(
        "Planning: queries that show a true difference, first for a typical pair of systems, then for a hard one, "
        f"with power {percent(result.power)} at level {result.level:g}{_comparisons(result)}.",
        ("measure", *(f"{100 * difference:g} point{'' if difference == 0.01 else 's'}" for difference in DIFFERENCES)),
        (("", rows),),
    )


# ------------------------------------------------------------------------------------------- document


def document(result: Power) -> dict[str, Any]:
    """Return the JSON document."""
    names = result.systems.names
    a, b = pairs_of(len(names))
    return {
        "systems": names,
        "unit": result.unit,
        "repetitions": result.repetitions,
        "level": result.level,
        "comparisons": result.comparisons,
        "power": result.power,
        "sizes": [
            {"asked": size, "n_queries": queries, "n_units": units}
            for size, queries, units in zip(result.sizes, result.queries, result.units, strict=True)
        ],
        "pairs": [[names[first], names[second]] for first, second in zip(a, b, strict=True)],
        "measures": [_entry(result, at) for at in range(len(result.systems.measures))],
    }


def _entry(result: Power, at: int) -> dict[str, Any]:
    """Return the results by one measure: by size of the subset, by pair of systems, and the planning."""
    measure = result.systems.measures[at]
    why = why_undefined(measure)
    is_defined = bool(np.isfinite(result.separated[-1, at]))
    median = float(result.needed_median[at]) if is_defined else math.nan
    by_pair = {
        "better_by": result.whole.difference[:, at],
        "p": result.whole.p[:, at],
        "p_holm": result.p_holm[:, at],
        "sigma_per_query": result.sigma[:, at],
        "needed": result.needed[:, at],
    }
    known = np.isfinite(by_pair["better_by"])
    reasons = [] if known.all() else [f"for some system {why}" if known.any() else why]
    if np.isinf(by_pair["needed"]).any():
        reasons.append("needed: no difference was seen")
    return {
        "measure": str(measure),
        "unit": "fraction",
        "separated": [
            {
                "n_queries": result.queries[row],
                "value": result.separated[row, at],
                "interval95": result.separated_interval[row, at],
                "wrong_way": result.wrong_way[row, at],
                **({} if is_defined else {"why": why}),
            }
            for row in range(len(result.sizes))
        ],
        "needed_median": Measured(median, why if math.isnan(median) else "no difference was seen", unit="queries"),
        "clustering": result.clustering[at],
        **by_pair,
        **({"why": "; ".join(reasons)} if reasons else {}),
        "planning": [
            {"difference": difference, "typical": typical, "hard": hard, "unit": "queries"}
            | ({"why": "no two of the systems differ"} if math.isnan(typical) else {})
            for difference, (typical, hard) in zip(DIFFERENCES, result.planned()[:, at].tolist(), strict=True)
        ],
    }


# -------------------------------------------------------------------------------------------- figures


def _figure(result: Power) -> Figure:
    places = result.queries.tolist()
    step = -(-len(places) // _MOST_TICKS)  # every step-th size has a label, counted from the largest
    return lines_figure(
        result.systems.measures,
        result.queries,
        100 * result.separated,
        x_label="queries",
        y_label="% separated",
        x_log=True,
        x_ticks=[float(round(place)) for place in places[::-1][::step][::-1]],
        y_limits=(0, 104),
    )
