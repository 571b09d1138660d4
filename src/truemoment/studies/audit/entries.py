"""Entries of the JSON document that several checks of an audit write."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from typing import Any

from truemoment.base.boundary.documents import NO_INTERVAL, Measured
from truemoment.base.intervals import Floats
from truemoment.base.records import STATUSES, Annotations, Predictions
from truemoment.evaluation.measures import Measure, why_undefined
from truemoment.evaluation.scores import Scores
from truemoment.studies.audit.resampling import PairedDifference


def measured(scores: Scores, ci95: Floats) -> list[Measured]:
    """Return the figures of a system with their 95 % intervals, (M, 2)."""
    figures = zip(scores.measured(), ci95.tolist(), strict=True)
    return [dataclasses.replace(figure, ci95=ends) for figure, ends in figures]


def at_measure(value: Floats, ci95: Floats, measure: Measure, m: int) -> Measured:
    """Return the value at measure m with its 95 % interval."""
    return Measured(float(value[m]), why_undefined(measure), ci95[m].tolist())


def difference(paired: PairedDifference, measure: Measure, m: int) -> dict[str, Any]:
    """Return the difference of two systems at a measure with its interval and p-values."""
    entry = at_measure(paired.difference, paired.ci95, measure, m).as_dict()
    entry = {"difference": entry.pop("value")} | entry | {"p": float(paired.p[m]), "p_holm": float(paired.p_holm[m])}
    if not (math.isfinite(entry["p"]) and math.isfinite(entry["p_holm"])):
        entry.setdefault("why", NO_INTERVAL)
    return entry | {"resolves": Measured(float(paired.resolves[m]), NO_INTERVAL)}


def statuses(predictions: Predictions) -> dict[str, int] | None:
    """Count answers in words by status; None if the predictions are numbers."""
    if predictions.status is None:
        return None
    counts = Counter(predictions.status.tolist())
    return {status: counts[status] for status in STATUSES}


def split(annotations: Annotations) -> dict[str, Any]:
    """Return the name, hash and size of a split."""
    return {
        "split": annotations.split,
        "sha256": annotations.sha256,
        "n_queries": annotations.n_queries,
        "n_videos": annotations.n_videos,
        "n_references": len(annotations),
    }
