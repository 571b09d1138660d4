"""The chapter of agreement: the systems by every measure, and how far the measures rank them alike.

======================  ===============================================================================
``agreement-systems``   figures of the systems by every measure (AxIoU, Fig. 5), with intervals
``agreement-tau``       tau-b between the rankings by each pair of measures (AxIoU, Fig. 4)
``agreement-mean``      each measure's mean tau with the others, with interval and range
======================  ===============================================================================
"""

from __future__ import annotations

import math
from collections import Counter
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.intervals import Floats, Ints
from truemoment.measures import why_undefined
from truemoment.metaevaluation.agreement import Agreement
from truemoment.metaevaluation.systems import Systems
from truemoment.reports.drawing import GRID, INK, SMALL, SOFT, new_figure, shortened
from truemoment.reports.metaevaluation.chapter import Chapter
from truemoment.reports.metaevaluation.parts import (
    group_breaks,
    heat_map,
    legend_of,
    measure_looks,
    named,
    panels_of,
    short_label,
    short_number,
)
from truemoment.reports.model import Cell, Drawing, Table
from truemoment.reports.text import counted, few, listed, low_to_high, number, percent
from truemoment.text import one_line
from truemoment.uncertainty import ROUNDING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SORTED_BY = "R@5,IoU=0.5"
"""By which the systems are sorted where it is among the measures, as in AxIoU, Fig. 5."""

CONFLICT = 0.5
"""Two measures conflict if their tau, and its whole interval, lie below this: more than one of four pairs turned."""

TOO_EASY = 0.95
"""A measure by which half of the systems lie above this is too easy to tell them apart."""

N_SHOWN = 40
"""Systems that a figure or a table shows; of more, as many evenly along their order."""

N_CONFLICTS = 10
_NAME_WIDTH = 22

WHY_NO_TAU = "a measure ties all systems"
WHY_UNDEFINED = "a measure is undefined for all systems"
WHY_NO_INTERVAL = "in some resamples a measure ties all systems"


def chapter(result: Agreement) -> Chapter:
    """Say how the systems fare, and which measures agree on it.

    Parameters
    ----------
    result
        Figures, tau of each pair of measures, intervals.
    """
    systems = result.systems
    tables = [systems_table(result)]
    drawings = [
        Drawing(
            "agreement-systems",
            "The systems by every measure",
            f"A row a system, {_sorted_words(systems)}; the further right, the better. Lines through the marks: 95 % "
            "intervals. Where lines of different measures cross from row to row, they rank systems differently. After "
            f"AxIoU, Fig. 5.{_left_out(systems)}",
            partial(systems_figure, result),
        )
    ]
    if len(systems.measures) > 1:
        tables += [agreement_table(result), tau_table(result)]
        if conflicts := conflicts_of(result):
            tables.append(_conflicts_table(result, conflicts))
        drawings.append(
            Drawing(
                "agreement-tau",
                "How far each two measures rank the systems alike",
                "Kendall's tau-b: 1 for equal rankings, 0 for unrelated, below 0 (marked) for rather reversed ones. "
                "After AxIoU, Fig. 4.",
                partial(tau_figure, result),
            )
        )
    if np.isfinite(result.mean).any():
        drawings.append(
            Drawing(
                "agreement-mean",
                "How well each measure agrees with all others",
                "Mean tau with the others (mark), where it lies in 95 % of the resamples (thick line), and the lowest "
                "and highest tau with any of them (thin line).",
                partial(mean_figure, result),
            )
        )
    return Chapter(
        name="agreement",
        title="Do the measures rank systems alike?",
        said=tuple(said(result)),
        tables=tuple(tables),
        drawings=tuple(drawings),
        document=document(result),
        notes=tuple(notes(result)),
    )


# ---------------------------------------------------------------------------------------------- words


def said(result: Agreement) -> list[str]:
    """Say what was found, the finding first."""
    others = (_of_families(result), _of_best_system(result.systems), _of_saturation(result.systems))
    return [*said_of_measures(result), *(sentence for sentence in others if sentence)]


