"""The chapter on ties: on how many queries a measure tells no two systems apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.measures import why_undefined
from truemoment.metaevaluation.ties import Ties
from truemoment.reports.drawing import FLOOR_FAINT, INK, METHOD, METHOD_FAINT, PAPER, SMALL, new_figure
from truemoment.reports.metaevaluation.chapter import Chapter
from truemoment.reports.metaevaluation.parts import short_label
from truemoment.reports.model import Cell, Drawing, Table
from truemoment.reports.text import few, low_to_high, number, percent
from truemoment.uncertainty import ROUNDING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WORTH_SAYING = 0.1
"""Share of the queries from which on the reason why systems tie is told."""


def chapter(ties: Ties) -> Chapter:
    """Say which measures tie all systems most often, and why.

    Parameters
    ----------
    ties
        The study's result.

    Returns
    -------
    Chapter
    """
    n_systems = len(ties.systems)
    caption = (
        f"Share of the queries on which all {n_systems} systems have the same value, by measure: the bar, with its "
        "95 % interval, in parts on which all have the value 0, the value 1, and another one. The diamond is the mean "
        "share of pairs of systems that tie on a query. AxIoU paper, Fig. 9."
    )
    drawing = Drawing("ties-ratio", "Queries on which all systems tie", caption, lambda: _figure(ties))
    return Chapter(
        name="ties",
        title="On how many queries does a measure tell no two systems apart?",
        said=tuple(_said(ties)),
        tables=(_table(ties),),
        drawings=(drawing,),
        document=_document(ties),
        notes=(
            "A query on which all systems tie adds nothing to any difference between them, so a measure that ties "
            "often needs more queries. The share only falls as systems are added; compare measures on the same ones.",
            f"Intervals: {ties.resamples:,} resamples of the videos. Values no more than 1e-12 apart tie.",
        ),
    )


def _said(ties: Ties) -> list[str]:
    names = [str(measure) for measure in ties.systems.measures]
    defined = np.flatnonzero(np.isfinite(ties.all_tied))
    if len(defined) == 0:
        return ["No measure is defined on any query."]
    order = [int(at) for at in defined[np.argsort(ties.all_tied[defined], kind="stable")]]
    fewest, most = order[0], order[-1]
    least = float(ties.all_tied[fewest])
    whom = "the two systems" if len(ties.systems) == 2 else f"all {len(ties.systems)} systems"
    how_often = f"on {_share(ties, fewest)} of the queries" if least > 0 else "on no query"
    if len(order) == 1:
        first = f"{names[most]} gives {whom} the same value {how_often}."
    elif ties.all_tied[most] - least <= ROUNDING:
        first = f"Every measure ties {whom} {how_often}." if least > 0 else f"No measure ties {whom} on any query."
    else:
        alike = [names[at] for at in order if ties.all_tied[at] <= least + ROUNDING]
        first = (
            f"{few(alike)} {'ties' if len(alike) == 1 else 'tie'} {whom} {how_often}, the fewest of "
            f"{len(order)} measures; {names[most]} on {_share(ties, most)}, the most: it says nothing there."
        )
    nowhere = [name for at, name in enumerate(names) if at not in order]
    last = [f"{few(nowhere)} {'is' if len(nowhere) == 1 else 'are'} undefined on every query."] if nowhere else []
    return [first, *_why(ties, names), *last]


def _why(ties: Ties, names: Sequence[str]) -> list[str]:
    """Say which measures tie because they demand too much, and which because they demand too little."""
    more = ties.systems.direction > 0
    failed = np.where(more, ties.at_zero, ties.at_one)
    perfect = np.where(more, ties.at_one, ties.at_zero)
    said = []
    for share, demand, of_more, of_less in (
        (failed, "most", "no system scores above 0", "every system scores 1, the worst there is"),
        (perfect, "least", "every system scores 1", "every system scores 0, the best there is"),
    ):
        if np.isfinite(share).any() and np.nanmax(share) >= _WORTH_SAYING:
            at = int(np.nanargmax(share))
            reason = of_more if more[at] else of_less
            said.append(f"{names[at]} demands the {demand}: on {percent(share[at], 1)} of the queries {reason}.")
    return said


def _share(ties: Ties, at: int) -> str:
    """A share with its interval, where there is one."""
    ends = low_to_high(ties.interval[at], 1, times=100)
    return f"{percent(ties.all_tied[at], 1)}{f' (95 % interval {ends})' if ends else ''}"


def _table(ties: Ties) -> Table:
    rows = []
    for at, measure in enumerate(ties.systems.measures):
        parts = (100 * ties.at_zero, 100 * ties.at_one, 100 * ties.pairs_tied)
        rows.append(
            (
                Cell(str(measure)),
                Cell(number(100 * ties.all_tied[at], 1), low_to_high(ties.interval[at], 1, times=100)),
                *(Cell(number(share[at], 1)) for share in parts),
            )
        )
    return Table(
        caption="Share of the queries on which systems tie, in percent; in brackets the 95 % interval.",
        headings=("measure", "all systems", "all at 0", "all at 1", "a pair, on average"),
        groups=(("", tuple(rows)),),
    )


def _document(ties: Ties) -> dict[str, Any]:
    entries = []
    for at, measure in enumerate(ties.systems.measures):
        entry: dict[str, Any] = {"measure": str(measure), "unit": "fraction", "n_queries": int(ties.n_queries[at])}
        shares = {"all_tied": ties.all_tied, "at_zero": ties.at_zero, "at_one": ties.at_one}
        entry |= {name: float(share[at]) for name, share in (shares | {"pairs_tied": ties.pairs_tied}).items()}
        if math.isnan(ties.all_tied[at]):
            entry["why"] = why_undefined(measure)
        elif np.isfinite(ties.interval[at]).all():
            entry["ci95"] = ties.interval[at].tolist()
        entries.append(entry)
    return {"systems": list(ties.systems.names), "resamples": ties.resamples, "measures": entries}


def _figure(ties: Ties) -> Figure:
    """A bar a measure, in its three parts."""
    n_measures = len(ties.systems.measures)
    figure = new_figure(0.95 + 0.2 * n_measures)
    axes = figure.subplots()
    place = np.arange(n_measures)
    zero, one, whole = (np.nan_to_num(100 * share) for share in (ties.at_zero, ties.at_one, ties.all_tied))
    parts = (
        (zero, np.zeros(n_measures), METHOD, None, "all score 0"),
        (one, zero, METHOD_FAINT, "////", "all score 1"),
        (np.maximum(whole - zero - one, 0), zero + one, FLOOR_FAINT, "....", "all score alike between"),
    )
    for width, left, colour, hatch, label in parts:
        if not width.any():
            continue
        axes.barh(
            place, width, 0.62, left, color=colour, hatch=hatch, edgecolor=INK, linewidth=0.5, label=label, zorder=2
        )
    low, high = (100 * ties.interval.T).tolist()
    axes.hlines(place, low, high, color=INK, linewidth=1.4, zorder=3)
    axes.plot(
        100 * ties.pairs_tied,
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
    for at, share in enumerate(ties.all_tied):
        axes.text(
            1.02, at, number(100 * share, 1), transform=axes.get_yaxis_transform(), va="center_baseline", fontsize=SMALL
        )
    axes.set_yticks(place, [short_label(measure) for measure in ties.systems.measures])
    axes.set_ylim(n_measures - 0.4, -0.6)
    axes.set_xlim(0, 100)
    axes.grid(axis="x")
    axes.set_xlabel("% of the queries")
    axes.text(1.02, 1.0, "all", transform=axes.transAxes, va="bottom", fontsize=SMALL)
    axes.tick_params(axis="y", length=0)
    figure.legend(loc="outside lower center", ncols=2, columnspacing=1.2)
    return figure
