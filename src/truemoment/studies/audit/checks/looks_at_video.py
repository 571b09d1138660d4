"""Whether the model's figure falls on every kind of changed videos."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from truemoment.base.boundary.documents import Measured
from truemoment.report.charts import StripChart, StripMark, StripRow, percent_mark
from truemoment.report.model import Block, Cell, Level, Table
from truemoment.report.words import interval95_points, number, p_number, points
from truemoment.studies.audit.checks.base import SCORE, Check
from truemoment.studies.audit.checks.better_than_guessing import detectable_difference, why_undecided
from truemoment.studies.audit.checks.changed_videos import ChangedVideos, changed_videos
from truemoment.studies.audit.entries import difference, measured
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results
from truemoment.studies.audit.table_cells import UNDEFINED, figure_cell, points_cell

NAME = "looks-at-video"


def look(results: Results) -> AuditFinding | None:
    """State the loss on each kind of changed videos; the check passes if all are shown."""
    model = results.cached(changed_videos)
    if model is None:
        return None
    setup, m = results.setup, results.headline
    measure, percent = results.measure, setup.protocol.percent
    known = [control for control in model.controls if np.isfinite(control.fall.difference[m])]
    if not known:
        return AuditFinding(NAME, "note", f"{measure} is undefined here, so changed videos show nothing.")
    costs = {control.words: bool(control.fall.ci95[m, 0] > 0) for control in known}
    least = min(known, key=lambda control: control.fall.difference[m])
    level: Level = "good" if all(costs.values()) else "serious"
    holds: bool | None = all(costs.values())
    figures = ", ".join(f"{percent(control.scores.value(measure))} ({control.words})" for control in known)
    verdict = (
        f"On changed videos {measure} changes from {percent(model.scores.value(measure))} to {figures}. The smallest "
        f"loss is {points(least.fall.difference[m])} points, {interval95_points(least.fall.ci95[m])}"
    )
    if why := why_undecided(results):
        level, holds = "warning", None
        verdict += f"; {why}."
    elif holds:
        verdict += "."
    else:
        blind = ", ".join(words for words, cost in costs.items() if not cost)
        verdict += (
            f". No loss is shown by these changes: {blind}; {detectable_difference(float(least.fall.resolves[m]))}."
        )
    if not model.agrees:
        level, holds = "warning" if level == "good" else level, None
        verdict += f" {model.disagreement}"
    return AuditFinding(NAME, level, verdict, tuple(_by_change(results, model)), float(least.fall.difference[m]), holds)


def _by_change(results: Results, model: ChangedVideos) -> Iterator[str]:
    """Return the losses and moves on each kind of changed videos, and the number of answers not of the model."""
    setup, m = results.setup, results.headline
    for control in model.controls:
        for i in sorted(range(len(setup.measures)), key=lambda i: i != m):
            if np.isfinite(control.fall.difference[i]):
                yield f"{control.words}: {setup.measures[i]} {control.change_at(i)}"
        moved = control.displacement
        if np.isfinite(moved.share_unchanged):
            yield (
                f"{control.words}: {100 * moved.share_unchanged:.1f} % of the first answers unchanged, "
                f"{100 * moved.share_within():.1f} % stay or move by less than a tenth of the video"
            )
        yield from (f"{control.words}, left out: {count:,} {why}" for why, count in moved.left_out.items() if count)
    yield f"first answers of the file that are not the model's now: {model.n_differing:,} of {len(model.scores):,}"


def blocks(results: Results) -> dict[str, tuple[Block, ...]]:
    """Show the figures on original and changed videos."""
    model = results.cached(changed_videos)
    if model is None:
        return {}
    return {SCORE: (_table(results, model), _strip(results, model))}


def _table(results: Results, model: ChangedVideos) -> Table:
    m, measure = results.headline, results.measure

    def share(value: float) -> Cell:
        return Cell(number(100 * value, 1) if np.isfinite(value) else UNDEFINED)

    original = figure_cell(results, measure, model.scores.value(measure), model.ci95[m])
    rows = [(Cell("original"), original, *[Cell("")] * 4)]
    rows += [
        (
            Cell(control.words),
            figure_cell(results, measure, control.scores.value(measure), control.ci95[m]),
            points_cell(float(control.fall.difference[m]), control.fall.ci95[m], measure),
            Cell(p_number(control.fall.p[m])),
            share(control.displacement.share_unchanged),
            share(control.displacement.share_within()),
        )
        for control in model.controls
    ]
    headings = ("videos", f"{measure}, %", "fall, points", "p", "unchanged, %", "moved by less than 0.1, %")
    caption = (
        "The same model on changed videos, with 95 % intervals, and the shares of first answers that are unchanged or "
        "move by less than a tenth of the video, start and end together."
    )
    return Table(caption, headings, (("", tuple(rows)),))


def _strip(results: Results, model: ChangedVideos) -> StripChart:
    measure, m = results.measure, results.headline
    floor = results.strongest_scores.value(measure)
    rows = [StripRow("original", (percent_mark("method", model.scores.value(measure), model.ci95[m]),), is_main=True)]
    rows += [
        StripRow(control.words, (percent_mark("method", control.scores.value(measure), control.ci95[m]),))
        for control in model.controls
    ]
    return StripChart(
        "changed",
        f"{measure} on changed videos",
        "The same model answers the same sentences on videos that are shuffled, reversed, frozen or exchanged. A model "
        f"that looks at the video loses on each. The dashed line is the strongest floor, {results.strongest(m)}. After "
        "Hidden Challenges, Fig. 5.",
        f"{measure}, %",
        (("", tuple(rows)),),
        line=StripMark("floor", 100 * floor),
    )


def document(results: Results) -> dict[str, Any]:
    """Return the figures on original and changed videos, and the fall of each measure."""
    model, setup = results.cached(changed_videos), results.setup
    if model is None:
        return {"changed": None}
    why = "no query is answered on both videos"
    return {
        "changed": {
            "n_differing": model.n_differing,
            "agrees": model.agrees,
            "original": measured(model.scores, model.ci95),
            "ways": [
                {
                    "way": control.change,
                    "measures": [
                        figure.as_dict() | {"fall": difference(control.fall, setup.measures[m], m)}
                        for m, figure in enumerate(measured(control.scores, control.ci95))
                    ],
                    "unchanged": Measured(control.displacement.share_unchanged, why),
                    "slightly_changed": Measured(control.displacement.share_within(), why),
                    "n_queries": int(control.displacement.compared.sum()),
                    "left_out": control.displacement.left_out,
                }
                for control in model.controls
            ],
        }
    }


CHECK = Check(
    name=NAME,
    title="Changed videos",
    looks_at="the same model on videos shuffled, reversed, frozen and exchanged (`--model`)",
    look=look,
    passes="its figure falls on each, and the file contains the model's answers",
    figure="the smallest fall",
    blocks=blocks,
    document=document,
)