def said_of_measures(result: Agreement) -> list[str]:
    """Say which measures agree: the best with all others, the deepest AxIoU, and those in conflict."""
    pairs = _defined_pairs(result)
    if len(pairs) == 1:
        return [_of_one_pair(result, pairs[0])]
    return [sentence for sentence in (_best_measure(result), _of_axiou(result), _of_conflicts(result)) if sentence]


def _defined_pairs(result: Agreement) -> list[tuple[int, int]]:
    """Pairs of measures that have a tau."""
    return [pair for pair in combinations(range(len(result.tau)), 2) if math.isfinite(result.tau[pair])]


def _of_one_pair(result: Agreement, pair: tuple[int, int]) -> str:
    """Where two measures alone can be compared."""
    a, b = (str(result.systems.measures[at]) for at in pair)
    found = (
        "they conflict: tau and its whole interval lie below 0.5"
        if conflicts_of(result)
        else "no conflict is shown, which takes tau and its whole interval below 0.5"
    )
    return f"Tau between {a} and {b} is {number(result.tau[pair], 2)}{_between(result.interval[pair])}; {found}."


def _best_measure(result: Agreement) -> str:
    """Which measure agrees best with all others, and how sure that is."""
    mean = result.mean
    if not np.isfinite(mean).any():
        return "" if len(mean) < 2 else "No two measures can be compared: no more than one tells any systems apart."
    order = np.argsort(-np.where(np.isnan(mean), -np.inf, mean), kind="stable")
    best, names = int(order[0]), [str(measure) for measure in result.systems.measures]
    alike = [names[at] for at in order if mean[at] >= mean[best] - ROUNDING]
    last = int(order[np.isfinite(mean).sum() - 1])
    if len(alike) > 1:
        behind = f"; {names[last]} comes last ({number(mean[last], 2)})" if names[last] not in alike else ""
        return (
            f"{few(alike)} agree best with all others, equally: mean tau {number(mean[best], 2)}{_ci(result, best)}"
            f"{behind}."
        )
    low, high = _lowest_and_highest(result, best)
    second = int(order[1])
    behind = f", {names[last]} last ({number(mean[last], 2)})" if last != second else ""
    return (
        f"{names[best]} agrees best with all others: mean tau {number(mean[best], 2)}{_ci(result, best)}, from "
        f"{_with(result, best, low)} to {_with(result, best, high)}; its mean is the highest in "
        f"{percent(result.highest[best])} of the resamples. {names[second]} comes next ({number(mean[second], 2)})"
        f"{behind}."
    )


def _lowest_and_highest(result: Agreement, measure: int) -> tuple[int, int]:
    """Measures with which one agrees least and most."""
    others = _others(result, measure)
    taus = result.tau[measure, others]
    return int(others[np.argmin(taus)]), int(others[np.argmax(taus)])


def _ci(result: Agreement, measure: int) -> str:
    ends = low_to_high(result.mean_interval[measure], 2)
    return f" ({ends} in 95 % of the resamples)" if ends else ""


def _with(result: Agreement, measure: int, other: int) -> str:
    return f"{number(result.tau[measure, other], 2)} with {result.systems.measures[other]}"


def _others(result: Agreement, measure: int) -> Ints:
    """Measures with which one has a tau."""
    defined = np.flatnonzero(~np.isnan(result.tau[measure]))
    return np.asarray(defined[defined != measure])


def _of_axiou(result: Agreement) -> str:
    """What the deepest AxIoU agrees to, if it is not the best, which has a sentence already."""
    looks = measure_looks(result.systems.measures)
    deep = [at for at, look in enumerate(looks) if look.family == "AxIoU" and look.rank is not None]
    if not deep or not np.isfinite(result.mean).any():
        return ""
    at = max(deep, key=lambda one: looks[one].rank or 0)
    if result.mean[at] >= np.nanmax(result.mean) - ROUNDING or len(_others(result, at)) < 2:
        return ""
    low, high = _lowest_and_highest(result, at)
    name = str(result.systems.measures[at])
    return (
        f"{name} agrees with the others by {number(result.mean[at], 2)} on average{_ci(result, at)}, from "
        f"{_with(result, at, low)} to {_with(result, at, high)}."
    )


