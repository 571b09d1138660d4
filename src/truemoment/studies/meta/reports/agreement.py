"""The report on agreement: the figures of the systems, and the agreement of the rankings by measures."""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.base.boundary.documents import Measured
from truemoment.base.intervals import Floats, Ints
from truemoment.evaluation.measures import why_undefined
from truemoment.evaluation.uncertainty import ROUNDING
from truemoment.report.drawing import SMALL, new_figure, shortened
from truemoment.report.model import Block, Cell, Details, Drawing, Finding, Paragraph, Section, Table
from truemoment.report.roles import GRID, INK, SOFT
from truemoment.report.words import UNDEFINED, counted, few, interval95, listed, low_to_high, number
from truemoment.studies.meta.agreement import Agreement
from truemoment.studies.meta.reports.looks import (
    MeasureLook,
    group_breaks,
    heat_map,
    legend_of,
    measure_looks,
    named,
    panels_of,
    short_label,
    short_number,
)
from truemoment.studies.meta.systems import Systems

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SORTED_BY = "R@5,IoU=0.5"
"""The measure that sorts the systems if it was computed, as in AxIoU, Fig. 5."""

CONFLICT = 0.5
"""Two measures conflict if their tau and its whole interval lie below this: more than one of four pairs is reversed."""

N_SHOWN = 40
"""Maximum number of systems in a figure or a table; of more, as many evenly along their order."""

_NAME_WIDTH = 22

WHY_NO_TAU = "a measure ties all systems"
WHY_UNDEFINED = "a measure is undefined for all systems"
WHY_NO_INTERVAL = "in some resamples a measure ties all systems"


def section(result: Agreement) -> Section:
    """Return the section of the study."""
    blocks: list[Block] = [
        Finding((*sentences(result), _best_systems(result.systems))),
        Drawing(
            "agreement-systems",
            "The systems by every measure",
            f"A row per system, {_sorted_words(result.systems)}. Lines through the marks: 95 % intervals. Where lines "
            "of different measures cross, they rank systems differently. After AxIoU, Fig. "
            f"5.{_left_out(result.systems)}",
            partial(systems_figure, result),
        ),
    ]
    if len(result.systems.measures) > 1:
        blocks.append(
            Drawing(
                "agreement-tau",
                "Agreement of the rankings by each two measures",
                "Kendall's tau-b: 1 for equal rankings, 0 for unrelated ones, marked below 0. After AxIoU, Fig. 4.",
                partial(tau_figure, result),
            )
        )
    if np.isfinite(result.mean).any():
        blocks.append(
            Drawing(
                "agreement-mean",
                "Agreement of each measure with all others",
                "Mean tau with the others (mark), its range over 95 % of the resamples (thick line), and the lowest "
                "and highest tau with any of them (thin line).",
                partial(mean_figure, result),
            )
        )
    blocks.append(systems_table(result))
    if len(result.systems.measures) > 1:
        blocks += [agreement_table(result), Details("Kendall's tau-b of each two measures", (tau_table(result),))]
    blocks += map(Paragraph, _notes(result))
    return Section("agreement", "Do the measures rank systems alike?", tuple(blocks), "Agreement")


def sentences(result: Agreement) -> list[str]:
    """Return which measure agrees best with the others, and which measures conflict."""
    pairs = [pair for pair in combinations(range(len(result.tau)), 2) if math.isfinite(result.tau[pair])]
    if not pairs:
        return ["No two measures can be compared: at most one of them ranks the systems."]
    conflicts = conflicts_of(result)
    a, b = conflicts[0] if conflicts else min(pairs, key=lambda pair: float(result.tau[pair]))
    names = [str(measure) for measure in result.systems.measures]
    lowest = f"tau {number(result.tau[a, b])}, {interval95(result.interval[a, b])}"
    if len(pairs) == 1:
        return [f"The rankings by {names[a]} and by {names[b]} {'conflict' if conflicts else 'agree'}: {lowest}."]
    best = np.flatnonzero(result.mean >= np.nanmax(result.mean) - ROUNDING)
    agree = "agrees" if len(best) == 1 else "agree"
    ends = low_to_high(result.mean_interval[best[0]])
    sure = f" ({ends} in 95 % of the resamples)" if len(best) == 1 and ends else ""
    return [
        f"{few([names[at] for at in best])} {agree} best with the other measures: mean tau "
        f"{number(result.mean[best[0]])}{sure}.",
        f"{len(conflicts):,} of {counted(len(pairs), 'pair')} of measures conflict (tau and its whole interval lie "
        f"below {CONFLICT:g}). The lowest tau: {names[a]} and {names[b]} ({lowest}).",
    ]


