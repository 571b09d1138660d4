"""Tables, drawings and JSON keys of the verdict: the figures of the method, floors and ceilings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.base.boundary.documents import NO_INTERVAL, Measured
from truemoment.baselines.floors import FloorResult
from truemoment.evaluation.repeated_measures import repeated_measures
from truemoment.evaluation.scores import Scores
from truemoment.report.drawing import (
    CEILING,
    CEILING_FAINT,
    FLOOR,
    FLOOR_FAINT,
    METHOD,
    OTHER,
    OTHER_FAINT,
    drawing_style,
    new_figure,
    wrapped,
)
from truemoment.report.model import Block, Cell, Drawing, KeyFigure, KeyFigures, Table
from truemoment.report.words import p_number, points
from truemoment.studies.audit.charts import draw_bar, draw_dots, draw_interval, name_rows, percent_axis, write_undefined
from truemoment.studies.audit.checks.base import FIGURES
from truemoment.studies.audit.checks.shortcut_share import shares
from truemoment.studies.audit.entries import at_measure, measured
from truemoment.studies.audit.resampling import figures
from truemoment.studies.audit.results import Results
from truemoment.studies.audit.table_cells import UNDEFINED, figure_cell, number_cell, points_cell
from truemoment.studies.audit.verdict import NO_SKILL

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def key_figures(results: Results) -> KeyFigures:
    """Return the figures of the verdict: method, strongest floor, their difference, skill."""
    m, measure, verdict = results.headline, results.measure, results.verdict
    floor = 1 + int(verdict.strongest[m])
    own, strongest = results.scores.value(measure), results.strongest_scores.value(measure)
    return KeyFigures(
        (
            KeyFigure(
                f"{measure} of the method", figure_cell(results, measure, own, results.ci95[0, m]), "%", "method"
            ),
            KeyFigure(
                f"{measure} of the strongest floor",
                figure_cell(results, measure, strongest, results.ci95[floor, m]),
                "%",
                "floor",
            ),
            KeyFigure("method less strongest floor", _difference(results, m), "points"),
            KeyFigure("skill: share of the way to the oracle", _skill(results, m)),
        )
    )


def _difference(results: Results, m: int) -> Cell:
    verdict = results.verdict
    return points_cell(float(verdict.difference[m]), verdict.ci95[m], results.setup.measures[m])


def _skill(results: Results, m: int) -> Cell:
    return number_cell(float(results.verdict.skill[m]), results.verdict.skill_ci95[m], NO_SKILL)


# --------------------------------------------------------------------------------------------- blocks


def blocks(results: Results) -> dict[str, tuple[Block, ...]]:
    """Show the method, floors and ceilings, and the method less the strongest floor."""
    drawings = (
        Drawing(
            "floors",
            f"{results.measure}: method, floors, ceilings",
            "Floors never see the video, so a score that they reach shows no skill. Lines are 95 % intervals by "
            "resampling videos; the dashed line is the strongest floor.",
            partial(floors_figure, results),
        ),
        Drawing(
            "measures",
            "Every measure, beside the strongest floor",
            "If a hollow diamond reaches its dot, the measure does not distinguish the method from a method without "
            "the video. The short stroke is the best of the ceilings.",
            partial(measures_figure, results),
        ),
    )
    return {FIGURES: (_figures_table(results), _verdict_table(results), *drawings)}


def _figures_table(results: Results) -> Table:
    """Return the figures of the method, floors and ceilings: one row each, one column per measure."""
    measures = results.setup.measures

    def row(title: str, scores: Scores, system: int, marked: Sequence[bool] = ()) -> tuple[Cell, ...]:
        figures = (
            figure_cell(
                results, measure, scores.value(measure), results.ci95[system, m], marked=bool(marked and marked[m])
            )
            for m, measure in enumerate(measures)
        )
        return (Cell(title), *figures)

    method = row(results.setup.predictions.name, results.scores, 0)
    floors = [
        row(floor.title, floor.scores, 1 + f, (results.verdict.strongest == f).tolist())
        for f, floor in enumerate(results.floors)
    ]
    first = 1 + len(results.floors)
    ceilings = [row(ceiling.title, ceiling.scores, first + c) for c, ceiling in enumerate(results.ceilings)]
    first += len(results.ceilings)
    context = [row(floor.title, floor.scores, first + c) for c, floor in enumerate(results.context)]
    groups = [("Method", (method,)), ("Floors", tuple(floors)), ("Ceilings", tuple(ceilings))]
    if context:
        groups.insert(2, ("Not counted: floors that read the video's other sentences", tuple(context)))
    return Table(
        "Percent, with 95 % intervals. A star marks the strongest floor of each measure.",
        ("", *map(str, measures)),
        tuple(groups),
        repeats=repeated_measures(measures, (method, *floors, *context, *ceilings), first=1),
    )


def _verdict_table(results: Results) -> Table:
    """Return the method less the strongest floor: one row per measure."""
    verdict, share, rows = results.verdict, results.cached(shares), []
    for m, measure in enumerate(results.setup.measures):
        resolves = float(verdict.resolves[m])
        rows.append(
            (
                Cell(str(measure)),
                Cell(results.strongest(m)),
                Cell(f"{verdict.kind(m)}{', little' if verdict.is_little(m) else ''}"),
                _difference(results, m),
                _skill(results, m),
                Cell(p_number(float(results.p[m]))),
                Cell(UNDEFINED if math.isnan(resolves) else points(resolves)),
                number_cell(float(share.value[m]), share.ci95[m], "the method's figure is 0 or undefined"),
            )
        )
    headings = (
        *("measure", "strongest floor", "verdict", "difference, points", "skill", "p", "detectable, points"),
        "shortcut share",
    )
    caption = (
        f"The method less the strongest of {len(results.floors)} floors on this split, with 95 % intervals that allow "
        "for its choice; p is the largest against any floor."
    )
    return Table(caption, headings, (("", tuple(rows)),), text_columns=(0, 1, 2))


def answer_table(results: Results) -> Table:
    """Return the method beside the strongest floor: one row per measure that repeats no other, the verdict's first."""
    measures, verdict = results.setup.measures, results.verdict
    percent, rows = results.setup.protocol.percent, []
    for m, measure in enumerate(measures):
        own, floor = results.scores.value(measure), results.floors[int(verdict.strongest[m])].scores.value(measure)
        figures = [UNDEFINED if math.isnan(value) else percent(value) for value in (own, floor)]
        difference = _difference(results, m)
        rows.append(
            tuple(
                map(
                    Cell,
                    (str(measure), figures[0], figures[1], results.strongest(m), difference.text, difference.below),
                )
            )
        )
    repeats = {column - 1 for column, _ in _figures_table(results).repeats}
    shown = [m for m in range(len(measures)) if m not in repeats or m == results.headline]
    shown.sort(key=lambda m: m != results.headline)
    headings = ("measure", "method, %", "floor, %", "strongest floor", "difference, points", "95 % interval")
    return Table("", headings, (("", tuple(rows[m] for m in shown)),), text_columns=(0, 3))