def conflicts_of(result: Agreement) -> list[tuple[int, int]]:
    """Pairs of measures whose tau, and its whole interval, lie below :data:`CONFLICT`; the lowest tau first."""
    pairs = [
        (a, b)
        for a, b in combinations(range(len(result.systems.measures)), 2)
        if result.tau[a, b] < CONFLICT and result.interval[a, b, 1] < CONFLICT  # never of NaN
    ]
    return sorted(pairs, key=lambda pair: float(result.tau[pair]))


def _of_conflicts(result: Agreement) -> str:
    measures = result.systems.measures
    defined = _defined_pairs(result)
    if not defined:
        return ""
    conflicts = conflicts_of(result)
    a, b = conflicts[0] if conflicts else min(defined, key=lambda pair: float(result.tau[pair]))
    lowest = f"{measures[a]} and {measures[b]} (tau {number(result.tau[a, b], 2)}{_between(result.interval[a, b])})"
    count = counted(len(defined), "pair of measures", "pairs of measures")
    if not conflicts:
        return f"None of the {count} conflicts beyond doubt (tau and its interval below 0.5); the lowest are {lowest}."
    if len(conflicts) == 1:
        return f"1 of {count} conflicts (tau and its whole interval below 0.5): {lowest}."
    counts = Counter(at for pair in conflicts for at in pair)
    often = [str(measures[at]) for at, times in counts.most_common(3) if times > 1]
    found = f"{len(conflicts):,} of {count} conflict (tau and its whole interval below 0.5), most of all {lowest}"
    named = often and len(conflicts) > 2
    return f"{found}; most often {listed(often, 'or')} is one of them." if named else f"{found}."


def _of_families(result: Agreement) -> str:
    """How far the measures of each family agree with themselves, whatever K and threshold."""
    looks = measure_looks(result.systems.measures)
    parts = []
    for family in dict.fromkeys(look.family for look in looks):
        members = [at for at, look in enumerate(looks) if look.family == family]
        taus = np.array([result.tau[pair] for pair in combinations(members, 2)])
        taus = taus[np.isfinite(taus)]
        if len(taus):
            low, high = number(taus.min(), 2), number(taus.max(), 2)
            parts.append(f"{low} for {family}" if low == high else f"{low} to {high} for {family}")
    told = parts and len(_defined_pairs(result)) > 1
    return f"Within a family, whatever K and threshold, tau is {listed(parts)}." if told else ""


def _of_best_system(systems: Systems) -> str:
    """Which system is best, and by which measures."""
    figures = systems.figures * systems.direction
    by: dict[str, list[str]] = {}  # measures by the system that they call best; "" where several are
    for column, measure in enumerate(systems.measures):
        if not np.isfinite(figures[:, column]).any():
            continue
        at = np.flatnonzero(figures[:, column] >= np.nanmax(figures[:, column]) - ROUNDING)
        by.setdefault(named(systems.names[at[0]]) if len(at) == 1 else "", []).append(str(measure))
    if not by:
        return ""
    (name, whose), *rest = sorted(by.items(), key=lambda item: -len(item[1]))
    total = sum(map(len, by.values()))
    who = whose[0] if len(whose) == 1 else f"{len(whose)} of {total} measures" if rest else "every measure"
    is_best = f"the best system is {name}" if name else "several systems share the first place"
    parts = [f"By {who} {is_best}"]
    parts += [
        f"by {few(of)} {f'the best is {other}' if other else 'several share the first place'}" for other, of in rest[:3]
    ]
    further = sum(len(of) for _, of in rest[3:])
    parts += [f"by {counted(further, 'further measure')} the best is yet another"] if further else []
    return f"{'; '.join(parts)}."


def _of_saturation(systems: Systems) -> str:
    easy = [
        str(measure)
        for column, measure in enumerate(systems.measures)
        if systems.direction[column] > 0 and np.nanmedian(_finite(systems.figures[:, column])) > TOO_EASY
    ]
    if not easy:
        return ""
    return (
        f"{few(easy)} {'is' if len(easy) == 1 else 'are'} too easy here: half of the systems lie above "
        f"{100 * TOO_EASY:.0f} %."
    )


