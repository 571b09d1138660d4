"""The report of a leaderboard: systems with floors and ceilings, ranks, pairwise tests, history."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from truemoment.base.boundary.documents import Measured
from truemoment.base.intervals import Floats
from truemoment.evaluation.head import head
from truemoment.evaluation.protocols import Protocol
from truemoment.evaluation.repeated_measures import repeated_measures
from truemoment.report.drawing import FLOOR, METHOD, drawing_style, new_figure, shortened
from truemoment.report.model import Cell, Details, Drawing, Paragraph, Report, Section, Table
from truemoment.report.roles import SOFT
from truemoment.report.words import UNDEFINED, low_to_high, points
from truemoment.studies.audit import report as audit_reports
from truemoment.studies.audit.entries import measured
from truemoment.studies.audit.results import Results
from truemoment.studies.audit.table_cells import figure_cell, number_cell
from truemoment.studies.audit.verdict import NO_SKILL
from truemoment.studies.compare import report as comparison_reports
from truemoment.studies.compare.ranking import rank_text
from truemoment.studies.leaderboard.running import Leaderboard

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from truemoment.studies.leaderboard.entries import SystemEntry

SCHEMA = "truemoment/leaderboard/1"

SYSTEMS = "systems"
"""Folder of the pages of systems, beside the page of the leaderboard."""

RANKS = (
    "Rank interval",
    "The ranks that the pairwise tests leave: 1 + the number of systems that are significantly better, to the number "
    "of systems less those that are significantly worse. Tests are corrected for all pairs and measures together, so "
    "all intervals are valid together (Mohamad, Goeman and van Zwet, 2022). Floors have no rank.",
)


def pages(board: Leaderboard) -> list[list[str]]:
    """Return the address of the page of each file, by system: names in small letters, numbered where they repeat."""
    counts: Counter[str] = Counter()
    addresses = []
    for system in board.systems:
        slug = re.sub(r"[^a-z0-9]+", "-", system.entry.name.lower()).strip("-")[:60] or "system"
        of_system = []
        for _ in system.audits:
            counts[slug] += 1
            of_system.append(
                f"{SYSTEMS}/{slug}.html" if counts[slug] == 1 else f"{SYSTEMS}/{slug}--{counts[slug]}.html"
            )
        addresses.append(of_system)
    return addresses


def browse_command(board: Leaderboard, system: SystemEntry, file: Path) -> str:
    """Return the command that shows the answers of a system's file; it runs in the folder of the leaderboard."""
    entries, source = board.entries, board.entries.source

    def relative(path: Path) -> str:
        return path.relative_to(entries.folder).as_posix()

    words = []
    if source.annotations is not None:
        reading = entries.reading
        words += ["--annotations", relative(source.annotations)]
        words += ["--fields", reading.fields] if reading.fields else []
        words += ["--durations", relative(Path(reading.durations))] if reading.durations else []
    elif source.dataset is not None:
        dataset = Path(source.dataset)
        words += ["--dataset", relative(dataset) if dataset.is_relative_to(entries.folder) else source.dataset]
    words += ["--split", source.split] if source.split else []
    words += ["--protocol", entries.protocol_words] if entries.protocol_words else []
    words += ["--axis", system.axis] if system.axis else []
    words += ["--prediction-fields", system.prediction_fields] if system.prediction_fields else []
    return audit_reports.confident_and_wrong(relative(file), words)


# --------------------------------------------------------------------------------------------- report


def report(board: Leaderboard) -> Report:
    """Return the report of a leaderboard."""
    compared = board.compared
    of_comparison = comparison_reports.report(compared)
    drawings = (history(board),) if len(dated(board)) > 1 else ()
    tests: tuple[Table, ...] = (
        comparison_reports.methods_table(compared),
        comparison_reports.differences_table(compared),
    )
    if compared.network is not None:
        tests = (*tests, comparison_reports.hits_table(compared))
    sections = (
        Section("systems", "Systems", (_systems_table(board), *drawings)),
        Section("measures", "Every measure, with floors and ceilings", (_measures_table(board),), short="Measures"),
        Section("ranks", "Rank intervals", (_ranks_table(board),)),
        Section("tests", "Pairwise tests", (Details("Every pair of systems", tests),)),
        Section("browse", "Look at the answers", (Paragraph(_BROWSE), _browse_table(board)), short="Answers"),
    )
    return Report(
        title=board.entries.title,
        question="Which systems find the moments, and which guess them?",
        headline=of_comparison.headline,
        answer=of_comparison.answer,
        sections=sections,
        facts=(of_comparison.facts[0], ("protocol", f"{_protocol(board).name}: {_protocol(board).summary}")),
        notes=(*_notes(board), *of_comparison.notes),
        reading=(RANKS, *audit_reports.FLOORS, *audit_reports.FIGURES),
        signature=of_comparison.signature,
        hashes=of_comparison.hashes,
    )


_BROWSE = "Each command shows every query of a system. It runs in the folder of leaderboard.yaml."


