"""The chapter on discriminative power: which differences can be shown with how many queries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.intervals import Floats
from truemoment.measures import why_undefined
from truemoment.metaevaluation.power import DIFFERENCES, FEWEST_UNITS, Power
from truemoment.metaevaluation.rankings import pairs_of
from truemoment.reports.metaevaluation.chapter import Chapter
from truemoment.reports.metaevaluation.parts import lines_figure
from truemoment.reports.model import Cell, Drawing, Table
from truemoment.reports.text import counted, few, low_to_high, number, percent
from truemoment.uncertainty import ROUNDING

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
        f"Share of the {counted(n_pairs, 'pair')} of systems whose difference is significant (level {power.level:g}, "
        f"corrected by Holm's method), mean over {power.repetitions} random subsets of each size; on the right the "
        "whole split.",
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
    defined = [int(at) for at in np.flatnonzero(np.isfinite(power.separated[-1]))]
    if not defined:
        return ["No measure is defined on these queries."]
    said = [
        _on_all(power, names, defined),
        *_on_fewer(power, names, defined),
        *_needed(power, names),
        *_price(power, names),
        *_wrong_way(power, names),
    ]
    if nowhere := [name for at, name in enumerate(names) if at not in defined]:
        said.append(f"{few(nowhere)} {'is' if len(nowhere) == 1 else 'are'} undefined on these queries.")
    return said


def _on_all(power: Power, names: Sequence[str], defined: Sequence[int]) -> str:
    """Which measures separate most and fewest pairs on the whole split."""
    n_pairs = len(power.p_holm)
    found = {at: round(float(power.separated[-1, at]) * n_pairs) for at in defined}
    most, fewest = max(found.values()), min(found.values())
    split = f"On all {_queries_and_units(power)}"
    how = f"(paired tests at level {power.level:g}, corrected over the pairs)"
    if most == fewest:
        is_one = len(defined) == 1
        if most == 0:
            who = f"{names[defined[0]]} does not separate" if is_one else "no measure separates"
            whom = "the one pair" if n_pairs == 1 else f"any of {n_pairs:,} pairs"
        else:
            who = f"{names[defined[0]] if is_one else 'every measure'} separates"
            whom = "the one pair" if n_pairs == 1 else f"{most:,} of {n_pairs:,} pairs"
        return f"{split} {who} {whom} of systems {how}."
    first, last = ([names[at] for at in defined if found[at] == of] for of in (most, fewest))
    if n_pairs == 1:
        verb = "separates" if len(first) == 1 else "separate"
        does = "does" if len(last) == 1 else "do"
        return f"{split} {few(first)} {verb} the one pair of systems; {few(last)} {does} not {how}."
    return (
        f"{split} {_each(first)} separates {most:,} of {n_pairs:,} pairs of systems, the most; {_each(last)} "
        f"{fewest:,}, the fewest {how}."
    )


def _each(names: Sequence[str]) -> str:
    return f"each of {few(names)}" if len(names) > 1 else names[0]


def _on_fewer(power: Power, names: Sequence[str], defined: Sequence[int]) -> list[str]:
    """Say how measures compare on the subsets whose size tells them apart most."""
    if len(power.sizes) < 2 or len(defined) < 2:
        return []
    separated = power.separated[:-1, defined]
    row = int(np.ptp(separated, axis=1).argmax())
    if np.ptp(separated[row]) <= ROUNDING:
        return []
    best, worst = (defined[int(at)] for at in (separated[row].argmax(), separated[row].argmin()))

    def share(at: int) -> str:
        ends = low_to_high(power.separated_interval[row, at], 0, times=100)
        return f"{percent(power.separated[row, at])} of the pairs ({ends} % from subset to subset)"

    return [
        f"On {power.queries[row]:,.0f} queries {names[best]} separates {share(best)}, {names[worst]} {share(worst)}."
    ]


def _needed(power: Power, names: Sequence[str]) -> list[str]:
    """Say what the same pairs cost by different measures."""
    needed = power.needed_median
    order = [int(at) for at in np.argsort(needed, kind="stable") if math.isfinite(needed[at])]
    if len(order) < 2 or needed[order[0]] <= 0:
        return []
    best, worst = order[0], order[-1]
    if rounded_up(needed[best]) == rounded_up(needed[worst]):
        return []
    n_pairs = len(power.p_holm)
    whose = "The one pair needs" if n_pairs == 1 else "Half of these pairs need no more than"
    seen = (
        "if the true difference is that"
        if n_pairs == 1
        else f"each as {_as_one_of(n_pairs)}, if their true differences are those"
    )
    return [
        f"{whose} {rounded_up(needed[best])} queries by {names[best]}, the fewest, and {rounded_up(needed[worst])} by "
        f"{names[worst]}, {needed[worst] / needed[best]:.1f} times as many, {seen} seen here."
    ]


def _as_one_of(comparisons: int) -> str:
    return "one comparison" if comparisons == 1 else f"one of {comparisons:,} comparisons"


def _price(power: Power, names: Sequence[str]) -> list[str]:
    """Say what one true difference costs in the measures that the field reports most."""
    planned = power.planned((_TOLD[0],))[0]
    priced = [at for at in range(len(names)) if np.isfinite(planned[at]).all()]
    if not priced:
        return []
    at = names.index("R@1,IoU=0.5") if "R@1,IoU=0.5" in names and names.index("R@1,IoU=0.5") in priced else priced[0]
    comparisons = "one comparison" if power.comparisons == 1 else f"{power.comparisons} comparisons"
    typical, hard = planned[at].tolist()
    whom = f"for a typical pair of systems and {rounded_up(hard)} for a hard one"
    if len(power.p_holm) == 1:
        whom = "for two systems like these"
    return [
        f"To show a true difference of {_TOLD[1]} of {names[at]} takes about {rounded_up(typical)} queries {whom} "
        f"({percent(power.power)} of such test sets find it, at level {power.level:g} for {comparisons})."
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
        f"({rounded_up(power.least_queries)} queries here): the test is not made with fewer.",
        "Differences that were seen are larger than the true ones on average, most where few pairs are separated; so "
        "the queries that pairs need are rather more than told. Subsets are part of the split that they are held "
        "against: how far they vary shrinks to nothing as they grow.",
        "A point of one measure is not a point of another: compare measures by the queries that the same pairs need, "
        "not along a column of the planning table.",
        "Typical and hard: the median and the 90 % quantile over the pairs of the standard deviation of their "
        "difference. Systems that answer more alike than these need fewer queries.",
    ]


def _queries_and_units(power: Power) -> str:
    units = f"{power.units[-1]:,.0f} {_units(power)}"
    return f"{power.queries[-1]:,.0f} queries ({units})"


def _units(power: Power) -> str:
    return "videos" if power.unit == "video" else "single queries"


def rounded_up(queries: float) -> str:
    """Write a number of queries, rounded up to three digits: more would say more than is known.

    Examples
    --------
    >>> rounded_up(8401.2), rounded_up(17.2), rounded_up(0.2)
    ('8,410', '18', '1')
    """
    if not math.isfinite(queries):
        return "-" if math.isnan(queries) else "∞"
    step = 10 ** max(math.floor(math.log10(max(queries, 1))) - 2, 0)
    return f"{max(math.ceil(queries / step - 1e-9), 1) * step:,}"


# --------------------------------------------------------------------------------------------- tables


def _separated(power: Power) -> Table:
    needed = power.needed_median
    rows = []
    for at, measure in enumerate(power.systems.measures):
        shares = [
            Cell(
                number(100 * power.separated[row, at], 0),
                low_to_high(power.separated_interval[row, at], 0, times=100) if row < len(power.sizes) - 1 else "",
            )
            for row in range(len(power.sizes))
        ]
        is_defined = bool(np.isfinite(power.separated[-1, at]))
        rows.append((Cell(str(measure)), *shares, Cell(rounded_up(float(needed[at])) if is_defined else "-")))
    n_pairs = len(power.p_holm)
    return Table(
        caption=f"Share of the {counted(n_pairs, 'pair')} of systems separated on so many queries, in percent (with "
        "where 95 % of the subsets lie), and the queries that half of the pairs need or fewer, each as "
        f"{_as_one_of(n_pairs)}.",
        headings=("measure", *(f"{queries:,.0f}" for queries in power.queries), "median pair needs"),
        groups=(("", tuple(rows)),),
    )


def _planning(power: Power) -> Table:
    planned = power.planned()
    rows = [
        (
            Cell(str(measure)),
            *(Cell(rounded_up(typical), rounded_up(hard)) for typical, hard in planned[:, at].tolist()),
        )
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
        "pairs": [[names[first], names[second]] for first, second in zip(a, b, strict=True)],
        "measures": _entries(power),
    }


def _entries(power: Power) -> list[dict[str, Any]]:
    """An entry a measure: by size of the subset, by pair of systems (a column each), and the planning."""
    planned, needed, sigma, median = power.planned(), power.needed, power.sigma, power.needed_median
    entries = []
    for at, measure in enumerate(power.systems.measures):
        why = why_undefined(measure)
        is_defined = bool(np.isfinite(power.separated[-1, at]))
        by_pair = {
            "better_by": power.whole.difference[:, at],
            "p": power.whole.p[:, at],
            "p_holm": power.p_holm[:, at],
            "sigma_per_query": sigma[:, at],
            "needed": needed[:, at],
        }
        entries.append(
            {
                "measure": str(measure),
                "unit": "fraction",
                "separated": [
                    {
                        "n_queries": float(power.queries[row]),
                        "value": float(power.separated[row, at]),
                        "interval95": power.separated_interval[row, at].tolist(),
                        "wrong_way": float(power.wrong_way[row, at]),
                        **({} if is_defined else {"why": why}),
                    }
                    for row in range(len(power.sizes))
                ],
                "needed_median": _or_why(float(median[at]) if is_defined else math.nan, why),
                "clustering": float(power.clustering[at]),
                **{name: _column(values) for name, values in by_pair.items()},
                **_why_null(by_pair, why),
                "planning": [
                    {"difference": difference, "typical": float(typical), "hard": float(hard), "unit": "queries"}
                    | ({"why": "no two of the systems differ"} if math.isnan(typical) else {})
                    for difference, (typical, hard) in zip(DIFFERENCES, planned[:, at].tolist(), strict=True)
                ],
            }
        )
    return entries


def _column(values: Floats) -> list[float | None]:
    """Values of JSON; null where undefined or infinite."""
    return [value if math.isfinite(value) else None for value in values.tolist()]


def _why_null(by_pair: Mapping[str, Floats], undefined: str) -> dict[str, str]:
    """Say why some are null, if any is."""
    known = np.isfinite(by_pair["better_by"])
    reasons = [] if known.all() else [f"for some system {undefined}" if known.any() else undefined]
    if np.isinf(by_pair["needed"]).any():
        reasons.append("needed: no difference was seen")
    return {"why": "; ".join(reasons)} if reasons else {}


def _or_why(needed: float, undefined: str) -> dict[str, Any]:
    """A number of queries, or None and why."""
    if math.isfinite(needed):
        return {"value": needed, "unit": "queries"}
    return {"value": None, "unit": "queries", "why": undefined if math.isnan(needed) else "no difference was seen"}


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