def _finite(values: Floats) -> Floats:
    """The finite values, or one that is above nothing."""
    finite = values[np.isfinite(values)]
    return finite if len(finite) else np.array([-np.inf])


def notes(result: Agreement) -> list[str]:
    """Say how it was done, and what it does not show."""
    n = len(result.systems)
    pairs = n * (n - 1) // 2
    said_of = [
        f"Rankings are of {n} systems, so of {counted(pairs, 'pair')} of systems: without ties one "
        f"pair turned changes tau by {2 / pairs:.2g}. Other systems may be ranked otherwise; the intervals are of the "
        "videos only.",
        f"95 % percentile intervals of {result.resamples:,} resamples of whole videos, the same for all systems and "
        "measures. A resample adds noise, which pulls tau towards 0: intervals lean to low values, and may lie below "
        "their tau. A conflict is said only where tau itself is below 0.5 too. The pairs of measures are many, and no "
        "interval is corrected for that.",
        "Figures that differ by no more than 1e-12 are ties.",
    ]
    if lower := [str(m) for m, d in zip(result.systems.measures, result.systems.direction, strict=True) if d < 0]:
        said_of.append(f"Of {listed(lower)} less is better, and the systems are ranked accordingly.")
    nowhere = np.isnan(result.systems.figures).all(axis=0)
    without = np.isnan(np.diagonal(result.tau))
    for those, of_one, of_several in (
        (nowhere, "it is undefined", "they are undefined"),
        (without & ~nowhere, "by it all systems tie", "by them all systems tie"),
    ):
        if names := [str(result.systems.measures[at]) for at in np.flatnonzero(those)]:
            said_of.append(f"No tau with {few(names)}: {of_one if len(names) == 1 else of_several}.")
    return said_of


def _between(interval: Floats) -> str:
    ends = low_to_high(interval, 2)
    return f", 95 % interval {ends}" if ends else ""


# --------------------------------------------------------------------------------------------- tables


def order_of(systems: Systems) -> Ints:
    """Numbers of the systems that are shown, the best first: by R@5,IoU=0.5, or by the first measure."""
    by = _sorting(systems)
    figures = systems.figures[:, by] * systems.direction[by]
    order = np.argsort(-np.where(np.isnan(figures), -np.inf, figures), kind="stable")
    if len(order) > N_SHOWN:
        order = order[np.linspace(0, len(order) - 1, N_SHOWN).round().astype(np.int64)]
    return np.asarray(order)


def _sorting(systems: Systems) -> int:
    names = [str(measure) for measure in systems.measures]
    return names.index(SORTED_BY) if SORTED_BY in names else 0


def _sorted_words(systems: Systems) -> str:
    return f"the best by {systems.measures[_sorting(systems)]} at the top"


def _left_out(systems: Systems) -> str:
    return f" {N_SHOWN} of {len(systems):,} systems, evenly along their order." if len(systems) > N_SHOWN else ""


def systems_table(result: Agreement) -> Table:
    """Figures of the systems with intervals, per cent as the protocol prints them; the best of each measure marked."""
    systems = result.systems
    percent = systems.first.protocol.percent
    towards = systems.figures * systems.direction
    best = np.array([np.nanmax(column) if np.isfinite(column).any() else np.nan for column in towards.T])
    rows = []
    for at in order_of(systems):
        cells = [Cell(shortened(one_line(systems.names[at]), 60))]
        for column in range(len(systems.measures)):
            value, (low, high) = float(systems.figures[at, column]), result.figure_interval[at, column]
            if math.isnan(value):
                cells.append(Cell("undefined"))
                continue
            below = f"{percent(float(low))} to {percent(float(high))}" if math.isfinite(low) else ""
            cells.append(Cell(percent(value), below, bool(towards[at, column] >= best[column] - ROUNDING)))
        rows.append(tuple(cells))
    return Table(
        f"The systems by every measure, %, {_sorted_words(systems)}. Smaller text: 95 % interval; marked: the best."
        f"{_left_out(systems)}",
        ("system", *map(str, systems.measures)),
        (("", tuple(rows)),),
    )


