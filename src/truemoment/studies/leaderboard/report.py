"""The report of a leaderboard: systems with floors and ceilings, ranks, pairwise tests, history."""

from __future__ import annotations

import datetime as dt
import math
import re
import shlex
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
from truemoment.report.drawing import FLOOR, METHOD, SOFT, drawing_style, new_figure, shortened
from truemoment.report.model import Cell, Details, Drawing, Paragraph, Report, Section, Table
from truemoment.report.words import UNDEFINED, low_to_high, points
from truemoment.studies.audit import report as audit_reports
from truemoment.studies.audit.entries import measured
from truemoment.studies.audit.results import Results
from truemoment.studies.audit.table_cells import figure_cell, number_cell
from truemoment.studies.audit.verdict import NO_SKILL
from truemoment.studies.compare import report as comparison_reports
from truemoment.studies.leaderboard import Leaderboard

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMA = "truemoment/leaderboard/1"

SYSTEMS = "systems"
"""Folder of the pages of systems, beside the page of the leaderboard."""

RANKS = (
    "Rank interval",
    "The ranks that the pairwise tests leave: 1 + the number of systems that are significantly better, to the number "
    "of systems less those that are significantly worse. Tests are corrected for all pairs and measures together, so "
    "all intervals hold together (Mohamad, Goeman and van Zwet, 2022). Floors have no rank.",
)


def pages(found: Leaderboard) -> list[list[str]]:
    """Return the address of the page of each file, by system: names in small letters, numbered where they repeat."""
    seen: Counter[str] = Counter()
    addresses = []
    for system in found.systems:
        slug = re.sub(r"[^a-z0-9]+", "-", system.entry.name.lower()).strip("-")[:60] or "system"
        of_system = []
        for _ in system.audits:
            seen[slug] += 1
            of_system.append(f"{SYSTEMS}/{slug}.html" if seen[slug] == 1 else f"{SYSTEMS}/{slug}--{seen[slug]}.html")
        addresses.append(of_system)
    return addresses


def browse_command(found: Leaderboard, file: Path) -> str:
    """Return the command that shows the answers of a file; it runs in the folder of the leaderboard."""
    entries, source = found.entries, found.entries.source

    def inside(path: Path) -> str:
        return path.relative_to(entries.folder).as_posix()

    words = ["truemoment", "browse", inside(file)]
    if source.annotations is not None:
        words += ["--annotations", inside(source.annotations)]
    elif source.dataset is not None:
        made = Path(source.dataset)
        words += ["--dataset", inside(made) if made.is_relative_to(entries.folder) else source.dataset]
    words += ["--split", source.split] if source.split else []
    return shlex.join([*words, *(["--protocol", entries.protocol_words] if entries.protocol_words else [])])


# --------------------------------------------------------------------------------------------- report


def report(found: Leaderboard) -> Report:
    """Return what people read."""
    compared = found.compared
    of_comparison = comparison_reports.report(compared)
    drawings = (history(found),) if len(dated(found)) > 1 else ()
    tests: tuple[Table, ...] = (
        comparison_reports.methods_table(compared),
        comparison_reports.differences_table(compared),
    )
    if compared.network is not None:
        tests = (*tests, comparison_reports.hits_table(compared))
    sections = (
        Section("systems", "Systems", (_systems_table(found), *drawings)),
        Section("measures", "Every measure, with floors and ceilings", (_measures_table(found),), short="Measures"),
        Section("ranks", "Rank intervals", (_ranks_table(found),)),
        Section("tests", "Pairwise tests", (Details("Every pair of systems", tests),)),
        Section("browse", "Look at the answers", (Paragraph(_BROWSE), _browse_table(found)), short="Answers"),
    )
    return Report(
        title=found.entries.title,
        question="Which systems find the moments, and which guess them?",
        sections=sections,
        facts=(of_comparison.facts[0], ("protocol", f"{_protocol(found).name}: {_protocol(found).summary}")),
        notes=(*_notes(found), *of_comparison.notes),
        reading=(RANKS, *audit_reports.FLOORS, *audit_reports.FIGURES),
        signature=of_comparison.signature,
        hashes=of_comparison.hashes,
    )


_BROWSE = "Each command shows every query of a system. It runs in the folder of leaderboard.yaml."


def _protocol(found: Leaderboard) -> Protocol:
    return found.compared.comparison.first.protocol


def _notes(found: Leaderboard) -> list[str]:
    notes = ["skill and verdict are those of the audit of each system, on lists that are not cut"]
    if any(len(system.audits) > 1 for system in found.systems):
        notes.append("of a system with several files, skill and verdict are those of its first file")
    if found.shallowest.results.whole.annotations.without_moment.any():
        notes.append("floors and ceilings are measured on the queries with a moment only")
    return notes


def _systems_table(found: Leaderboard) -> Table:
    """Return the systems, the best first: who, when, what is seen, the headline figure and how far it is a merit."""
    compared, m = found.compared, found.headline
    addresses, rows = pages(found), []
    for number in found.order:
        system = found.systems[number]
        results = system.audits[0].results
        verdict, entry, beside = results.verdict, system.entry, compared.beside.get(system.entry.name)
        excess = () if compared.network is None else (Cell(UNDEFINED),)
        if beside is not None and not math.isnan(beside.excess):
            interval = low_to_high(beside.ci95, _protocol(found).decimals, times=100)
            excess = (Cell(points(beside.excess, _protocol(found).decimals, sign="+"), interval),)
        rows.append(
            (
                Cell(entry.name, entry.paper, link=addresses[number][0]),
                Cell("yes" if entry.sees_video else "no", _declared(results)),
                _figure(found, number, m),
                _rank(found, number, m),
                number_cell(float(verdict.skill[m]), verdict.skill_ci95[m], NO_SKILL),
                Cell(f"{verdict.kind(m)}{', little' if verdict.is_little(m) else ''}", results.strongest(m)),
                *excess,
                Cell("" if entry.date is None else entry.date.isoformat()),
            )
        )
    headings = ("system", "sees video", compared.heading(m), "rank", "skill", "against floors")
    extra = () if compared.network is None else ("hits where the network misses, excess",)
    return Table(
        "Systems by the headline measure, in percent, with 95 % intervals. A name opens the audit of the system. "
        "Skill: 0 is the strongest floor, 1 the oracle. Against floors: the verdict, and the strongest floor.",
        (*headings, *extra, "date"),
        (("", tuple(rows)),),
        text_columns=(0, 1, 5, 7 if extra else 6),
    )


