"""Whether the method's figure falls if its videos are shuffled."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.base.boundary.documents import Measured
from truemoment.report.drawing import METHOD, METHOD_FAINT, SMALL, draw_cells, drawing_style, new_figure, scale_legend
from truemoment.report.model import Block, Drawing
from truemoment.report.words import interval95_points, points
from truemoment.studies.audit.checks.base import SCORE, Check
from truemoment.studies.audit.checks.better_than_guessing import detectable_difference
from truemoment.studies.audit.checks.changed_videos import shuffled_control
from truemoment.studies.audit.entries import difference, statuses
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results
from truemoment.studies.audit.shuffled import Displacement

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "uses-video"


def look(results: Results) -> AuditFinding | None:
    """State the loss on shuffled videos."""
    control = results.cached(shuffled_control)
    if control is None:
        return None
    setup, m = results.setup, results.headline
    measure, percent = results.measure, setup.protocol.percent
    moved, fall = control.displacement, control.fall
    if not np.isfinite(moved.share_unchanged) or not np.isfinite(fall.difference[m]):
        return AuditFinding(NAME, "note", "No query is answered on both videos, so shuffling shows nothing.")
    falls = bool(fall.ci95[m, 0] > 0)
    before, after = results.scores.value(measure), control.scores.value(measure)
    verdict = (
        f"Shuffling the video changes {100 * (1 - moved.share_unchanged):.0f} % of the first answers; "
        f"{100 * moved.share_within():.0f} % stay or move by less than a tenth of the video, at start and end. "
        f"{measure} changes from {percent(before)} to {percent(after)}: {points(after - before, sign='+')} points, "
        f"{interval95_points(-fall.ci95[m][::-1], sign='+')}"
        + ("." if falls else f". No loss is shown; {detectable_difference(float(fall.resolves[m]))}.")
    )
    lines = [
        f"{name}: {control.change_at(i)}" for i, name in enumerate(setup.measures) if np.isfinite(fall.difference[i])
    ]
    unread = int(control.answers.unreadable.sum())
    if unread:
        lines.append(
            f"answers on shuffled videos that could not be read, which count as wrong: {unread:,} (on the original "
            f"ones: {int(setup.predictions.unreadable.sum()):,})"
        )
    lines += [f"left out: {count:,} {why}" for why, count in moved.left_out.items() if count]
    lines.append(
        "2D-TAN: 67.9 % of first answers unchanged on ActivityNet Captions (Hidden Challenges, section 4), 41.9 % on "
        "Charades-STA (its authors' notebook)"
    )
    return AuditFinding(NAME, "good" if falls else "serious", verdict, tuple(lines), float(fall.difference[m]), falls)


def blocks(results: Results) -> dict[str, tuple[Block, ...]]:
    """Draw the displacement of first answers if the video is shuffled."""
    control = results.cached(shuffled_control)
    if control is None or not control.displacement.compared.any():
        return {}
    drawing = Drawing(
        "displacement",
        "How answers move when the video is shuffled",
        "Answers in the corner at 0 do not move although the video is shuffled. After Hidden Challenges, Fig. F.",
        partial(displacement_figure, control.displacement),
    )
    return {SCORE: (drawing,)}


DISPLACEMENT_BOUNDS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Class bounds of the density of displacements, as a multiple of an even spread over the square."""


def displacement_figure(moved: Displacement) -> Figure:
    """Draw the displacement of start and end on shuffled videos, with marginals (Hidden Challenges, Fig. F)."""
    density = moved.density()
    n_queries = int(density.counts.sum())
    with drawing_style():
        figure = new_figure(4.3)
        grid = figure.add_gridspec(2, 2, width_ratios=(4, 1), height_ratios=(1, 4))
        axes = figure.add_subplot(grid[1, 0])
        draw_cells(axes, density.density, density.bounds, DISPLACEMENT_BOUNDS)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.set_xlabel("|s - s'|, share of the video")
        axes.set_ylabel("|e - e'|, share of the video")
        axes.grid(axis="both")
        shares = f"{100 * moved.share_unchanged:.1f} % unchanged\n{100 * moved.share_within():.1f} % within 0.1"
        axes.text(0.97, 0.97, shares, ha="right", va="top", fontsize=SMALL)
        top = figure.add_subplot(grid[0, 0], sharex=axes)
        right = figure.add_subplot(grid[1, 1], sharey=axes)
        start, end = (100 * density.counts.sum(axis=axis) / max(n_queries, 1) for axis in (1, 0))
        top.stairs(start, density.bounds, fill=True, color=METHOD_FAINT, edgecolor=METHOD)
        right.stairs(end, density.bounds, fill=True, color=METHOD_FAINT, edgecolor=METHOD, orientation="horizontal")
        top.set_ylabel("%")
        right.set_xlabel("%")
        top.tick_params(labelbottom=False)
        right.tick_params(labelleft=False)
        scale_legend(figure, DISPLACEMENT_BOUNDS, "times as dense as evenly spread displacements")
    return figure


def document(results: Results) -> dict[str, Any]:
    """Return the displacement of answers on shuffled videos, and the fall of each measure."""
    control = results.cached(shuffled_control)
    if control is None:
        return {"shuffled": None}
    moved, why = control.displacement, "no query is answered in both files"
    figures = zip(results.setup.measures, control.scores.measured(), strict=True)
    return {
        "shuffled": {
            "unchanged": Measured(moved.share_unchanged, why),
            "slightly_changed": Measured(moved.share_within(), why),
            "n_queries": int(moved.compared.sum()),
            "left_out": moved.left_out,
            "statuses": statuses(control.answers),
            "measures": [
                Measured(figure.value, figure.why, measure=figure.measure).as_dict()
                | {"fall": difference(control.fall, measure, m)}
                for m, (measure, figure) in enumerate(figures)
            ],
        }
    }


CHECK = Check(
    name=NAME,
    title="Shuffled videos",
    looks_at="the same method on shuffled videos (`--shuffled`, `--model`)",
    look=look,
    passes="its figure falls: the 95 % interval of the fall lies above 0",
    figure="the fall",
    blocks=blocks,
    document=document,
)