def agreement_table(result: Agreement) -> Table:
    """A row a measure, the best agreeing first: mean tau with the others, the lowest and the highest."""
    measures = result.systems.measures
    order = np.argsort(-np.where(np.isnan(result.mean), -np.inf, result.mean), kind="stable")
    rows = []
    for at in map(int, order):
        if not len(_others(result, at)):
            rows.append((Cell(str(measures[at])), Cell("undefined", _why_no_tau(result, at)), *[Cell("-")] * 3))
            continue
        below = low_to_high(result.mean_interval[at], 2)
        low, high = _lowest_and_highest(result, at)
        rows.append(
            (
                Cell(str(measures[at]), "", marked=False),
                Cell(number(result.mean[at], 2), below),
                Cell(number(result.tau[at, low], 2), str(measures[low])),
                Cell(number(result.tau[at, high], 2), str(measures[high])),
                Cell(number(100 * result.highest[at], 0)),
            )
        )
    return Table(
        "Tau of each measure with the others. Smaller text: where the mean lies in 95 % of the resamples, which lean "
        "to low values, and with which measure it is lowest and highest.",
        ("measure", "mean tau", "lowest", "highest", "best in, % of resamples"),
        (("", tuple(rows)),),
    )


def tau_table(result: Agreement) -> Table:
    """Tau between each pair of measures, in the order of the measures."""
    labels = [short_label(measure) for measure in result.systems.measures]
    rows = tuple(
        (Cell(label), *(Cell(short_number(float(value))) for value in row))
        for label, row in zip(labels, result.tau, strict=True)
    )
    return Table("Kendall's tau-b between the rankings by each two measures.", ("", *labels), (("", rows),))


def _conflicts_table(result: Agreement, conflicts: list[tuple[int, int]]) -> Table:
    measures = result.systems.measures
    rows = tuple(
        (
            Cell(str(measures[a])),
            Cell(str(measures[b])),
            Cell(number(result.tau[a, b], 2)),
            Cell(low_to_high(result.interval[a, b], 2)),
        )
        for a, b in conflicts[:N_CONFLICTS]
    )
    shown = f", the {N_CONFLICTS} lowest of {len(conflicts)}" if len(conflicts) > N_CONFLICTS else ""
    return Table(
        f"Measures in conflict: tau and its whole interval lie below 0.5{shown}.",
        ("measure", "and", "tau", "95 % interval"),
        (("", rows),),
        (0, 1),
    )


# ------------------------------------------------------------------------------------------- document


def document(result: Agreement) -> dict[str, Any]:
    """Figures of the systems, and tau of each pair of measures, for JSON."""
    systems = result.systems
    names = [str(measure) for measure in systems.measures]
    return {
        "measures": [
            {"measure": name}
            | _with_why("mean_tau", float(result.mean[at]), result.mean_interval[at], _why_no_tau(result, at))
            | {"highest_in": float(result.highest[at])}
            for at, name in enumerate(names)
        ],
        "pairs": [
            {"measures": [names[a], names[b]]}
            | _with_why("tau", float(result.tau[a, b]), result.interval[a, b], _why_no_tau(result, a, b))
            for a, b in combinations(range(len(names)), 2)
        ],
        "conflicts": [[names[a], names[b]] for a, b in conflicts_of(result)],
        "systems": [
            {
                "system": one_line(system),
                "measures": [_figure(result, row, column) for column in range(len(names))],
            }
            for row, system in enumerate(systems.names)
        ],
        "resamples": result.resamples,
    }


def _why_no_tau(result: Agreement, *measures: int) -> str:
    """Why a tau with these measures is undefined, where it is."""
    nowhere = np.isnan(result.systems.figures[:, measures]).all(axis=0)
    return WHY_UNDEFINED if nowhere.any() else WHY_NO_TAU