def _declared(results: Results) -> str:
    """Write that a system is declared to read one sentence at a time, and whether its answers contradict that."""
    if results.declaration is None:
        return ""
    return "one sentence at a time" + ("" if results.declaration.holds else ", contradicted")


def _figure(found: Leaderboard, number: int, m: int) -> Cell:
    comparison = found.compared.comparison
    return figure_cell(
        found.shallowest.results,
        comparison.measures[m],
        float(comparison.mean[number, m]),
        comparison.interval[number, m],
    )


def _rank(found: Leaderboard, number: int, m: int) -> Cell:
    if math.isnan(found.compared.comparison.mean[number, m]):
        return Cell(UNDEFINED)
    first, last = found.ranks[number, m].tolist()
    return Cell(str(first) if first == last else f"{first}–{last}")


def _measures_table(found: Leaderboard) -> Table:
    """Return every measure: systems, floors and ceilings, in percent."""
    results, measures = found.shallowest.results, found.measures
    rows = [
        (Cell(found.systems[number].entry.name), *(_figure(found, number, m) for m in range(len(measures))))
        for number in found.order
    ]
    beside: dict[str, list[tuple[Cell, ...]]] = {"floor": [], "ceiling": []}
    for of, ci95 in found.beside():
        cells = (figure_cell(results, measure, of.scores.value(measure), ci95[m]) for m, measure in enumerate(measures))
        beside[of.kind].append((Cell(of.title), *cells))
    return Table(
        "Percent, with 95 % intervals by resampling videos.",
        ("", *map(found.compared.heading, range(len(measures)))),
        (("Systems", tuple(rows)), ("Floors", tuple(beside["floor"])), ("Ceilings", tuple(beside["ceiling"]))),
        repeats=repeated_measures(measures, (*rows, *beside["floor"], *beside["ceiling"]), 1),
    )


def _ranks_table(found: Leaderboard) -> Table:
    measures = range(len(found.measures))
    rows = tuple(
        (Cell(found.systems[number].entry.name), *(_rank(found, number, m) for m in measures)) for number in found.order
    )
    return Table(
        f"Ranks among {len(found.systems)} systems that the corrected tests leave, by measure. They hold together.",
        ("system", *map(found.compared.heading, measures)),
        (("", rows),),
    )


def _browse_table(found: Leaderboard) -> Table:
    rows = tuple(
        (Cell(found.systems[number].entry.name), Cell(file.name, link=address), Cell(browse_command(found, file)))
        for number in found.order
        for file, address in zip(found.entries.files[number], pages(found)[number], strict=True)
    )
    return Table("Files, their audits, and commands.", ("system", "file", "command"), (("", rows),), (0, 1, 2))


# ------------------------------------------------------------------------------------------- document


def document(found: Leaderboard) -> dict[str, Any]:
    """Return what programs read: fractions, never percent."""
    addresses = pages(found)
    systems = []
    for number, (system, files) in enumerate(zip(found.systems, found.entries.files, strict=True)):
        entry, verdict = system.entry, system.audits[0].results.verdict
        m, declaration = found.headline, system.audits[0].results.declaration
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
                "ranks": {str(of): found.ranks[number, row] for row, of in enumerate(found.measures)},
                "gate": [
                    {"condition": of.condition.text, "passed": of.passed, "why": of.why}
                    for audit in system.audits
                    for of in audit.outcomes
                ],
            }
        )
    return {
        **head(SCHEMA, found.compared.comparison.first),
        "title": found.entries.title,
        "headline": str(found.measures[found.headline]),
        "systems": systems,
        "beside": [
            {"name": of.name, "title": of.title, "kind": of.kind, "measures": measured(of.scores, ci95)}
            for of, ci95 in found.beside()
        ],
        "comparison": comparison_reports.document(found.compared),
    }


def rows(found: Leaderboard) -> list[dict[str, Any]]:
    """Return a row a system and measure, then those of floors and ceilings: fractions, NaN where undefined."""
    comparison, result = found.compared.comparison, []
    for number, system in enumerate(found.systems):
        verdict = system.audits[0].results.verdict
        for m, measure in enumerate(found.measures):
            result.append(
                _row(
                    "system",
                    system.entry.name,
                    str(measure),
                    comparison.mean[number, m],
                    comparison.interval[number, m],
                )
                | dict(zip(("rank_first", "rank_last"), found.ranks[number, m].tolist(), strict=True))
                | {"skill": float(verdict.skill[m]), "sees_video": system.entry.sees_video}
            )
    for of, ci95 in found.beside():
        for m, measure in enumerate(found.measures):
            blank = {"rank_first": None, "rank_last": None, "skill": None, "sees_video": None}
            result.append(_row(of.kind, of.title, str(measure), of.scores.value(measure), ci95[m]) | blank)
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
