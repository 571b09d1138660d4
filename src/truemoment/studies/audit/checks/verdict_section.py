"""Tables, charts and JSON keys of the verdict: the figures of the method, floors and ceilings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from truemoment.base.boundary.documents import NO_INTERVAL, Measured
from truemoment.baselines.floors import FloorResult
from truemoment.evaluation.repeated_measures import caption_without_repeats, repeated_measures
from truemoment.evaluation.scores import Scores
from truemoment.report.charts import StripChart, StripRow, percent_mark
from truemoment.report.model import Block, Cell, Table
from truemoment.report.roles import RoleName
from truemoment.report.words import p_number, points
from truemoment.studies.audit.checks.base import FIGURES
from truemoment.studies.audit.checks.shortcut_share import shares
from truemoment.studies.audit.entries import at_measure, measured
from truemoment.studies.audit.resampling import figures
from truemoment.studies.audit.results import Results
from truemoment.studies.audit.table_cells import UNDEFINED, figure_cell, number_cell, points_cell
from truemoment.studies.audit.verdict import NO_SKILL


def _difference(results: Results, m: int) -> Cell:
    verdict = results.verdict
    return points_cell(float(verdict.difference[m]), verdict.ci95[m], results.setup.measures[m])


# --------------------------------------------------------------------------------------------- blocks


def blocks(results: Results) -> dict[str, tuple[Block, ...]]:
    """Show the method, floors and ceilings, and the method less the strongest floor."""
    return {FIGURES: (results.cached(_figures_table), _verdict_table(results), _measures_strip(results))}


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
    """Return the method less the strongest floor: one row per measure that repeats no other."""
    verdict, share, shown, rows = results.verdict, results.cached(shares), _distinct(results), []
    for m in shown:
        resolves = float(verdict.resolves[m])
        rows.append(
            (
                Cell(str(results.setup.measures[m])),
                Cell(results.strongest(m)),
                Cell(f"{verdict.kind(m)}{', little' if verdict.is_little(m) else ''}"),
                _difference(results, m),
                number_cell(float(verdict.skill[m]), verdict.skill_ci95[m], NO_SKILL),
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
    caption = caption_without_repeats(caption, shown, results.setup.measures)
    return Table(caption, headings, (("", tuple(rows)),), text_columns=(0, 1, 2))


def _distinct(results: Results) -> list[int]:
    """Return the measures that repeat no other, and the headline measure."""
    repeats = {column - 1 for column, _ in results.cached(_figures_table).repeats}
    return [m for m in range(len(results.setup.measures)) if m not in repeats or m == results.headline]


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
    shown = sorted(_distinct(results), key=lambda m: m != results.headline)
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


READS = {
    "nothing": "Floors that read nothing",
    "sentence": "Floors that read the sentence",
    "paragraph": "Floors that read all sentences of the video",
}
"""Headings of floors by what they read of the video's sentences."""


def floors_strip(results: Results) -> StripChart:
    """Return the headline measure of the method, the floors by what they read, and the ceilings."""
    m, measure, verdict = results.headline, results.measure, results.verdict
    strongest = results.floors[int(verdict.strongest[m])]
    systems = [*results.floors, *results.ceilings, *results.context]

    def row(baseline: FloorResult) -> StripRow:
        role: RoleName = "floor" if baseline is strongest else "other"
        if baseline.kind == "ceiling":
            role = "people" if baseline.name.startswith("human") else "ceiling"
        ci95 = results.ci95[1 + systems.index(baseline), m]
        mark = percent_mark(role, baseline.scores.value(measure), ci95)
        name = baseline.name_at(m)
        return StripRow(name[:1].upper() + name[1:], (mark,), is_main=baseline is strongest)

    def best_first(baselines: Sequence[FloorResult]) -> tuple[StripRow, ...]:
        return tuple(sorted(map(row, baselines), key=lambda row: -np.nan_to_num(row.marks[0].value, nan=-1.0)))

    own = percent_mark("method", results.scores.value(measure), results.ci95[0, m])
    groups: list[tuple[str, tuple[StripRow, ...]]] = [
        ("", (StripRow(results.setup.predictions.name, (own,), is_main=True),))
    ]
    groups += [
        (title, best_first([floor for floor in results.floors if floor.reads == reads]))
        for reads, title in READS.items()
    ]
    groups += [("Not counted: floors that read more", best_first(results.context))]
    groups += [("Ceilings", best_first(results.ceilings))]
    return StripChart(
        "floors",
        f"{measure}: the method, floors that never see the video, and ceilings",
        "The dashed line is the strongest floor.",
        f"{measure}, %",
        tuple((title, rows) for title, rows in groups if rows),
        line=percent_mark("floor", strongest.scores.value(measure), results.ci95[1 + systems.index(strongest), m]),
    )


def _measures_strip(results: Results) -> StripChart:
    """Return every measure of the method, beside its strongest floor and the best ceiling."""
    rows, values = [], [figures(ceiling.scores) for ceiling in results.ceilings]
    first_ceiling = 1 + len(results.floors)
    for m in _distinct(results):
        measure, floor = results.setup.measures[m], int(results.verdict.strongest[m])
        best = int(np.argmax([np.nan_to_num(value[m], nan=-1.0) for value in values]))
        marks = (
            percent_mark("method", results.scores.value(measure), results.ci95[0, m]),
            percent_mark("floor", results.floors[floor].scores.value(measure), results.ci95[1 + floor, m]),
            percent_mark("ceiling", values[best][m], results.ci95[first_ceiling + best, m]),
        )
        rows.append(StripRow(str(measure), marks))
    return StripChart(
        "measures",
        "Every measure, beside the strongest floor",
        "If a hollow diamond reaches its dot, the measure does not distinguish the method from a method without the "
        "video. The ceiling is the best one of the measure.",
        "%",
        (("", tuple(rows)),),
        method=results.setup.predictions.name,
    )