def _with_why(key: str, value: float, interval: Floats, why: str) -> dict[str, Any]:
    if math.isnan(value):
        return {key: None, "why": why}
    if not np.isfinite(interval).all():
        return {key: value, "ci95": None, "why": WHY_NO_INTERVAL}
    return {key: value, "ci95": interval.tolist()}


def _figure(result: Agreement, row: int, column: int) -> dict[str, Any]:
    measure = result.systems.measures[column]
    value, interval = float(result.systems.figures[row, column]), result.figure_interval[row, column]
    entry: dict[str, Any] = {"measure": str(measure), "value": value, "unit": "fraction"}
    if math.isnan(value):
        return entry | {"value": None, "why": why_undefined(measure)}
    return entry | ({"ci95": interval.tolist()} if np.isfinite(interval).all() else {})


# -------------------------------------------------------------------------------------------- figures


def systems_figure(result: Agreement) -> Figure:
    """Draw the figures of the systems, a row each, in a panel for each K."""
    systems = result.systems
    looks, panels = measure_looks(systems.measures), panels_of(systems.measures)
    order = order_of(systems)
    down = np.arange(len(order))
    figure = new_figure(1.15 + 0.175 * len(order) + 0.2 * ((len(looks) + 11) // 12))
    columns = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    for axes, (title, members) in zip(columns, panels, strict=True):
        axes.set_title(title, loc="left", fontsize=SMALL, color=SOFT)
        axes.grid(axis="y", color=GRID)
        axes.grid(axis="x", color=GRID)
        for at in members:
            low, high = (100 * result.figure_interval[order, at, end] for end in (0, 1))
            axes.hlines(down, low, high, color=looks[at].colour, linewidth=2.2, alpha=0.35)
            drawn_as = looks[at].of_line() | {"linewidth": 0.7, "markersize": 3.8}
            axes.plot(100 * systems.figures[order, at], down, **drawn_as)
        axes.tick_params(length=0)
    columns[0].set_yticks(down, [shortened(one_line(systems.names[at]), _NAME_WIDTH) for at in order])
    columns[0].set_ylim(len(order) - 0.4, -0.6)
    columns[len(columns) // 2].set_xlabel("%")
    kinds: dict[tuple[str, str], int] = {}  # by marker: K is told by the panel
    for at, look in enumerate(looks):
        kinds.setdefault((look.marker, look.colour), at)
    shown = [looks[at]._replace(fill="full") for at in kinds.values()]
    legend_of(figure, shown, [_kind(look.family, look.threshold, look.label, look.rank) for look in shown])
    return figure


def _kind(family: str, threshold: str, label: str, rank: int | None) -> str:
    """Name a measure without its K."""
    if rank is None or threshold not in label.replace(" .", " 0."):
        return label
    return f"{family}@K{f' {threshold[1:]}' if threshold else ''}"


def tau_figure(result: Agreement) -> Figure:
    """Draw tau of each pair of measures as a heat map."""
    measures = result.systems.measures
    labels = [short_label(measure) for measure in measures]
    return heat_map(labels, labels, result.tau, breaks=group_breaks(measures))


def mean_figure(result: Agreement) -> Figure:
    """Draw each measure's mean tau with the others, the best agreeing at the top."""
    looks = measure_looks(result.systems.measures)
    order = [int(at) for at in np.argsort(-result.mean, kind="stable") if math.isfinite(result.mean[at])]
    figure = new_figure(0.6 + 0.2 * max(len(order), 1))
    axes = figure.subplots()
    axes.grid(axis="x")
    for down, at in enumerate(order):
        taus = result.tau[at, _others(result, at)]
        axes.hlines(down, taus.min(), taus.max(), color=SOFT, linewidth=0.7)
        if np.isfinite(result.mean_interval[at]).all():
            axes.hlines(down, *result.mean_interval[at], color=looks[at].colour, linewidth=4, alpha=0.4)
        axes.plot([result.mean[at]], [down], **looks[at].of_marker())
    axes.set_yticks(range(len(order)), [looks[at].label for at in order])
    axes.set_ylim(len(order) - 0.5, -0.5)
    axes.axvline(0, color=INK, linewidth=0.7)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("tau with the other measures")
    return figure
