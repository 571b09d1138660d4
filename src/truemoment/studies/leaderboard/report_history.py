"""The figure of a leaderboard's systems by date."""

from __future__ import annotations

import datetime as dt
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.report.drawing import FLOOR, METHOD, SOFT, drawing_style, new_figure, shortened
from truemoment.report.model import Drawing
from truemoment.studies.leaderboard import Leaderboard

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEIGHT_IN = 3.0
"""Height of the figure, inches."""


class Dated(NamedTuple):
    """A system with a date; its figure and 95 % interval in percent."""

    date: dt.date
    name: str
    percent: float
    ci95: Floats

    @property
    def year(self) -> float:
        """The date in years."""
        return self.date.year + (self.date.timetuple().tm_yday - 1) / 366


def dated(found: Leaderboard) -> list[Dated]:
    """Return the systems with a date at the headline measure, by date."""
    comparison, m = found.compared.comparison, found.headline
    of_systems = [
        Dated(of.entry.date, of.entry.name, 100 * float(comparison.mean[s, m]), 100 * comparison.interval[s, m])
        for s, of in enumerate(found.systems)
        if of.entry.date is not None
    ]
    return sorted(of_systems, key=lambda of: of[:2])


def history(found: Leaderboard) -> Drawing:
    """Return the figure: dots by date, the best so far, and the strongest floor."""
    return Drawing(
        "history",
        f"{found.compared.heading(found.headline)} by date",
        "Dots are systems with a date, the line is the best so far; lines through a dot are 95 % intervals. The dashed "
        "line is the strongest floor of the table below.",
        partial(_drawn, found),
    )


def _drawn(found: Leaderboard) -> Figure:
    systems = dated(found)
    floor = max(of.scores.value(found.measures[found.headline]) for of, _ in found.beside() if of.kind == "floor")
    years = [of.year for of in systems]
    with drawing_style():
        figure = new_figure(HEIGHT_IN)
        axes = figure.subplots()
        axes.axhline(100 * floor, color=FLOOR, linestyle="--")
        axes.step(years, np.fmax.accumulate([of.percent for of in systems]), where="post", color=SOFT)
        for of in systems:
            if np.isfinite(of.ci95).all():
                axes.plot([of.year, of.year], of.ci95, color=METHOD)
            axes.plot([of.year], [of.percent], "o", color=METHOD)
            axes.annotate(shortened(of.name, 30), (of.year, of.percent), xytext=(6, 6), textcoords="offset points")
        span = max(years[-1] - years[0], 0.5)
        axes.set_xlim(years[0] - span / 12, years[-1] + span / 2)
        axes.set_ylim(bottom=0)
        axes.ticklabel_format(axis="x", useOffset=False)
        axes.locator_params(axis="x", nbins=5)
        axes.set_xlabel("year", color=SOFT)
        axes.set_ylabel("%", color=SOFT)
    return figure
