"""Reasons why a figure of a comparison is undefined."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from truemoment.evaluation.measures import Measure, why_undefined
from truemoment.evaluation.uncertainty import FEW_DIFFERING
from truemoment.report.words import counted
from truemoment.studies.compare.comparison import Comparison


def why_undefined_figure(comparison: Comparison, row: int) -> str:
    """Return the reason why a measure, or its interval, is undefined."""
    if np.isnan(comparison.mean[:, row]).any():
        return why_undefined(comparison.measures[row])
    counts = what_counts([comparison.measures[row]])
    return f"so few videos have a {counts} that counts that some resamples or swaps have none"


def why_unresolved(comparison: Comparison, pair: int, row: int) -> str:
    """Return the reason why `resolves` is undefined although the figures have intervals; else ""."""
    figures = comparison.interval[list(comparison.pairs[pair]), row]
    if not (math.isnan(comparison.resolves[pair, row]) and np.isfinite(figures).all()):
        return ""
    count = int(comparison.n_differing[pair, row])
    if count < FEW_DIFFERING:
        return f"they differ on {counted(count, 'video') if count else 'no videos'}"
    if not comparison.resolved_level:
        return "no difference can be significant"
    return "they differ by the same amount on every video"


def what_counts(measures: Iterable[Measure]) -> str:
    """Return what a figure needs to be defined: a query or a reference."""
    return "query" if any(measure.needs == "abstentions" for measure in measures) else "reference"