# ------------------------------------------------------------------------------------------- document


def document(results: Results) -> dict[str, Any]:
    """Return the figures of method, floors and ceilings, and the verdict at each measure."""
    return {
        "measures": measured(results.scores, results.ci95[0]),
        "floors": [_floor_entry(results, f) for f in range(len(results.floors))],
        "ceilings": [
            {
                "name": ceiling.name,
                "title": ceiling.title,
                "kind": "ceiling",
                "measures": measured(ceiling.scores, results.ci95[1 + len(results.floors) + c]),
            }
            for c, ceiling in enumerate(results.ceilings)
        ],
        "context_floors": [
            {
                "name": floor.name,
                "title": floor.title,
                "kind": "floor",
                "measures": measured(floor.scores, results.ci95[1 + len(results.floors) + len(results.ceilings) + c]),
            }
            for c, floor in enumerate(results.context)
        ],
        "verdict": [_verdict_entry(results, m) for m in range(len(results.setup.measures))],
    }


def _floor_entry(results: Results, f: int) -> dict[str, Any]:
    floor, verdict, measures = results.floors[f], results.verdict, results.setup.measures
    reason = "there is no validation split" if floor.floor is not None else "it has no answers on another split"
    entries = []
    for m, (measure, figure) in enumerate(zip(measures, measured(floor.scores, results.ci95[1 + f]), strict=True)):
        validated = None if floor.validated is None else floor.validated.value(measure)
        against = at_measure(verdict.against[f], verdict.against_ci95[f], measure, m).as_dict()
        entry = figure.as_dict() | {
            "answers": floor.name_at(m),
            "validation": Measured(validated, reason),
            "strongest_in": float(verdict.strongest_in[f, m]),
            "difference": against | {"p": float(results.p_values[f, m])},
        }
        if floor.draws:
            entry |= {"draws": len(floor.draws), "spread": float(floor.spread[m])}
        entries.append(entry)
    return {
        "name": floor.name,
        "title": floor.title,
        "kind": "floor",
        "measures": entries,
        "strongest_for": [str(measure) for m, measure in enumerate(measures) if verdict.strongest[m] == f],
    }


