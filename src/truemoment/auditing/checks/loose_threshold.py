"""What the whole video as the answer scores at the lowest threshold."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from truemoment.auditing.checks import curves
from truemoment.auditing.checks.base import SCORE, Check
from truemoment.auditing.checks.long_moments import is_long
from truemoment.auditing.findings import AuditFinding
from truemoment.auditing.results import Results
from truemoment.diagnosis.curves import Curves
from truemoment.evaluation import evaluate
from truemoment.exceptions import MeasureError
from truemoment.measures import DiscountedRecall, Measure, Recall
from truemoment.reports.drawing import FLOOR, INK, METHOD, OTHER, PAPER, SOFT, drawing_style, new_figure, shortened
from truemoment.reports.model import Block, Drawing, Level
from truemoment.text import one_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "loose-threshold"

LOOSE = 0.4
"""A figure of the whole video as the answer from which a threshold is called loose."""


class WholeVideo(NamedTuple):
    """R@1 and dR@1 at the lowest threshold measured, and what PredictAll has there; NaN where it is undefined."""

    recall: Recall
    discounted: DiscountedRecall
    of_recall: float
    of_discounted: float


def whole_video(results: Results) -> WholeVideo:
    """Measure PredictAll at the lowest threshold among the measures; at 0.3 where there is none."""
    thresholds = [m.iou for m in results.setup.measures if isinstance(m, Recall) and m.n == 1 and m.length is None]
    lowest = min(thresholds, default=0.3)
    recall, discounted = Recall(1, lowest), DiscountedRecall(1, lowest)

    def value(measure: Measure) -> float:
        try:
            scores = evaluate(results.annotations, results.floors[0].predictions, [measure], results.setup.protocol)
        except MeasureError:  # the protocol does not define it
            return float("nan")
        return scores.value(measure)

    return WholeVideo(recall, discounted, value(recall), value(discounted))


def look(results: Results) -> AuditFinding:
    """State what the whole video as the answer scores."""
    percent, found = results.setup.protocol.percent, results.cached(whole_video)
    verdict = f"The whole video as the answer scores {percent(found.of_recall)} at {found.recall}"
    if np.isfinite(found.of_discounted):
        verdict += f" and {percent(found.of_discounted)} at {found.discounted}, which penalises distant ends"
    lines = (
        "Closer Look (2021), section 3.2: low thresholds reward long answers where references are long",
        f"references longer than half the video: {100 * np.mean(is_long(results)):.1f} % of the queries",
    )
    level: Level = "warning" if found.of_recall >= LOOSE else "note"
    return AuditFinding(NAME, level, f"{verdict}.", lines, found.of_recall)


def blocks(results: Results) -> dict[str, tuple[Block, ...]]:
    """Draw R@1 and dR@1 against the threshold."""
    drawing = Drawing(
        "curves",
        "R@1 and dR@1 against the threshold",
        "Where a solid line (R@1) lies far above its dashed one (dR@1), hits have ends far from those of the "
        "reference. After Closer Look, Fig. 8.",
        partial(curves_figure, results.cached(curves.curves)),
    )
    return {SCORE: (drawing,)}


def curves_figure(shown: Sequence[tuple[str, Curves]]) -> Figure:
    """Draw R@1 and dR@1 against the threshold m (Closer Look, Fig. 8): four curves at most, the first of the method."""
    looks = ((METHOD, "o"), (FLOOR, "D"), (OTHER, "^"), (INK, "s"))
    with drawing_style():
        figure = new_figure(3.4)
        axes = figure.add_subplot()
        highest = 0.0
        for number, (name, of) in enumerate(shown):
            colour, marker = looks[number]
            every = (number, len(shown) + 1)
            title = shortened(one_line(name), 24)
            recall, discounted = 100 * of.recall[0], 100 * of.discounted[0]
            axes.plot(of.thresholds, recall, color=colour, marker=marker, markevery=every, label=title)
            axes.plot(
                of.thresholds,
                discounted,
                color=colour,
                marker=marker,
                mfc=PAPER,
                markevery=every,
                linestyle=(0, (3, 2)),
            )
            highest = max(highest, float(np.nanmax(recall, initial=0)))
        axes.plot([], [], color=SOFT, label="R@1")
        axes.plot([], [], color=SOFT, linestyle=(0, (3, 2)), mfc=PAPER, label="dR@1")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, max(highest * 1.03, 1))
        axes.set_xlabel("threshold m on the IoU")
        axes.set_ylabel("% of the queries")
        axes.grid(axis="both")
        figure.legend(loc="outside upper center", ncols=3, columnspacing=1.2)  # within, it would cover high scores
    return figure


def document(results: Results) -> dict[str, Any]:
    """Return R and dR against the threshold."""
    return {"curves": [{"of": name} | _curves(of) for name, of in results.cached(curves.curves)]}


def _curves(found: Curves) -> dict[str, Any]:
    entry = {
        "thresholds": found.thresholds,
        "ranks": found.ranks,
        "recall": found.recall,
        "discounted": found.discounted,
    }
    defined = np.all(np.isfinite(found.recall)) and np.all(np.isfinite(found.discounted))
    return entry if defined else entry | {"why": found.why or "no query counts"}


CHECK = Check(
    name=NAME,
    title="Low thresholds",
    looks_at="what the whole video as the answer scores at the lowest threshold",
    look=look,
    figure="that score",
    blocks=blocks,
    document=document,
)