def conflicts_of(result: Agreement) -> list[tuple[int, int]]:
    """Return the pairs of measures that conflict (see :data:`CONFLICT`), the lowest tau first."""
    pairs = [
        (a, b)
        for a, b in combinations(range(len(result.systems.measures)), 2)
        if result.tau[a, b] < CONFLICT and result.interval[a, b, 1] < CONFLICT  # never of NaN
    ]
    return sorted(pairs, key=lambda pair: float(result.tau[pair]))


def _best_systems(systems: Systems) -> str:
    """Return which systems are best, and by which measures."""
    figures = systems.figures * systems.direction
    measures_of: dict[str, list[str]] = {}
    for column in np.flatnonzero(np.isfinite(figures).any(axis=0)):
        first = np.flatnonzero(figures[:, column] >= np.nanmax(figures[:, column]) - ROUNDING)
        who = named(systems.names[first[0]]) if len(first) == 1 else "several tie"
        measures_of.setdefault(who, []).append(str(systems.measures[column]))
    if not measures_of:
        return "No measure is defined for any system."
    by_count = sorted(measures_of.items(), key=lambda item: -len(item[1]))
    if len(by_count) == 1:
        return f"Best system by every measure: {by_count[0][0]}."
    return f"Best system: {few([f'{who} (by {few(measures)})' for who, measures in by_count])}."


def _notes(result: Agreement) -> list[str]:
    systems = result.systems
    pairs = len(systems) * (len(systems) - 1) // 2
    notes = [
        f"{len(systems)} systems are {counted(pairs, 'pair')} of systems: one reversed pair changes tau by "
        f"{2 / pairs:.2g}. Intervals come from {result.resamples:,} resamples of the videos; other systems may be "
        "ranked differently.",
        "A resample adds noise, which lowers tau, so intervals lean to low values. No interval is corrected for the "
        "number of pairs of measures.",
    ]
    if lower := [str(m) for m, d in zip(systems.measures, systems.direction, strict=True) if d < 0]:
        notes.append(f"For {listed(lower)} less is better.")
    nowhere = np.isnan(systems.figures).all(axis=0)
    tied = np.isnan(np.diagonal(result.tau)) & ~nowhere
    for marked, why in ((nowhere, "undefined for all systems"), (tied, "all systems tie")):
        if names := [str(systems.measures[at]) for at in np.flatnonzero(marked)]:
            notes.append(f"No tau with {few(names)}: {why}.")
    return notes


# --------------------------------------------------------------------------------------------- tables


def order_of(systems: Systems) -> Ints:
    """Return the rows of the shown systems, the best first: by R@5,IoU=0.5, or by the first measure."""
    column = _sorting(systems)
    figures = systems.figures[:, column] * systems.direction[column]
    order = _descending(figures)
    if len(order) > N_SHOWN:
        order = order[np.linspace(0, len(order) - 1, N_SHOWN).round().astype(np.int64)]
    return order


def _descending(values: Floats) -> Ints:
    """Return the order of values from high to low, undefined ones last."""
    return np.asarray(np.argsort(-np.where(np.isnan(values), -np.inf, values), kind="stable"))


def _sorting(systems: Systems) -> int:
    names = [str(measure) for measure in systems.measures]
    return names.index(SORTED_BY) if SORTED_BY in names else 0


def _sorted_words(systems: Systems) -> str:
    return f"the best by {systems.measures[_sorting(systems)]} first"


def _left_out(systems: Systems) -> str:
    return f" {N_SHOWN} of {len(systems):,} systems, evenly along their order." if len(systems) > N_SHOWN else ""


def systems_table(result: Agreement) -> Table:
    """Return the figures of the systems with intervals, in percent as the protocol prints them."""
    systems = result.systems
    percent = systems.first.protocol.percent
    towards = systems.figures * systems.direction
    best = np.fmax.reduce(towards, axis=0)
    rows = []
    for at in order_of(systems):
        cells = [Cell(shortened(systems.names[at], 60))]
        for column in range(len(systems.measures)):
            value, (low, high) = float(systems.figures[at, column]), result.figure_interval[at, column]
            if math.isnan(value):
                cells.append(Cell("undefined"))
                continue
            below = f"{percent(float(low))} to {percent(float(high))}" if math.isfinite(low) else ""
            cells.append(Cell(percent(value), below, bool(towards[at, column] >= best[column] - ROUNDING)))
        rows.append(tuple(cells))
    return Table(
        f"The systems by every measure, %, {_sorted_words(systems)}. Beside a figure: its 95 % interval; marked: the "
        f"best.{_left_out(systems)}",
        ("system", *map(str, systems.measures)),
        (("", tuple(rows)),),
    )


