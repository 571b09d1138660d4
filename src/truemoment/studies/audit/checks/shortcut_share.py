"""The share of the method's figure that the strongest floor reaches without the video."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from truemoment.base.boundary.documents import Measured
from truemoment.base.intervals import Floats
from truemoment.evaluation.studentised import resample_ratios
from truemoment.evaluation.uncertainty import LEVEL, sums_by_video
from truemoment.report.model import Level
from truemoment.report.words import interval95, number
from truemoment.studies.audit.checks.base import Check
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.resampling import figures
from truemoment.studies.audit.results import Results

NAME = "shortcut-share"

MOSTLY = 0.8
"""Minimum share for which most of a figure needs no video."""


class Shares(NamedTuple):
    """The strongest floor's figure over the method's by measure; NaN if the method's is 0."""

    value: Floats  # (M,)
    ci95: Floats  # (M, 2)


def shares(results: Results) -> Shares:
    """Compute the shortcut share at every measure."""
    own, floor = (sums_by_video(scores)[0] for scores in (results.scores, results.strongest_scores))
    drawn = resample_ratios(floor, own, results.stream("shortcut share"), resamples=results.setup.resamples)
    value = np.where(figures(results.scores) > 0, drawn.value, np.nan)
    return Shares(value, np.stack(drawn.bounds(LEVEL), axis=-1))


def look(results: Results) -> AuditFinding:
    """State the shortcut share at the headline measure."""
    result, m = results.cached(shares), results.headline
    lines = tuple(
        f"{measure}: {results.strongest(i)} has "
        + (f"{number(result.value[i])}, {interval95(result.ci95[i])}" if np.isfinite(result.value[i]) else "no share")
        for i, measure in enumerate(results.setup.measures)
    )
    if not np.isfinite(result.value[m]):
        verdict = f"The shortcut share is undefined at {results.measure}: the method's figure is 0 or undefined."
        return AuditFinding(NAME, "note", verdict, lines)
    share, name = float(result.value[m]), results.strongest(m)
    bounds: tuple[tuple[float, Level], ...] = ((0.5, "good"), (MOSTLY, "note"), (1.0, "warning"))
    level: Level = next((level for bound, level in bounds if share < bound), "serious")
    verdict = (
        f"{name[0].upper()}{name[1:]} reaches {100 * share:.0f} % of the method's {results.measure} without the video "
        f"(shortcut share {number(share)}, {interval95(result.ci95[m])})."
    )
    low, high = result.ci95[m].tolist()
    return AuditFinding(NAME, level, verdict, lines, share, bool(high < MOSTLY), (low, high))


def document(results: Results) -> dict[str, Any]:
    """Return the shortcut share at every measure."""
    result = results.cached(shares)
    return {
        "shortcut_share": [
            Measured(
                float(result.value[m]),
                "the method's figure is 0 or undefined",
                result.ci95[m].tolist(),
                measure=str(measure),
                no_interval="the method's figure is 0 in some resamples",
            )
            for m, measure in enumerate(results.setup.measures)
        ]
    }


CHECK = Check(
    name=NAME,
    title="Shortcut share",
    looks_at="the strongest floor's figure on the audited split over the method's",
    look=look,
    passes=f"its 95 % interval lies below {MOSTLY:g}",
    figure="the share",
    document=document,
    against_floors=True,
)
