"""How much of the score comes from references longer than half the video."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from truemoment.auditing.checks import curves
from truemoment.auditing.checks.base import SCORE, Check
from truemoment.auditing.checks.by_length_figure import by_length_figure
from truemoment.auditing.findings import AuditFinding
from truemoment.auditing.results import Results
from truemoment.diagnosis.slices import reference_lengths
from truemoment.intervals import Bools
from truemoment.measures import Recall
from truemoment.reports.model import Block, Drawing, Level

NAME = "long-moments"

HALF_THE_VIDEO = 0.5


def is_long(results: Results) -> Bools:
    """Return which queries have a reference longer than half the video, (Q,)."""
    length = reference_lengths(results.annotations).length_norm
    return np.asarray(np.nan_to_num(length, nan=0.0) > HALF_THE_VIDEO)


def look(results: Results) -> AuditFinding:
    """State the share of the score on long references."""
    measure, earned = results.measure, results.scores.numerator[results.headline]
    if not earned.sum() > 0:
        return AuditFinding(NAME, "note", f"The score at {measure} is 0, so it has no share on long references.")
    long = is_long(results)
    of_score, of_queries = float(earned[long].sum() / earned.sum()), float(np.mean(long))
    what = "hits" if isinstance(measure, Recall) else "score"
    verdict = (
        f"{100 * of_score:.0f} % of the {what} at {measure} {'are' if what == 'hits' else 'is'} on references longer "
        f"than half the video, which are {100 * of_queries:.0f} % of the queries."
    )
    leans = of_score > HALF_THE_VIDEO and of_score > of_queries + 0.1
    level: Level = "warning" if leans else "note" if of_score > of_queries + 0.1 else "good"
    return AuditFinding(NAME, level, verdict, (), of_score, not leans)


def blocks(results: Results) -> dict[str, tuple[Block, ...]]:
    """Draw hits and misses by length of the reference."""
    own, floor = results.cached(curves.by_length), results.cached(curves.floor_by_length)
    if own is None or floor is None:
        return {}
    drawing = Drawing(
        "by-length",
        f"{results.measure}: hits and misses by length of the reference",
        "A method that hits where its floor hits, and nowhere else, has learned lengths. After Hidden Challenges, "
        "Fig. 6.",
        partial(by_length_figure, own.norm, floor.norm),
    )
    return {SCORE: (drawing,)}


def document(results: Results) -> dict[str, Any]:
    """Return hits and misses by length of the reference."""
    own, floor = results.cached(curves.by_length), results.cached(curves.floor_by_length)
    if own is None or floor is None:
        return {"by_length": None}
    both = {"method": own, "floor": floor}
    return {
        "by_length": {
            "measure": own.measure,
            **{name: {"share_of_video": of.norm, "seconds": of.seconds} for name, of in both.items()},
        }
    }


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