def _protocol(board: Leaderboard) -> Protocol:
    return board.compared.comparison.first.protocol


def _notes(board: Leaderboard) -> list[str]:
    notes = ["skill and verdict are those of the audit of each system, on lists that are not cut"]
    if any(len(system.audits) > 1 for system in board.systems):
        notes.append("of a system with several files, skill and verdict are those of its first file")
    if board.shallowest.results.whole.annotations.without_moment.any():
        notes.append("floors and ceilings are measured on the queries with a moment only")
    return notes


def _systems_table(board: Leaderboard) -> Table:
    """Return the systems, the best first: input, headline figure, rank, skill and verdict."""
    compared, m, has_dates = board.compared, board.headline, bool(dated(board))
    addresses, rows = pages(board), []
    for number in board.order:
        system = board.systems[number]
        results = system.audits[0].results
        verdict, entry, hits = results.verdict, system.entry, compared.network_hits.get(system.entry.name)
        excess = () if compared.network is None else (Cell(UNDEFINED),)
        if hits is not None and not math.isnan(hits.excess):
            interval = low_to_high(hits.ci95, _protocol(board).decimals, times=100)
            excess = (Cell(points(hits.excess, _protocol(board).decimals, sign="+"), interval),)
        rows.append(
            (
                Cell(entry.name, entry.paper, link=addresses[number][0]),
                Cell("yes" if entry.sees_video else "no", _declared(results)),
                _figure(board, number, m),
                _rank(board, number, m),
                number_cell(float(verdict.skill[m]), verdict.skill_ci95[m], NO_SKILL),
                Cell(f"{verdict.kind(m)}{', little' if verdict.is_little(m) else ''}", results.strongest(m)),
                *excess,
                *([Cell("" if entry.date is None else entry.date.isoformat())] if has_dates else []),
            )
        )
    headings = ("system", "sees video", compared.heading(m), "rank", "skill", "against floors")
    extra = () if compared.network is None else ("hits where the network misses, excess",)
    return Table(
        "Systems by the headline measure, in percent, with 95 % intervals. A name opens the audit of the system. "
        "Skill: 0 is the strongest floor, 1 the references. Against floors: the verdict, and the strongest floor.",
        (*headings, *extra, *(["date"] if has_dates else [])),
        (("", tuple(rows)),),
        text_columns=(0, 1, 5, *([6 + len(extra)] if has_dates else [])),
    )


def _declared(results: Results) -> str:
    """Return the declaration that a system reads one sentence at a time, and whether its answers contradict it."""
    if results.declaration is None:
        return ""
    return "one sentence at a time" + ("" if results.declaration.holds else ", contradicted")


def _figure(board: Leaderboard, number: int, m: int) -> Cell:
    comparison = board.compared.comparison
    return figure_cell(
        board.shallowest.results,
        comparison.measures[m],
        float(comparison.mean[number, m]),
        comparison.interval[number, m],
    )


def _rank(board: Leaderboard, number: int, m: int) -> Cell:
    if math.isnan(board.compared.comparison.mean[number, m]):
        return Cell(UNDEFINED)
    return Cell(rank_text(*board.ranks[number, m].tolist()))


def _measures_table(board: Leaderboard) -> Table:
    """Return every measure: systems, floors and ceilings, in percent."""
    results, measures = board.shallowest.results, board.measures
    rows = [
        (Cell(board.systems[number].entry.name), *(_figure(board, number, m) for m in range(len(measures))))
        for number in board.order
    ]
    groups: dict[str, list[tuple[Cell, ...]]] = {"floor": [], "ceiling": []}
    for floor, ci95 in board.controls():
        cells = (
            figure_cell(results, measure, floor.scores.value(measure), ci95[m]) for m, measure in enumerate(measures)
        )
        groups[floor.kind].append((Cell(floor.title), *cells))
    return Table(
        "Percent, with 95 % intervals by resampling videos.",
        ("", *map(board.compared.heading, range(len(measures)))),
        (("Systems", tuple(rows)), ("Floors", tuple(groups["floor"])), ("Ceilings", tuple(groups["ceiling"]))),
        repeats=repeated_measures(measures, (*rows, *groups["floor"], *groups["ceiling"]), 1),
    )


def _ranks_table(board: Leaderboard) -> Table:
    measures = range(len(board.measures))
    rows = tuple(
        (Cell(board.systems[number].entry.name), *(_rank(board, number, m) for m in measures)) for number in board.order
    )
    return Table(
        f"Ranks among {len(board.systems)} systems that the corrected tests allow, by measure; valid together.",
        ("system", *map(board.compared.heading, measures)),
        (("", rows),),
    )


def _browse_table(board: Leaderboard) -> Table:
    rows = tuple(
        (
            Cell(board.systems[number].entry.name),
            Cell(file.name, link=address),
            Cell(browse_command(board, board.systems[number].entry, file)),
        )
        for number in board.order
        for file, address in zip(board.entries.files[number], pages(board)[number], strict=True)
    )
    return Table("Files, their audits, and commands.", ("system", "file", "command"), (("", rows),), (0, 1, 2))