def agreement_table(result: Agreement) -> Table:
    """Return the tau of each measure with the others: mean, lowest and highest; the best agreeing first."""
    measures = result.systems.measures
    rows = []
    for at in map(int, _descending(result.mean)):
        others = _others(result, at)
        if not len(others):
            rows.append((Cell(str(measures[at])), Cell("undefined", _why_no_tau(result, at)), *[Cell(UNDEFINED)] * 3))
            continue
        taus = result.tau[at, others]
        low, high = others[np.argmin(taus)], others[np.argmax(taus)]
        rows.append(
            (
                Cell(str(measures[at])),
                Cell(number(result.mean[at]), low_to_high(result.mean_interval[at])),
                Cell(number(result.tau[at, low]), str(measures[low])),
                Cell(number(result.tau[at, high]), str(measures[high])),
                Cell(number(100 * result.highest[at], 0)),
            )
        )
    return Table(
        "Tau of each measure with the others. Beside a figure: the 95 % interval of the mean, or the measure with "
        "which tau is lowest or highest.",
        ("measure", "mean tau", "lowest", "highest", "best in, % of resamples"),
        (("", tuple(rows)),),
    )


def _others(result: Agreement, measure: int) -> Ints:
    """Return the measures with which a measure has a tau."""
    defined = np.flatnonzero(~np.isnan(result.tau[measure]))
    return np.asarray(defined[defined != measure])


def tau_table(result: Agreement) -> Table:
    """Return tau between each pair of measures."""
    labels = [short_label(measure) for measure in result.systems.measures]
    rows = tuple(
        (Cell(label), *(Cell(short_number(float(value))) for value in row))
        for label, row in zip(labels, result.tau, strict=True)
    )
    return Table("Kendall's tau-b between the rankings by each two measures.", ("", *labels), (("", rows),))


# ------------------------------------------------------------------------------------------- document


def document(result: Agreement) -> dict[str, Any]:
    """Return the JSON document: figures of the systems, and tau of each pair of measures."""
    systems = result.systems
    names = [str(measure) for measure in systems.measures]
    return {
        "measures": [
            {"measure": name}
            | _with_why("mean_tau", float(result.mean[at]), result.mean_interval[at], _why_no_tau(result, at))
            | {"highest_in": result.highest[at]}
            for at, name in enumerate(names)
        ],
        "pairs": [
            {"measures": [names[a], names[b]]}
            | _with_why("tau", float(result.tau[a, b]), result.interval[a, b], _why_no_tau(result, a, b))
            for a, b in combinations(range(len(names)), 2)
        ],
        "conflicts": [[names[a], names[b]] for a, b in conflicts_of(result)],
        "systems": [
            {"system": system, "measures": [_figure(result, row, at) for at in range(len(names))]}
            for row, system in enumerate(systems.names)
        ],
        "resamples": result.resamples,
    }


def _why_no_tau(result: Agreement, *measures: int) -> str:
    nowhere = np.isnan(result.systems.figures[:, measures]).all(axis=0)
    return WHY_UNDEFINED if nowhere.any() else WHY_NO_TAU


def _with_why(key: str, value: float, interval: Floats, why: str) -> dict[str, Any]:
    if math.isnan(value):
        return {key: None, "why": why}
    if not np.isfinite(interval).all():
        return {key: value, "ci95": None, "why": WHY_NO_INTERVAL}
    return {key: value, "ci95": interval}


def _figure(result: Agreement, row: int, column: int) -> Measured:
    measure = result.systems.measures[column]
    value, interval = float(result.systems.figures[row, column]), result.figure_interval[row, column]
    is_known = math.isfinite(value) and np.isfinite(interval).all()
    ci95 = interval.tolist() if is_known else None
    return Measured(value, why_undefined(measure), ci95=ci95, measure=str(measure))


# -------------------------------------------------------------------------------------------- figures


def systems_figure(result: Agreement) -> Figure:
    """Draw the figures of the systems, one row each, in one panel per K."""
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
            drawn_as = looks[at].line_style() | {"linewidth": 0.7, "markersize": 3.8}
            axes.plot(100 * systems.figures[order, at], down, **drawn_as)
        axes.tick_params(length=0)
    columns[0].set_yticks(down, [shortened(systems.names[at], _NAME_WIDTH) for at in order])
    columns[0].set_ylim(len(order) - 0.4, -0.6)
    columns[len(columns) // 2].set_xlabel("%")
    kinds: dict[tuple[str, str], MeasureLook] = {}  # by marker: the panel shows K
    for look in looks:
        kinds.setdefault((look.marker, look.colour), look._replace(fill="full"))
    legend_of(figure, list(kinds.values()), [_without_rank(look) for look in kinds.values()])
    return figure


def _without_rank(look: MeasureLook) -> str:
    """Return the name of a measure without its K."""
    if look.rank is None or look.threshold not in look.label.replace(" .", " 0."):
        return look.label
    return f"{look.family}@K{f' {look.threshold[1:]}' if look.threshold else ''}"


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
        axes.plot([result.mean[at]], [down], **looks[at].marker_style())
    axes.set_yticks(range(len(order)), [looks[at].label for at in order])
    axes.set_ylim(len(order) - 0.5, -0.5)
    axes.axvline(0, color=INK, linewidth=0.7)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("tau with the other measures")
    return figure
