"""The share of the score on references longer than half the video."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.base.intervals import Bools
from truemoment.evaluation.measures import Recall
from truemoment.report.drawing import FLOOR, METHOD, OTHER, PAPER, TEXT, drawing_style, new_figure
from truemoment.report.model import Block, Drawing, Level
from truemoment.studies.audit.checks.base import SCORE, Check
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results
from truemoment.studies.evaluate.curves import LengthCounts, SuccessByLength, success_by_length
from truemoment.studies.evaluate.slices import reference_lengths

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME = "long-moments"

HALF_THE_VIDEO = 0.5


def is_long(results: Results) -> Bools:
    """Return which queries have a reference longer than half the video, (Q,)."""
    length = reference_lengths(results.annotations).length_norm
    return np.asarray(np.nan_to_num(length, nan=0.0) > HALF_THE_VIDEO)


def by_length(results: Results) -> tuple[SuccessByLength, SuccessByLength] | None:
    """Count hits and misses of the method and of the strongest floor; None if the headline is not a recall."""
    measure, floor = results.measure, results.floors[int(results.verdict.strongest[results.headline])]
    if not isinstance(measure, Recall):
        return None
    floor_scores = floor.draws[0] if floor.draws else floor.scores
    method, strongest = (
        success_by_length(scores, results.annotations, measure) for scores in (results.scores, floor_scores)
    )
    return method, strongest


def look(results: Results) -> AuditFinding:
    """State the share of the score on long references."""
    measure, earned = results.measure, results.scores.numerator[results.headline]
    if not earned.sum() > 0:
        return AuditFinding(NAME, "note", f"The score at {measure} is 0, so it has no share on long references.")
    long = is_long(results)
    of_score, of_queries = float(earned[long].sum() / earned.sum()), float(np.mean(long))
    unit = "hits" if isinstance(measure, Recall) else "score"
    verdict = (
        f"{100 * of_score:.0f} % of the {unit} at {measure} {'are' if unit == 'hits' else 'is'} on references longer "
        f"than half the video, which are {100 * of_queries:.0f} % of the queries."
    )
    fails = of_score > HALF_THE_VIDEO and of_score > of_queries + 0.1
    level: Level = "warning" if fails else "note" if of_score > of_queries + 0.1 else "good"
    return AuditFinding(NAME, level, verdict, (), of_score, not fails)


def blocks(results: Results) -> dict[str, tuple[Block, ...]]:
    """Draw hits and misses by length of the reference."""
    counts = results.cached(by_length)
    if counts is None:
        return {}
    drawing = Drawing(
        "by-length",
        f"{results.measure}: hits and misses by length of the reference",
        "A method that hits only where the floor hits has learned lengths. After Hidden Challenges, Fig. 6.",
        partial(by_length_figure, *(system.norm for system in counts)),
    )
    return {SCORE: (drawing,)}


def by_length_figure(own: LengthCounts, floor: LengthCounts) -> Figure:
    """Draw hits and misses by length of the reference: the method beside the floor (Hidden Challenges, Fig. 6)."""
    panels = (("the method", own, METHOD), ("strongest floor", floor, FLOOR))
    with drawing_style():
        figure = new_figure(2.7)
        both = figure.subplots(1, 2, sharey=True)
        for axes, (title, counts, colour) in zip(both, panels, strict=True):
            _stacked(axes, counts, colour)
            axes.set_title(title)
            axes.set_xlim(0, 1)
            axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
            axes.grid(axis="y")
            axes.legend(loc="upper right", handlelength=1.2, handletextpad=0.4)
        both[0].set_ylabel("queries")
        both[0].yaxis.get_major_locator().set_params(integer=True)
        figure.supxlabel("length of the reference, share of the video", fontsize=TEXT)
    return figure


def _stacked(axes: Axes, counts: LengthCounts, colour: str) -> None:
    start, width = counts.bounds[:-1], np.diff(counts.bounds)
    axes.bar(start, counts.success, width, align="edge", color=colour, edgecolor=PAPER, linewidth=0.4, label="hits")
    axes.bar(
        start,
        counts.failure,
        width,
        counts.success,
        align="edge",
        color=PAPER,
        edgecolor=OTHER,
        hatch="/////",
        linewidth=0.5,
        label="misses",
    )


def document(results: Results) -> dict[str, Any]:
    """Return hits and misses by length of the reference."""
    counts = results.cached(by_length)
    if counts is None:
        return {"by_length": None}
    own, floor = ({"share_of_video": system.norm, "seconds": system.seconds} for system in counts)
    return {"by_length": {"measure": counts[0].measure, "method": own, "floor": floor}}


CHECK = Check(
    name=NAME,
    title="Long references",
    looks_at="share of the score on references longer than half the video",
    look=look,
    passes="at most half, or hardly more than the share of such queries",
    figure="the share of the score",
    blocks=blocks,
    document=document,
)
