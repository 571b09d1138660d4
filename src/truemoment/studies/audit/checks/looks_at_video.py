"""Whether the model loses on every kind of changed videos."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.base.boundary.documents import Measured
from truemoment.report.drawing import FLOOR, METHOD, METHOD_FAINT, drawing_style, new_figure, shortened
from truemoment.report.model import Block, Cell, Drawing, Level, Table
from truemoment.report.words import counted, interval95_points, number, p_number, points
from truemoment.studies.audit.charts import draw_bar, name_rows, percent_axis
from truemoment.studies.audit.checks.base import SCORE, Check
from truemoment.studies.audit.checks.better_than_guessing import detectable, too_few
from truemoment.studies.audit.checks.changed_videos import Changed, changed
from truemoment.studies.audit.entries import difference, measured
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results
from truemoment.studies.audit.table_cells import UNDEFINED, figure_cell, points_cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "looks-at-video"


def look(results: Results) -> AuditFinding | None:
    """State the loss on each kind of changed videos: all tests must succeed."""
    found = results.cached(changed)
    if found is None:
        return None
    setup, m = results.setup, results.headline
    measure, percent = results.measure, setup.protocol.percent
    known = [one for one in found.controls if np.isfinite(one.fall.difference[m])]
    if not known:
        return AuditFinding(NAME, "note", f"{measure} is undefined here, so changed videos show nothing.")
    costs = {one.words: bool(one.fall.ci95[m, 0] > 0) for one in known}
    least = min(known, key=lambda one: one.fall.difference[m])
    level: Level = "good" if all(costs.values()) else "serious"
    holds: bool | None = all(costs.values())
    figures = ", ".join(f"{percent(one.scores.value(measure))} ({one.words})" for one in known)
    verdict = (
        f"On changed videos {measure} changes from {percent(found.scores.value(measure))} to {figures}. The smallest "
        f"loss is {points(least.fall.difference[m])} points, {interval95_points(least.fall.ci95[m])}"
    )
    if why := too_few(results):
        level, holds = "warning", None
        verdict += f"; {why}."
    elif holds:
        verdict += "."
    else:
        blind = ", ".join(words for words, cost in costs.items() if not cost)
        verdict += f". No loss is shown by these changes: {blind}; {detectable(float(least.fall.resolves[m]))}."
    if not found.agrees:
        level, holds = "warning" if level == "good" else level, None
        verdict += (
            f" The file differs from what the model predicts now in {found.n_differing:,} of "
            f"{counted(len(found.scores), 'first answer', 'first answers')}, so this is not about the file."
        )
    return AuditFinding(NAME, level, verdict, tuple(_by_change(results, found)), float(least.fall.difference[m]), holds)


def _by_change(results: Results, found: Changed) -> Iterator[str]:
    """Write the losses and moves on each kind of changed videos, and how many answers are not the model's."""
    setup, m = results.setup, results.headline
    for one in found.controls:
        for i in sorted(range(len(setup.measures)), key=lambda i: i != m):
            if np.isfinite(one.fall.difference[i]):
                yield f"{one.words}: {setup.measures[i]} {one.change_at(i)}"
        moved = one.displacement
        if np.isfinite(moved.share_unchanged):
            yield (
                f"{one.words}: {100 * moved.share_unchanged:.1f} % of the first answers unchanged, "
                f"{100 * moved.share_within():.1f} % stay or move by less than a tenth of the video"
            )
        yield from (f"{one.words}, left out: {count:,} {why}" for why, count in moved.left_out.items() if count)
    yield f"first answers of the file that are not the model's now: {found.n_differing:,} of {len(found.scores):,}"


def blocks(results: Results) -> dict[str, tuple[Block, ...]]:
    """Show the figures on original and changed videos."""
    found = results.cached(changed)
    if found is None:
        return {}
    drawing = Drawing(
        "changed",
        f"{results.measure} on changed videos",
        "The same model for the same sentences on videos that are shuffled, reversed, frozen or exchanged. A model "
        "that looks at the video loses on each; the dashed line is the strongest floor. After Hidden Challenges, "
        "Fig. 5.",
        partial(changed_figure, results, found),
    )
    return {SCORE: (_table(results, found), drawing)}


