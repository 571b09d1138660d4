"""The score of the whole video as the answer, at the lowest threshold."""

from __future__ import annotations

from typing import Any

import numpy as np

from truemoment.base.errors import MeasureError
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import DiscountedRecall, Measure, Recall
from truemoment.report.model import Block
from truemoment.report.roles import ROLES
from truemoment.studies.audit.checks.base import SCORE, Check
from truemoment.studies.audit.checks.long_moments import is_long
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results
from truemoment.studies.evaluate.curves import Curves, curves_plot, recall_curves

NAME = "loose-threshold"

LOOKS = (*(ROLES[name].look for name in ("method", "floor", "other")), ROLES["other"].look._replace(marker="^"))
"""Looks of the curves: the method, its strongest floor, and others."""

LOOSE = 0.4
"""Minimum score of the whole video as the answer at a threshold that is called loose."""


def curves(results: Results) -> tuple[tuple[str, Curves], ...]:
    """Return R and dR against the threshold of the method, the strongest floor, PredictAll and the text-only model."""
    results.on_status("curves")
    setup, floors = results.setup, results.floors
    strongest = int(results.verdict.strongest[results.headline])
    shown = dict.fromkeys([strongest, 0, *([] if results.text_only is None else [results.text_only])])
    answered = [(setup.predictions.name, setup.predictions), *((floors[f].title, floors[f].predictions) for f in shown)]
    return tuple((name, recall_curves(setup.annotations, answers, setup.protocol)) for name, answers in answered)


def _value(results: Results, measure: Measure) -> float:
    """Return the figure of PredictAll; NaN if the protocol does not define the measure."""
    try:
        scores = evaluate(results.annotations, results.floors[0].predictions, [measure], results.setup.protocol)
    except MeasureError:
        return float("nan")
    return scores.value(measure)


def look(results: Results) -> AuditFinding:
    """State the score of PredictAll at the lowest threshold among the measures; at 0.3 if they have none."""
    percent = results.setup.protocol.percent
    thresholds = [m.iou for m in results.setup.measures if isinstance(m, Recall) and m.n == 1 and m.length is None]
    lowest = min(thresholds, default=0.3)
    recall, discounted = Recall(1, lowest), DiscountedRecall(1, lowest)
    recall_value, discounted_value = _value(results, recall), _value(results, discounted)
    verdict = f"The whole video as the answer scores {percent(recall_value)} at {recall}"
    if np.isfinite(discounted_value):
        verdict += f" and {percent(discounted_value)} at {discounted}, which penalises distant ends"
    lines = (
        "Closer Look (2021), section 3.2: low thresholds reward long answers where references are long",
        f"references longer than half the video: {100 * np.mean(is_long(results)):.1f} % of the queries",
    )
    return AuditFinding(NAME, "warning" if recall_value >= LOOSE else "note", f"{verdict}.", lines, recall_value)


def blocks(results: Results) -> dict[str, tuple[Block, ...]]:
    """Draw R@1 and dR@1 against the threshold."""
    return {SCORE: (curves_plot(results.cached(curves), LOOKS),)}


def document(results: Results) -> dict[str, Any]:
    """Return R and dR against the threshold."""
    return {"curves": [{"of": name} | _curves(curve) for name, curve in results.cached(curves)]}


def _curves(curve: Curves) -> dict[str, Any]:
    entry = {
        "thresholds": curve.thresholds,
        "ranks": curve.ranks,
        "recall": curve.recall,
        "discounted": curve.discounted,
    }
    defined = np.all(np.isfinite(curve.recall)) and np.all(np.isfinite(curve.discounted))
    return entry if defined else entry | {"why": curve.why or "no query counts"}


CHECK = Check(
    name=NAME,
    title="Low thresholds",
    looks_at="the score of the whole video as the answer, at the lowest threshold",
    look=look,
    figure="that score",
    blocks=blocks,
    document=document,
)
