"""How much of the score comes from references longer than half the video."""

from __future__ import annotations

import numpy as np

from truemoment.auditing.checks.base import Check
from truemoment.auditing.findings import Finding, Level
from truemoment.auditing.results import Results
from truemoment.diagnosis.slices import reference_lengths
from truemoment.intervals import Bools
from truemoment.measures import Recall

NAME = "long-moments"

HALF_THE_VIDEO = 0.5


def is_long(results: Results) -> Bools:
    """Return which queries have a reference longer than half the video, (Q,)."""
    length = reference_lengths(results.annotations).length_norm
    return np.asarray(np.nan_to_num(length, nan=0.0) > HALF_THE_VIDEO)


def look(results: Results) -> Finding:
    """State the share of the score on long references."""
    measure, earned = results.measure, results.scores.numerator[results.headline]
    if not earned.sum() > 0:
        return Finding(NAME, "note", f"The score at {measure} is 0, so it has no share on long references.")
    long = is_long(results)
    of_score, of_queries = float(earned[long].sum() / earned.sum()), float(np.mean(long))
    what = "hits" if isinstance(measure, Recall) else "score"
    verdict = (
        f"{100 * of_score:.0f} % of the {what} at {measure} {'are' if what == 'hits' else 'is'} on references longer "
        f"than half the video, which are {100 * of_queries:.0f} % of the queries."
    )
    leans = of_score > HALF_THE_VIDEO and of_score > of_queries + 0.1
    level: Level = "warning" if leans else "note" if of_score > of_queries + 0.1 else "good"
    return Finding(NAME, level, verdict, (), of_score, not leans)


CHECK = Check(
    NAME,
    look,
    "share of the score on references longer than half the video",
    "at most half, or hardly more than the share of such queries",
    "the share of the score",
)
