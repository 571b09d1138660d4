"""What the whole video as the answer scores at the lowest threshold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from truemoment.auditing.checks.base import Check
from truemoment.auditing.checks.long_moments import is_long
from truemoment.auditing.findings import Finding, Level
from truemoment.auditing.results import Results
from truemoment.evaluation import evaluate
from truemoment.exceptions import MeasureError
from truemoment.measures import DiscountedRecall, Measure, Recall

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
    thresholds = [m.iou for m in results.case.measures if isinstance(m, Recall) and m.n == 1 and m.length is None]
    lowest = min(thresholds, default=0.3)
    recall, discounted = Recall(1, lowest), DiscountedRecall(1, lowest)

    def value(measure: Measure) -> float:
        try:
            scores = evaluate(results.annotations, results.floors[0].predictions, [measure], results.case.protocol)
        except MeasureError:  # the protocol does not define it
            return float("nan")
        return scores.value(measure)

    return WholeVideo(recall, discounted, value(recall), value(discounted))


def look(results: Results) -> Finding:
    """State what the whole video as the answer scores."""
    percent, found = results.case.protocol.percent, results.part(whole_video)
    verdict = f"The whole video as the answer scores {percent(found.of_recall)} at {found.recall}"
    if np.isfinite(found.of_discounted):
        verdict += f" and {percent(found.of_discounted)} at {found.discounted}, which penalises distant ends"
    lines = (
        "Closer Look (2021), section 3.2: low thresholds reward long answers where references are long",
        f"references longer than half the video: {100 * np.mean(is_long(results)):.1f} % of the queries",
    )
    level: Level = "warning" if found.of_recall >= LOOSE else "note"
    return Finding(NAME, level, f"{verdict}.", lines, found.of_recall)


CHECK = Check(NAME, look, "what the whole video as the answer scores at the lowest threshold", figure="that score")