# ------------------------------------------------------------------------------------------- document


def document(board: Leaderboard) -> dict[str, Any]:
    """Return the JSON document of a leaderboard; fractions, never percent."""
    addresses = pages(board)
    systems = []
    for number, (system, files) in enumerate(zip(board.systems, board.entries.files, strict=True)):
        entry, verdict = system.entry, system.audits[0].results.verdict
        m, declaration = board.headline, system.audits[0].results.declaration
        systems.append(
            {
                "name": entry.name,
                "paper": entry.paper,
                "date": None if entry.date is None else entry.date.isoformat(),
                "sees_video": entry.sees_video,
                "reads": entry.reads,
                "reads_stands": None if declaration is None else declaration.holds,
                "files": [file.name for file in files],
                "pages": addresses[number],
                "verdict": verdict.kind(m),
                "skill": Measured(float(verdict.skill[m]), NO_SKILL, verdict.skill_ci95[m].tolist()),
                "ranks": {str(measure): board.ranks[number, row] for row, measure in enumerate(board.measures)},
                "gate": [
                    outcome._asdict() | {"condition": outcome.condition.text}
                    for audit in system.audits
                    for outcome in audit.outcomes
                ],
            }
        )
    return {
        **head(SCHEMA, board.compared.comparison.first),
        "title": board.entries.title,
        "headline": str(board.measures[board.headline]),
        "systems": systems,
        "beside": [
            {"name": floor.name, "title": floor.title, "kind": floor.kind, "measures": measured(floor.scores, ci95)}
            for floor, ci95 in board.controls()
        ],
        "comparison": comparison_reports.document(board.compared),
    }


def rows(board: Leaderboard) -> list[dict[str, Any]]:
    """Return a row a system and measure, then those of floors and ceilings: fractions, NaN where undefined."""
    comparison, result = board.compared.comparison, []
    for number, system in enumerate(board.systems):
        verdict = system.audits[0].results.verdict
        for m, measure in enumerate(board.measures):
            result.append(
                _row(
                    "system",
                    system.entry.name,
                    str(measure),
                    comparison.mean[number, m],
                    comparison.interval[number, m],
                )
                | dict(zip(("rank_first", "rank_last"), board.ranks[number, m].tolist(), strict=True))
                | {"skill": float(verdict.skill[m]), "sees_video": system.entry.sees_video}
            )
    for floor, ci95 in board.controls():
        for m, measure in enumerate(board.measures):
            blank = {"rank_first": None, "rank_last": None, "skill": None, "sees_video": None}
            result.append(_row(floor.kind, floor.title, str(measure), floor.scores.value(measure), ci95[m]) | blank)
    return result


def _row(kind: str, name: str, measure: str, value: float, ci95: Floats) -> dict[str, Any]:
    low, high = ci95.tolist()
    return {"kind": kind, "system": name, "measure": measure, "value": float(value), "low": low, "high": high}


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


def dated(board: Leaderboard) -> list[Dated]:
    """Return the systems with a date at the headline measure, by date."""
    comparison, m = board.compared.comparison, board.headline
    of_systems = [
        Dated(system.entry.date, system.entry.name, 100 * float(comparison.mean[s, m]), 100 * comparison.interval[s, m])
        for s, system in enumerate(board.systems)
        if system.entry.date is not None
    ]
    return sorted(of_systems, key=lambda system: system[:2])


def history(board: Leaderboard) -> Drawing:
    """Return the figure: dots by date, the best so far, and the strongest floor."""
    return Drawing(
        "history",
        f"{board.compared.heading(board.headline)} by date",
        "Dots are systems with a date, the line is the best so far; lines through a dot are 95 % intervals. The dashed "
        "line is the strongest floor of the table below.",
        partial(_drawn, board),
    )


def _drawn(board: Leaderboard) -> Figure:
    systems = dated(board)
    floor = max(row.scores.value(board.measures[board.headline]) for row, _ in board.controls() if row.kind == "floor")
    years = [system.year for system in systems]
    with drawing_style():
        figure = new_figure(HEIGHT_IN)
        axes = figure.subplots()
        axes.axhline(100 * floor, color=FLOOR, linestyle="--")
        axes.step(years, np.fmax.accumulate([system.percent for system in systems]), where="post", color=SOFT)
        for system in systems:
            if np.isfinite(system.ci95).all():
                axes.plot([system.year, system.year], system.ci95, color=METHOD)
            axes.plot([system.year], [system.percent], "o", color=METHOD)
            axes.annotate(
                shortened(system.name, 30), (system.year, system.percent), xytext=(6, 6), textcoords="offset points"
            )
        span = max(years[-1] - years[0], 0.5)
        axes.set_xlim(years[0] - span / 12, years[-1] + span / 2)
        axes.set_ylim(bottom=0)
        axes.ticklabel_format(axis="x", useOffset=False)
        axes.locator_params(axis="x", nbins=5)
        axes.set_xlabel("year", color=SOFT)
        axes.set_ylabel("%", color=SOFT)
    return figure
