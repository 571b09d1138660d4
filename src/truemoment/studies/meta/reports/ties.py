"""The report on ties: the queries on which a measure gives all systems the same value."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.evaluation.measures import why_undefined
from truemoment.report.drawing import FLOOR_FAINT, METHOD, METHOD_FAINT, SMALL, new_figure
from truemoment.report.model import Cell, Drawing, Finding, Paragraph, Section, Table
from truemoment.report.roles import INK, PAPER
from truemoment.report.words import low_to_high, number, percent
from truemoment.studies.meta.reports.looks import short_label
from truemoment.studies.meta.reports.spans import span
from truemoment.studies.meta.ties import Ties

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def section(result: Ties) -> Section:
    """Return the section of the study."""
    return Section(
        "ties",
        "On how many queries do all systems have the same value?",
        (
            Finding((finding(result),)),
            Drawing(
                "ties-ratio",
                "Queries on which all systems tie",
                f"Share of the queries on which all {len(result.systems)} systems have the same value, with its 95 % "
                "interval, divided into queries with the value 0, 1, or another one. Diamond: mean share of pairs of "
                "systems that tie on a query. AxIoU paper, Fig. 9.",
                partial(_figure, result),
            ),
            _table(result),
            Paragraph(
                "A query on which all systems tie adds nothing to any difference between them. The share falls as "
                f"systems are added, so compare measures on the same systems. Intervals: {result.resamples:,} "
                "resamples of the videos."
            ),
        ),
        "Ties",
    )


def finding(result: Ties) -> str:
    """Return the share of the queries on which measures tie all systems, in words."""
    if not np.isfinite(result.all_tied).any():
        return "No measure is defined on any query."
    share = span(result.systems.measures, result.all_tied, partial(percent, decimals=1))
    return f"All systems tie on {share} of the queries."


def _table(result: Ties) -> Table:
    rows = tuple(
        (
            Cell(str(measure)),
            Cell(number(100 * result.all_tied[at], 1), low_to_high(result.interval[at], 1, times=100)),
            *(Cell(number(100 * share[at], 1)) for share in (result.at_zero, result.at_one, result.pairs_tied)),
        )
        for at, measure in enumerate(result.systems.measures)
    )
    return Table(
        "Share of the queries on which systems tie, in percent, with a 95 % interval.",
        ("measure", "all systems", "all at 0", "all at 1", "a pair, on average"),
        (("", rows),),
    )


def document(result: Ties) -> dict[str, Any]:
    """Return the JSON document."""
    entries = []
    for at, measure in enumerate(result.systems.measures):
        entry: dict[str, Any] = {"measure": str(measure), "unit": "fraction", "n_queries": result.n_queries[at]}
        for key in ("all_tied", "at_zero", "at_one", "pairs_tied"):
            entry[key] = getattr(result, key)[at]
        if math.isnan(result.all_tied[at]):
            entry["why"] = why_undefined(measure)
        elif np.isfinite(result.interval[at]).all():
            entry["ci95"] = result.interval[at]
        entries.append(entry)
    return {"systems": result.systems.names, "resamples": result.resamples, "measures": entries}


def _figure(result: Ties) -> Figure:
    """Draw one bar per measure, in its three parts."""
    n_measures = len(result.systems.measures)
    figure = new_figure(0.95 + 0.2 * n_measures)
    axes = figure.subplots()
    place = np.arange(n_measures)
    zero, full, whole = (np.nan_to_num(100 * share) for share in (result.at_zero, result.at_one, result.all_tied))
    parts = (
        (zero, np.zeros(n_measures), METHOD, None, "all score 0"),
        (full, zero, METHOD_FAINT, "////", "all score 1"),
        (np.maximum(whole - zero - full, 0), zero + full, FLOOR_FAINT, "....", "all score alike between"),
    )
    for width, left, colour, hatch, label in parts:
        if not width.any():
            continue
        axes.barh(
            place, width, 0.62, left, color=colour, hatch=hatch, edgecolor=INK, linewidth=0.5, label=label, zorder=2
        )
    low, high = (100 * result.interval.T).tolist()
    axes.hlines(place, low, high, color=INK, linewidth=1.4, zorder=3)
    axes.plot(
        100 * result.pairs_tied,
        place,
        "D",
        markersize=4,
        markerfacecolor=PAPER,
        markeredgecolor=INK,
        markeredgewidth=0.9,
        label="a pair ties, on average",
        zorder=4,
        clip_on=False,
    )
    for at, share in enumerate(result.all_tied):
        axes.text(
            1.02, at, number(100 * share, 1), transform=axes.get_yaxis_transform(), va="center_baseline", fontsize=SMALL
        )
    axes.set_yticks(place, [short_label(measure) for measure in result.systems.measures])
    axes.set_ylim(n_measures - 0.4, -0.6)
    axes.set_xlim(0, 100)
    axes.grid(axis="x")
    axes.set_xlabel("% of the queries")
    axes.text(1.02, 1.0, "all", transform=axes.transAxes, va="bottom", fontsize=SMALL)
    axes.tick_params(axis="y", length=0)
    figure.legend(loc="outside lower center", ncols=2, columnspacing=1.2)
    return figure
