"""The report on items: difficulty and guessability of queries, and ability of systems."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.base.intervals import Floats, Ints
from truemoment.report.drawing import FLOOR, METHOD, METHOD_FAINT, SMALL, new_figure, shortened
from truemoment.report.model import Cell, Drawing, Finding, Paragraph, Section, Table
from truemoment.report.roles import INK
from truemoment.report.words import UNDEFINED, counted, number, percent
from truemoment.studies.meta.items import Items

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 10
"""Number of queries in a table."""

GUESSABLE = 0.5
"""Minimum guessability of a query that is called guessable."""

MOST_NAMES, NAME_WIDTH = 30, 24
"""Maximum number of systems that a figure names, and of characters of a name."""


def section(result: Items) -> Section:
    """Return the section of the study."""
    drawings = [
        Drawing(
            "items-difficulty",
            "Difficulty of the queries, and ability of the systems",
            "Both on one scale: a system hits half of the queries of its own ability, besides those that it guesses. "
            "Bars: queries by difficulty. Dots: systems, with 95 % intervals.",
            partial(_map_figure, result),
        )
    ]
    if result.blind:
        drawings.append(
            Drawing(
                "items-guessability",
                "Difficulty and guessability",
                "Each dot is a query. Those at the top are hit without the video, whatever their difficulty.",
                partial(_guess_figure, result),
            )
        )
    model = result.model
    defined = ~np.isnan(result.hits).all(axis=0)
    order = np.flatnonzero(defined)[np.argsort(-model.difficulty[defined], kind="stable")]
    tables = [_systems_table(result), _queries_table(result, order[:SHOWN], "The most difficult queries")]
    if result.blind:
        guessable = np.argsort(-result.guessability, kind="stable")[:SHOWN]
        tables.append(_queries_table(result, guessable, "The queries that are guessed most easily"))
    return Section(
        "items",
        "Which queries are difficult, and which can be guessed?",
        (Finding(tuple(sentences(result))), *drawings, *tables, *map(Paragraph, _notes(result))),
        "Items",
    )


def sentences(result: Items) -> list[str]:
    """Return the findings."""
    model = result.model
    total = model.variance_within + model.variance_between
    findings = [
        f"At {result.measure}, difficulties differ by {number(total**0.5, 2)} (standard deviation, on the scale of "
        f"logits); {percent(model.variance_between / total)} of their variance is shared by the queries of a video."
    ]
    if result.blind:
        count = int((result.guessability >= GUESSABLE).sum())
        queries = counted(len(result.guessability), "query", "queries")
        findings.append(
            f"A blind system hits {percent(float(result.guessability.mean()))} of the queries on average; {count:,} of "
            f"{queries} have a guessability of {GUESSABLE:g} or more."
        )
    return findings


def _notes(result: Items) -> list[str]:
    few = counted(len(result.seeing), "system")
    notes = [
        f"Difficulties are posterior means: with {few}, they lie nearer to 0 than the true ones; the standard "
        "deviation of each shows its uncertainty. Systems that fail together for one reason count as if they had "
        "failed independently."
    ]
    if np.isnan(result.model.ability).any():
        notes.append(f"A system without an ability ({UNDEFINED}) hits no more than a guess does, or every query.")
    if not result.blind:
        notes.append(
            "No blind system was given, so no query counts as guessed: --baselines adds the blind baselines, and "
            "--blind NAME names others."
        )
    return notes


def _systems_table(result: Items) -> Table:
    model = result.model
    ability = model.ability
    order = np.argsort(-np.nan_to_num(ability, nan=np.inf), kind="stable").tolist()
    rows = tuple(
        (
            Cell(result.seeing[at]),
            Cell(number(100 * float(np.nanmean(result.hits[at])), 2)),
            Cell(UNDEFINED if np.isnan(ability[at]) else f"{ability[at]:+.2f} ± {model.ability_error[at]:.2f}"),
        )
        for at in order
    )
    return Table("Systems that see the video", ("system", f"{result.measure}, %", "ability"), (("", rows),))


def _queries_table(result: Items, rows_shown: Ints, title: str) -> Table:
    scores, model = result.systems.first, result.model
    rows = tuple(
        (
            Cell(str(scores.query_id[at])),
            Cell(f"{model.difficulty[at]:+.2f} ± {model.difficulty_sd[at]:.2f}"),
            Cell(f"{int(np.nansum(result.hits[:, at]))} of {int((~np.isnan(result.hits[:, at])).sum())}"),
            *([Cell(number(float(result.guessability[at]), 2))] if result.blind else []),
        )
        for at in rows_shown.tolist()
    )
    headings = ("query", "difficulty", "systems that hit it", *(["guessability"] if result.blind else []))
    return Table(title, headings, (("", rows),))


def document(result: Items) -> dict[str, Any]:
    """Return the JSON document."""
    model, scores = result.model, result.systems.first
    return {
        "measure": str(result.measure),
        "systems": [
            {
                "name": name,
                "value": float(np.nanmean(result.hits[at])),
                "ability": model.ability[at],
                "standard_error": model.ability_error[at],
            }
            for at, name in enumerate(result.seeing)
        ],
        "blind": result.blind,
        "variance_within_videos": model.variance_within,
        "variance_between_videos": model.variance_between,
        "queries": [
            {
                "query_id": str(scores.query_id[at]),
                "video_id": str(scores.video_id[at]),
                "difficulty": model.difficulty[at],
                "sd": model.difficulty_sd[at],
                "guessability": result.guessability[at],
            }
            for at in range(len(scores))
        ],
    }


def _map_figure(result: Items) -> Figure:
    """Draw difficulties above, and abilities below, on one axis."""
    model = result.model
    n_systems = len(result.seeing)
    named = n_systems <= MOST_NAMES
    figure = new_figure(1.9 + (0.18 * n_systems if named else 1.2))
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.2, max(0.18 * n_systems, 0.5) if named else 1.0))
    low, high = _reach(model.difficulty, model.ability)
    above.hist(model.difficulty, bins=np.linspace(low, high, 41).tolist(), color=METHOD_FAINT, edgecolor=INK, lw=0.4)
    above.set_ylabel("queries")
    order = np.argsort(model.ability)
    place = np.arange(n_systems)
    below.errorbar(
        model.ability[order], place, xerr=1.96 * model.ability_error[order], fmt="o", ms=4, color=METHOD, lw=1.2
    )
    below.set_yticks(
        place if named else [], [shortened(result.seeing[at], NAME_WIDTH) for at in order] if named else []
    )
    below.set_ylim(-0.7, n_systems - 0.3)
    below.set_xlim(low, high)
    below.grid(axis="x")
    below.set_xlabel("difficulty and ability (logits)")
    return figure


def _guess_figure(result: Items) -> Figure:
    """Draw each query by its difficulty and its guessability."""
    figure = new_figure(2.6)
    axes = figure.subplots()
    model = result.model
    axes.plot(model.difficulty, result.guessability, ".", color=METHOD, markersize=3, alpha=0.35, rasterized=True)
    axes.axhline(GUESSABLE, color=FLOOR, linewidth=1.0, linestyle="--")
    axes.text(1.0, GUESSABLE, " half of the time", transform=axes.get_yaxis_transform(), va="center", fontsize=SMALL)
    axes.set_xlim(*_reach(model.difficulty, np.zeros(1)))
    axes.set_ylim(0, 1)
    axes.grid()
    axes.set_xlabel("difficulty (logits)")
    axes.set_ylabel("guessability")
    return figure


def _reach(difficulty: Floats, ability: Floats) -> tuple[float, float]:
    values = np.concatenate([difficulty, ability[~np.isnan(ability)]])
    return float(values.min()) - 0.5, float(values.max()) + 0.5