def _verdict_entry(results: Results, m: int) -> dict[str, Any]:
    verdict, measure = results.verdict, results.setup.measures[m]
    difference = at_measure(verdict.difference, verdict.ci95, measure, m).as_dict()
    return {
        "measure": str(measure),
        "verdict": verdict.kind(m),
        "little": verdict.is_little(m),
        "floor": results.floors[int(verdict.strongest[m])].name,
        "answers": results.strongest(m),
        "n_floors": len(results.floors),
        "difference": difference | {"p": float(results.p[m])},
        "resolves": Measured(float(verdict.resolves[m]), NO_INTERVAL),
        "skill": Measured(float(verdict.skill[m]), NO_SKILL, verdict.skill_ci95[m].tolist()),
    }


def floors_figure(results: Results) -> Figure:
    """Draw the headline measure of the method, the floors and the ceilings as bars with 95 % intervals."""
    setup, measure, m = results.setup, results.measure, results.headline
    baselines = [*results.floors, *results.ceilings]
    floor = results.floors[int(results.verdict.strongest[m])]
    names = [wrapped(setup.predictions.name), *(wrapped(baseline.name_at(m)) for baseline in baselines)]
    names[1 + baselines.index(floor)] += "\n(strongest floor)"
    values = 100 * np.array([scores.value(measure) for scores in (results.scores, *(r.scores for r in baselines))])
    with drawing_style():
        lines = np.array([name.count("\n") + 1 for name in names])
        heights = np.maximum(0.62 + 0.38 * lines, 1)
        at = np.cumsum(heights) - heights / 2
        figure = new_figure(0.62 + 0.26 * float(heights.sum()))
        axes = figure.add_subplot()
        for row, value in enumerate(values):
            look = _bar_look(None if row == 0 else baselines[row - 1], floor)
            draw_bar(axes, at[row], value, 100 * results.ci95[row, m], look)
        to_beat = values[1 + baselines.index(floor)]
        if np.isfinite(to_beat):
            axes.axvline(to_beat, color=FLOOR, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0.5)
        axes.set_yticks(at, names)
        axes.get_yticklabels()[0].set_fontweight("bold")
        axes.set_ylim(float(heights.sum()), 0)
        axes.tick_params(axis="y", length=0, pad=7)
        percent_axis(axes, values, results.ci95[:, m], f"{measure}, %")
    return figure


def _bar_look(baseline: FloorResult | None, strongest: FloorResult) -> tuple[str, str, str | None]:
    """Return face, edge and hatch of a bar; None is the method."""
    if baseline is None:
        return METHOD, METHOD, None
    if baseline is strongest:
        return FLOOR_FAINT, FLOOR, "////"
    return (CEILING_FAINT, CEILING, "\\\\\\\\") if baseline.kind == "ceiling" else (OTHER_FAINT, OTHER, None)


def measures_figure(results: Results) -> Figure:
    """Draw every measure: the method (dot), the strongest floor (hollow diamond), the best ceiling (stroke)."""
    own, floor = 100 * figures(results.scores), 100 * figures(results.strongest_scores)
    ceilings = 100 * np.array([figures(ceiling.scores) for ceiling in results.ceilings]).reshape(-1, len(own))
    with drawing_style():
        figure = new_figure(0.95 + 0.27 * len(own))
        axes = figure.add_subplot()
        for row in range(len(own)):
            interval_of_floor = 100 * results.ci95[1 + int(results.verdict.strongest[row]), row]
            draw_interval(axes, row + 0.12, interval_of_floor, colour=FLOOR)
            draw_interval(axes, row - 0.12, 100 * results.ci95[0, row], colour=METHOD)
        draw_dots(axes, own, floor, offset=0.12)
        best = np.max(np.nan_to_num(ceilings, nan=-1.0), axis=0, initial=-1.0)
        shown = best >= 0
        axes.plot(best[shown], np.arange(len(own))[shown], "|", color=CEILING, ms=9, mew=2, label="ceiling")
        write_undefined(axes, own)
        name_rows(axes, [str(measure) for measure in results.setup.measures], 22)
        axes.set_xlim(-1, 104)
        axes.set_xlabel("%")
        axes.grid(axis="both")
        figure.legend(loc="outside upper center", ncols=3, columnspacing=1.2, handletextpad=0.3)
    return figure
