"""The share of the score that the same model has on changed videos, so without the right video."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from truemoment.base.boundary.documents import Measured
from truemoment.base.intervals import Floats
from truemoment.evaluation.studentised import resample_ratios
from truemoment.evaluation.uncertainty import LEVEL, sums_by_video
from truemoment.report.model import Level
from truemoment.report.words import percent
from truemoment.studies.audit.checks.base import Check
from truemoment.studies.audit.checks.changed_videos import Control, controls
from truemoment.studies.audit.entries import measured
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results

NAME = "without-right-video"

MOST = 0.8
"""Maximum share of the score without a warning."""


class RemainingShare(NamedTuple):
    """The headline figure on changed videos over that on the original ones; NaN if that is 0."""

    control: Control
    share: float
    ci95: Floats


def remaining_shares(results: Results) -> tuple[RemainingShare, ...]:
    """Compute the share of the headline figure that remains under each control."""
    m, shares = results.headline, []
    for control in results.cached(controls):
        after, before = (sums_by_video(scores)[0][:, m : m + 1] for scores in (control.scores, control.original))
        stream = results.stream(f"{NAME} {control.change}")
        drawn = resample_ratios(after, before, stream, resamples=results.setup.resamples)
        shares.append(RemainingShare(control, float(drawn.value[0]), np.concatenate(drawn.bounds(LEVEL))))
    return tuple(shares)


def look(results: Results) -> AuditFinding | None:
    """State the share of the score that remains without the right video."""
    shares = [share for share in results.cached(remaining_shares) if np.isfinite(share.share)]
    if not shares:
        return None
    setup, m, measure = results.setup, results.headline, results.measure
    write = setup.protocol.percent
    most = max(shares, key=lambda share: share.share)
    bounds: tuple[tuple[float, Level], ...] = ((0.5, "good"), (MOST, "note"), (0.95, "warning"))
    level: Level = next((level for bound, level in bounds if most.share < bound), "serious")
    before, after = (scores.value(measure) for scores in (most.control.original, most.control.scores))
    verdict = (
        f"{percent(most.share, 1)} of {measure} does not need the right video: on changed videos "
        f"({most.control.words}) the model still has {write(after)} of {write(before)}, {_interval(most.ci95)}. "
        f"The strongest floor, {results.strongest(m)}, has {write(results.strongest_scores.value(measure))}."
    )
    lines = tuple(
        f"{share.control.words}: {write(share.control.scores.value(measure))}, {percent(share.share, 1)} of the score, "
        f"{_interval(share.ci95)}"
        for share in shares
    )
    note = "these are controls of this model, not blind baselines, and do not count among the floors"
    return AuditFinding(NAME, level, verdict, (*lines, note), most.share, most.share < MOST)


def _interval(ci95: Floats) -> str:
    if not np.all(np.isfinite(ci95)):
        return "95 % interval undefined"
    return f"95 % interval {100 * ci95[0]:.0f} to {100 * ci95[1]:.0f} %"


def document(results: Results) -> dict[str, Any]:
    """Return the figures under each control, and the share of the headline figure that remains."""
    return {
        "controls": [
            {
                "way": share.control.change,
                "measures": measured(share.control.scores, share.control.ci95),
                "share": Measured(
                    share.share,
                    "the figure on the original videos is 0",
                    share.ci95.tolist(),
                    measure=str(results.measure),
                ),
            }
            for share in results.cached(remaining_shares)
        ]
    }


CHECK = Check(
    name=NAME,
    title="Without the right video",
    looks_at="the share of the score that the same model has on changed videos (`--shuffled`, `--model`)",
    look=look,
    passes=f"below {MOST:g} on every kind",
    figure="the largest share",
    document=document,
)
