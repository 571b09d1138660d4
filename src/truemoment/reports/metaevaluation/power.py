"""The chapter on discriminative power: which differences can be shown with how many queries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.intervals import Floats
from truemoment.measures import why_undefined
from truemoment.metaevaluation.power import DIFFERENCES, FEWEST_UNITS, Power
from truemoment.metaevaluation.rankings import pairs_of
from truemoment.reports.drawing import Drawing
from truemoment.reports.metaevaluation.chapter import Chapter
from truemoment.reports.metaevaluation.parts import lines_figure
from truemoment.reports.template import Cell, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TOLD = (0.02, "2 points")
"""The difference that a sentence tells the price of."""

_MOST_TICKS = 7


def chapter(power: Power) -> Chapter:
    """Say how many pairs of systems each measure separates, and how many queries it takes.

    Parameters
    ----------
    power
        The study's result.

    Returns
    -------
    Chapter
    """
    n_pairs = len(power.p_holm)
    drawing = Drawing(
        "power-separated",
        "Pairs of systems told apart, by the number of queries",
        f"Share of the {n_pairs} pairs of systems whose difference is significant (level {power.level:g}, corrected by "
        f"Holm's method), mean over {power.repetitions} random subsets of each size; on the right the whole split.",
        lambda: _figure(power),
    )
    return Chapter(
        name="power",
        title="Which differences can be shown with how many queries?",
        said=tuple(_said(power)),
        tables=(_separated(power), _planning(power)),
        drawings=(drawing,),
        document=_document(power),
        notes=tuple(_notes(power)),
    )


# ---------------------------------------------------------------------------------------------- words


def _said(power: Power) -> list[str]:
    names = [str(measure) for measure in power.systems.measures]
    n_pairs = len(power.p_holm)
    found = np.rint(power.separated[-1] * n_pairs).astype(int)
    most, fewest = (_listed([names[at] for at in np.flatnonzero(found == of)]) for of in (found.max(), found.min()))
    split = f"On all {power.queries[-1]:,.0f} queries ({power.units[-1]:,.0f} {_units(power)})"
    how = f"(paired tests at level {power.level:g}, corrected over the pairs)"
    if found.max() == found.min():
        whom = "the one pair" if n_pairs == 1 else f"{found.max()} of {n_pairs} pairs"
        who = names[0] if len(names) == 1 else "every measure"
        verb = "does not separate" if n_pairs == 1 and found.max() == 0 else "separates"
        said = [f"{split} {who} {verb} {whom} of systems {how}."]
    else:
        said = [
            f"{split} {most} separates {found.max()} of {n_pairs} pairs of systems, the most; {fewest} {found.min()}, "
            f"the fewest {how}."
        ]
    return [*said, *_on_fewer(power, names), *_needed(power, names), *_price(power, names), *_wrong_way(power, names)]


def _on_fewer(power: Power, names: Sequence[str]) -> list[str]:
    """Say how measures compare on the subsets whose size tells them apart most."""
    if len(power.sizes) < 2 or len(names) < 2:
        return []
    row = int(np.ptp(power.separated[:-1], axis=1).argmax())
    best, worst = int(power.separated[row].argmax()), int(power.separated[row].argmin())

    def share(at: int) -> str:
        low, high = (100 * power.separated_interval[row, at]).tolist()
        return f"{100 * power.separated[row, at]:.0f} % of the pairs ({low:.0f} to {high:.0f} % from subset to subset)"

    return [
        f"On {power.queries[row]:,.0f} queries {names[best]} separates {share(best)}, {names[worst]} {share(worst)}."
    ]


def _needed(power: Power, names: Sequence[str]) -> list[str]:
    """Say what the same pairs cost by different measures."""
    needed = power.needed_median
    order = [at for at in np.argsort(needed, kind="stable") if math.isfinite(needed[at])]
    if len(order) < 2 or needed[order[0]] <= 0:
        return []
    best, worst = order[0], order[-1]
    return [
        f"Half of these pairs need no more than {_queries(needed[best])} queries by {names[best]}, the fewest, and "
        f"{_queries(needed[worst])} by {names[worst]}, {needed[worst] / needed[best]:.1f} times as many, each as one "
        f"of {len(power.p_holm)} comparisons, if their true differences are those seen here."
    ]


def _price(power: Power, names: Sequence[str]) -> list[str]:
    """Say what one true difference costs in the measures that the field reports most."""
    planned = power.planned((_TOLD[0],))[0]
    priced = [at for at in range(len(names)) if np.isfinite(planned[at]).all()]
    if not priced:
        return []
    at = names.index("R@1,IoU=0.5") if "R@1,IoU=0.5" in names and names.index("R@1,IoU=0.5") in priced else priced[0]
    comparisons = "one comparison" if power.comparisons == 1 else f"{power.comparisons} comparisons"
    typical, hard = planned[at].tolist()
    return [
        f"To show a true difference of {_TOLD[1]} of {names[at]} takes about {_queries(typical)} queries for a typical "
        f"pair of systems and {_queries(hard)} for a hard one ({100 * power.power:.0f} % of such test sets find it, at "
        f"level {power.level:g} for {comparisons})."
    ]


def _wrong_way(power: Power, names: Sequence[str]) -> list[str]:
    share = power.wrong_way[:-1]
    if share.size == 0:
        return []
    if not share.any():
        return ["No subset separated a pair the other way round than the whole split, of which it is part, ranks it."]
    row, at = divmod(int(share.argmax()), len(names))
    return [
        "Some pairs are separated the other way round than the whole split ranks them: at worst "
        f"{100 * share[row, at]:.1f} % of the pairs, by {names[at]} on {power.queries[row]:,.0f} queries."
    ]


def _notes(power: Power) -> list[str]:
    clustering = power.clustering[np.isfinite(power.clustering)]
    if power.unit == "video":
        each = len(power.systems.first) / power.units[-1]
        notes = [
            "The test takes videos as independent, with all of their queries: the normal approximation to swapping the "
            "two systems' answers by video. Subsets are of whole videos.",
            f"Planned numbers hold for test sets with {each:.1f} queries a video, as here"
            + (
                f"; the queries of a video being alike multiplies them by {np.median(clustering):.2f} (median over "
                "measures)."
                if len(clustering)
                else "."
            ),
        ]
    else:
        notes = [
            "The test takes single queries as independent, which those of one video are not: real differences between "
            "test sets of other videos are larger than it knows."
        ]
    return [
        *notes,
        f"No number of queries is told that has fewer than {FEWEST_UNITS} {_units(power)} "
        f"({_queries(power.least_queries)} queries here): the test is not made with fewer.",
        "Differences that were seen are larger than the true ones on average, most where few pairs are separated; so "
        "the queries that pairs need are rather more than told. Subsets are part of the split that they are held "
        "against: how far they vary shrinks to nothing as they grow.",
        "A point of one measure is not a point of another: compare measures by the queries that the same pairs need, "
        "not along a column of the planning table.",
        "Typical and hard: the median and the 90 % quantile over the pairs of the standard deviation of their "
        "difference. Systems that answer more alike than these need fewer queries.",
    ]


def _units(power: Power) -> str:
    return "videos" if power.unit == "video" else "single queries"


def _listed(names: Sequence[str]) -> str:
    """Name some measures: the first three, and how many more."""
    if len(names) > 4:
        return f"each of {', '.join(names[:3])} and {len(names) - 3} more"
    return f"each of {', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _queries(number: float) -> str:
    """Write a number of queries, rounded up to three digits: more would say more than is known.

    Examples
    --------
    >>> _queries(8401.2), _queries(17.2), _queries(0.2)
    ('8,410', '18', '1')
    """
    if not math.isfinite(number):
        return "-" if math.isnan(number) else "∞"
    step = 10 ** max(math.floor(math.log10(max(number, 1))) - 2, 0)
    return f"{max(math.ceil(number / step - 1e-9), 1) * step:,}"


# --------------------------------------------------------------------------------------------- tables


def _separated(power: Power) -> Table:
    needed = power.needed_median
    rows = []
    for at, measure in enumerate(power.systems.measures):
        shares = [
            Cell(f"{100 * power.separated[row, at]:.0f}", _range(power.separated_interval[row, at]))
            for row in range(len(power.sizes) - 1)
        ]
        whole = Cell(f"{100 * power.separated[-1, at]:.0f}")
        rows.append((Cell(str(measure)), *shares, whole, Cell(_queries(float(needed[at])))))
    return Table(
        caption=f"Share of the {len(power.p_holm)} pairs of systems that are separated on so many queries, in percent "
        "(with where 95 % of the subsets lie), and the queries that half of the pairs need or fewer, each as one of "
        f"{len(power.p_holm)} comparisons.",
        headings=("measure", *(f"{queries:,.0f}" for queries in power.queries), "median pair needs"),
        groups=(("", tuple(rows)),),
    )


def _range(interval: Floats) -> str:
    low, high = (100 * interval).tolist()
    return f"{low:.0f}-{high:.0f}"


def _planning(power: Power) -> Table:
    planned = power.planned()
    rows = [
        (Cell(str(measure)), *(Cell(_queries(typical), _queries(hard)) for typical, hard in planned[:, at].tolist()))
        for at, measure in enumerate(power.systems.measures)
    ]
    comparisons = "" if power.comparisons == 1 else f" for {power.comparisons} comparisons"
    return Table(
        caption="Planning: queries that show a true difference of so many points of the measure, for a typical pair of "
        f"systems (in brackets for a hard one), with power {100 * power.power:.0f} % at level {power.level:g}"
        f"{comparisons}.",
        headings=("measure", *(f"{100 * of:g} point{'' if of == 0.01 else 's'}" for of in DIFFERENCES)),
        groups=(("", tuple(rows)),),
    )


# ------------------------------------------------------------------------------------------- document


def _document(power: Power) -> dict[str, Any]:
    names = power.systems.names
    a, b = pairs_of(len(names))
    planned, needed = power.planned(), power.needed
    entries = []
    for at, measure in enumerate(power.systems.measures):
        why = {"why": why_undefined(measure)} if np.isnan(power.p_holm[:, at]).any() else {}
        entries.append(
            {
                "measure": str(measure),
                "separated": [
                    {
                        "n_queries": float(power.queries[row]),
                        "value": float(power.separated[row, at]),
                        "unit": "fraction",
                        "interval95": power.separated_interval[row, at].tolist(),
                        "wrong_way": float(power.wrong_way[row, at]),
                    }
                    for row in range(len(power.sizes))
                ],
                "needed_median": _or_why(float(power.needed_median[at])),
                "clustering": float(power.clustering[at]),
                "pairs": [
                    {
                        "systems": [names[a[pair]], names[b[pair]]],
                        "better_by": float(power.whole.difference[pair, at]),
                        "unit": "fraction",
                        "p": float(power.whole.p[pair, at]),
                        "p_holm": float(power.p_holm[pair, at]),
                        "sigma_per_query": float(power.sigma[pair, at]),
                        "needed": _or_why(float(needed[pair, at])),
                        **why,
                    }
                    for pair in range(len(a))
                ],
                "planning": [
                    {"difference": difference, "typical": float(typical), "hard": float(hard), "unit": "queries"}
                    | ({"why": "no two of the systems differ"} if math.isnan(typical) else {})
                    for difference, (typical, hard) in zip(DIFFERENCES, planned[:, at].tolist(), strict=True)
                ],
            }
        )
    return {
        "systems": list(names),
        "unit": power.unit,
        "repetitions": power.repetitions,
        "level": power.level,
        "comparisons": power.comparisons,
        "power": power.power,
        "sizes": [
            {"asked": int(size), "n_queries": float(queries), "n_units": float(units)}
            for size, queries, units in zip(power.sizes, power.queries, power.units, strict=True)
        ],
        "measures": entries,
    }


def _or_why(needed: float) -> dict[str, Any]:
    """A number of queries, or None and why."""
    if math.isfinite(needed):
        return {"value": needed, "unit": "queries"}
    return {"value": None, "unit": "queries", "why": "undefined" if math.isnan(needed) else "no difference was seen"}


# -------------------------------------------------------------------------------------------- figures


def _figure(power: Power) -> Figure:
    return lines_figure(
        power.systems.measures,
        power.queries,
        100 * power.separated,
        x_label="queries",
        y_label="% separated",
        x_log=True,
        x_ticks=_ticks(power.queries.tolist()),
        y_limits=(0, 104),
    )


def _ticks(places: Sequence[float]) -> list[float]:
    """Sizes that are labelled: every so many, counted from the largest."""
    step = -(-len(places) // _MOST_TICKS)
    return [float(round(place)) for place in places[::-1][::step][::-1]]
