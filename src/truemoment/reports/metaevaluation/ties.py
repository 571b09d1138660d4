"""The chapter on ties: on how many queries a measure tells no two systems apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.measures import why_undefined
from truemoment.metaevaluation.ties import Ties
from truemoment.reports.drawing import FLOOR_FAINT, INK, METHOD, METHOD_FAINT, PAPER, SMALL, Drawing, new_figure
from truemoment.reports.metaevaluation.chapter import Chapter
from truemoment.reports.metaevaluation.parts import short_label
from truemoment.reports.template import Cell, Table
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
        f"Share of the queries on which all {n_systems} systems have the same value, by measure: the bar, in parts for "
        "which all fail and all are fully right, with its 95 % interval. The diamond is the mean share of pairs of "
        "systems that tie on a query. AxIoU paper, Fig. 9."
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
    order = defined[np.argsort(ties.all_tied[defined], kind="stable")]
    most = int(order[-1])
    whom = "the two systems" if len(ties.systems) == 2 else f"all {len(ties.systems)} systems"
    if len(order) == 1:
        return [
            f"{names[most]} gives {whom} the same value on {_share(ties, most)} of the queries.",
            *_why(ties, names),
        ]
    least = float(ties.all_tied[order[0]])
    fewest = [at for at in order if ties.all_tied[at] <= least + ROUNDING]
    how_often = f"on {_share(ties, int(order[0]))} of the queries" if least > 0 else "on no query"
    first = (
        f"{_listed([names[at] for at in fewest])} {'ties' if len(fewest) == 1 else 'tie'} {whom} {how_often}, the "
        f"fewest of {len(order)} measures; {names[most]} on {_share(ties, most)}, the most: it says nothing there."
    )
    return [first, *_why(ties, names)]


def _why(ties: Ties, names: Sequence[str]) -> list[str]:
    """Say which measures tie because they demand too much, and which because they demand too little."""
    said = []
    for share, reason, cure in (
        (ties.at_zero, "no system scores above 0", "demands the most"),
        (ties.at_one, "every system scores 1", "demands the least"),
    ):
        if np.isfinite(share).any() and np.nanmax(share) >= _WORTH_SAYING:
            at = int(np.nanargmax(share))
            said.append(f"{names[at]} {cure}: on {_percent(share[at])} of the queries {reason}.")
    return said


def _listed(names: Sequence[str]) -> str:
    """Name some measures: the first three, and how many more."""
    if len(names) > 4:
        return f"{', '.join(names[:3])} and {len(names) - 3} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _share(ties: Ties, at: int) -> str:
    """A share with its interval, where there is one."""
    low, high = (100 * ties.interval[at]).tolist()
    interval = f" (95 % interval {low:.1f} to {high:.1f})" if math.isfinite(low) else ""
    return f"{_percent(ties.all_tied[at])}{interval}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _table(ties: Ties) -> Table:
    rows = []
    for at, measure in enumerate(ties.systems.measures):
        low, high = (100 * ties.interval[at]).tolist()
        rows.append(
            (
                Cell(str(measure)),
                Cell(_number(ties.all_tied[at]), f"{low:.1f} to {high:.1f}" if math.isfinite(low) else ""),
                *(Cell(_number(share[at])) for share in (ties.at_zero, ties.at_one, ties.pairs_tied)),
            )
        )
    return Table(
        caption="Share of the queries on which systems tie, in percent; in brackets the 95 % interval.",
        headings=("measure", "all systems", "all at 0", "all at 1", "a pair, on average"),
        groups=(("", tuple(rows)),),
    )


def _number(share: float) -> str:
    return f"{100 * share:.1f}" if math.isfinite(share) else "-"


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
        axes.text(1.02, at, _number(share), transform=axes.get_yaxis_transform(), va="center_baseline", fontsize=SMALL)
    axes.set_yticks(place, [short_label(measure) for measure in ties.systems.measures])
    axes.set_ylim(n_measures - 0.4, -0.6)
    axes.set_xlim(0, 100)
    axes.grid(axis="x")
    axes.set_xlabel("% of the queries")
    axes.text(1.02, 1.0, "all", transform=axes.transAxes, va="bottom", fontsize=SMALL)
    axes.tick_params(axis="y", length=0)
    figure.legend(loc="outside lower center", ncols=2, columnspacing=1.2)
    return figure
