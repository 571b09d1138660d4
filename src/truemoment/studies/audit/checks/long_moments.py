"""The share of the score on references longer than half the video."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.base.intervals import Bools
from truemoment.evaluation.measures import Recall
from truemoment.report.charts import Plot, PlotCurve
from truemoment.report.model import Block, Level
from truemoment.report.roles import ROLES
from truemoment.studies.audit.checks.base import SCORE, Check
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results
from truemoment.studies.evaluate.curves import SuccessByLength, success_by_length
from truemoment.studies.evaluate.slices import reference_lengths

if TYPE_CHECKING:
    pass

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
    name = results.setup.predictions.name
    own, floor = (system.norm for system in counts)
    bounds, total = tuple(own.bounds.tolist()), ROLES["other"].look._replace(dashes=())
    chart = Plot(
        "by-length",
        f"{results.measure}: hits by length of the reference",
        "A method that hits only where the floor hits has learned lengths. After Hidden Challenges, Fig. 6.",
        "length of the reference, share of the video",
        "queries",
        (
            PlotCurve("all queries", total, bounds, tuple((own.success + own.failure).tolist())),
            PlotCurve("hits of the strongest floor", ROLES["floor"].look, bounds, tuple(floor.success.tolist())),
            PlotCurve(f"hits of {name}", ROLES["method"].look, bounds, tuple(own.success.tolist())),
        ),
        x_end=1.0,
    )
    return {SCORE: (chart,)}


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