def _table(results: Results, found: Changed) -> Table:
    m, measure = results.headline, results.measure

    def share(value: float) -> Cell:
        return Cell(number(100 * value, 1) if np.isfinite(value) else UNDEFINED)

    original = figure_cell(results, measure, found.scores.value(measure), found.ci95[m])
    rows = [(Cell("original"), original, *[Cell("")] * 4)]
    rows += [
        (
            Cell(one.words),
            figure_cell(results, measure, one.scores.value(measure), one.ci95[m]),
            points_cell(float(one.fall.difference[m]), one.fall.ci95[m], measure),
            Cell(p_number(one.fall.p[m])),
            share(one.displacement.share_unchanged),
            share(one.displacement.share_within()),
        )
        for one in found.controls
    ]
    headings = ("videos", f"{measure}, %", "fall, points", "p", "unchanged, %", "moved by less than 0.1, %")
    caption = (
        "The same model on changed videos, with 95 % intervals; first answers that are unchanged, or move by less than "
        "a tenth of the video, start and end together."
    )
    return Table(caption, headings, (("", tuple(rows)),))


def changed_figure(results: Results, changed: Changed) -> Figure:
    """Draw the headline measure on original and on changed videos, the floor beside (Hidden Challenges, Fig. 5)."""
    measure, m = results.measure, results.headline
    names = ["original", *(one.words for one in changed.controls)]
    values = 100 * np.array([of.value(measure) for of in (changed.scores, *(one.scores for one in changed.controls))])
    intervals = np.stack([changed.ci95[m], *(one.ci95[m] for one in changed.controls)])
    floor = 100 * results.strongest_scores.value(measure)
    with drawing_style():
        figure = new_figure(0.85 + 0.3 * len(names))
        axes = figure.add_subplot()
        for row, value in enumerate(values.tolist()):
            look = (METHOD, METHOD, None) if row == 0 else (METHOD_FAINT, METHOD, "////")
            draw_bar(axes, row, value, 100 * intervals[row], look)
        if np.isfinite(floor):
            label = f"strongest floor, {shortened(results.strongest(m), 30)}"
            axes.axvline(floor, color=FLOOR, linewidth=1.1, linestyle=(0, (4, 3)), zorder=0.5, label=label)
            figure.legend(loc="outside upper center", handletextpad=0.5)
        name_rows(axes, names, 20)
        axes.get_yticklabels()[0].set_fontweight("bold")
        percent_axis(axes, np.append(values, floor), intervals, f"{measure}, %")
    return figure


def document(results: Results) -> dict[str, Any]:
    """Return the figures on original and changed videos, and what each measure loses."""
    found, setup = results.cached(changed), results.setup
    if found is None:
        return {"changed": None}
    why = "no query is answered on both videos"
    return {
        "changed": {
            "n_differing": found.n_differing,
            "agrees": found.agrees,
            "original": measured(found.scores, found.ci95),
            "ways": [
                {
                    "way": one.change,
                    "measures": [
                        figure.as_dict() | {"fall": difference(one.fall, setup.measures[m], m)}
                        for m, figure in enumerate(measured(one.scores, one.ci95))
                    ],
                    "unchanged": Measured(one.displacement.share_unchanged, why),
                    "slightly_changed": Measured(one.displacement.share_within(), why),
                    "n_queries": int(one.displacement.compared.sum()),
                    "left_out": one.displacement.left_out,
                }
                for one in found.controls
            ],
        }
    }


CHECK = Check(
    name=NAME,
    title="Changed videos",
    looks_at="the same model on videos shuffled, reversed, frozen and exchanged (`--model`)",
    look=look,
    passes="its figure falls on each, and the file is what the model answers",
    figure="the smallest fall",
    blocks=blocks,
    document=document,
)
