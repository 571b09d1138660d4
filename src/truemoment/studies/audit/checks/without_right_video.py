"""How much of the score does not need the right video: what the same model has on changed videos."""

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
"""Share of the score that is a warning."""


class Remaining(NamedTuple):
    """The headline figure on changed videos over that on the original ones; NaN where that is 0."""

    control: Control
    share: float
    ci95: Floats


def remaining(results: Results) -> tuple[Remaining, ...]:
    """Compute what remains of the headline figure under each control."""
    m, found = results.headline, []
    for control in results.cached(controls):
        after, before = (sums_by_video(of)[0][:, m : m + 1] for of in (control.scores, control.original))
        stream = results.stream(f"{NAME} {control.change}")
        drawn = resample_ratios(after, before, stream, resamples=results.setup.resamples)
        found.append(Remaining(control, float(drawn.value[0]), np.concatenate(drawn.bounds(LEVEL))))
    return tuple(found)


def look(results: Results) -> AuditFinding | None:
    """State how much of the score remains without the right video."""
    found = [one for one in results.cached(remaining) if np.isfinite(one.share)]
    if not found:
        return None
    setup, m, measure = results.setup, results.headline, results.measure
    write = setup.protocol.percent
    most = max(found, key=lambda one: one.share)
    bounds: tuple[tuple[float, Level], ...] = ((0.5, "good"), (MOST, "note"), (0.95, "warning"))
    level: Level = next((level for bound, level in bounds if most.share < bound), "serious")
    before, after = (of.value(measure) for of in (most.control.original, most.control.scores))
    verdict = (
        f"{percent(most.share, 1)} of {measure} does not need the right video: on changed videos "
        f"({most.control.words}) the model still has {write(after)} of {write(before)}, {_interval(most.ci95)}. "
        f"The strongest floor, {results.strongest(m)}, has {write(results.strongest_scores.value(measure))}."
    )
    lines = tuple(
        f"{one.control.words}: {write(one.control.scores.value(measure))}, {percent(one.share, 1)} of the score, "
        f"{_interval(one.ci95)}"
        for one in found
    )
    note = "these are controls of this model, not blind baselines, and are not counted among those"
    return AuditFinding(NAME, level, verdict, (*lines, note), most.share, most.share < MOST)


def _interval(ci95: Floats) -> str:
    if not np.all(np.isfinite(ci95)):
        return "95 % interval undefined"
    return f"95 % interval {100 * ci95[0]:.0f} to {100 * ci95[1]:.0f} %"


def document(results: Results) -> dict[str, Any]:
    """Return the figures under each control, and what remains of the headline figure."""
    return {
        "controls": [
            {
                "way": of.control.change,
                "measures": measured(of.control.scores, of.control.ci95),
                "share": Measured(
                    of.share, "the figure on the original videos is 0", of.ci95.tolist(), measure=str(results.measure)
                ),
            }
            for of in results.cached(remaining)
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
