"""How much of the score does not need the right video: what the same model has on changed videos."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from truemoment.auditing.checks.base import Check
from truemoment.auditing.checks.changed_videos import Control, controls
from truemoment.auditing.findings import Finding, Level
from truemoment.auditing.results import Results
from truemoment.auditing.words import percent
from truemoment.intervals import Floats
from truemoment.studentised import resample_ratios
from truemoment.uncertainty import LEVEL, sums_by_video

NAME = "without-right-video"

MOST = 0.8
"""Share of the score from which a reviewer will ask what the video is for."""


class Remaining(NamedTuple):
    """What remains of the headline figure under a control.

    Parameters
    ----------
    control
        The changed videos.
    share, ci95
        The figure on changed videos over that on the original ones, and its 95 % interval; NaN where that is 0.
    """

    control: Control
    share: float
    ci95: Floats


def remaining(results: Results) -> tuple[Remaining, ...]:
    """Compute what remains of the headline figure under each control."""
    m, found = results.headline, []
    for control in results.part(controls):
        after, before = (sums_by_video(of)[0][:, m : m + 1] for of in (control.scores, control.original))
        stream = results.stream(f"{NAME} {control.way}")
        drawn = resample_ratios(after, before, stream, resamples=results.case.resamples)
        found.append(Remaining(control, float(drawn.value[0]), np.concatenate(drawn.bounds(LEVEL))))
    return tuple(found)


def look(results: Results) -> Finding | None:
    """State how much of the score remains without the right video."""
    found = [one for one in results.part(remaining) if np.isfinite(one.share)]
    if not found:
        return None
    case, m, measure = results.case, results.headline, results.measure
    write = case.protocol.percent
    most = max(found, key=lambda one: one.share)
    bounds: tuple[tuple[float, Level], ...] = ((0.5, "good"), (MOST, "note"), (0.95, "warning"))
    level: Level = next((level for bound, level in bounds if most.share < bound), "serious")
    before, after = (of.value(measure) for of in (most.control.original, most.control.scores))
    verdict = (
        f"{percent(most.share)} of {measure} does not need the right video: on changed videos ({most.control.words}) "
        f"the model still has {write(after)} of {write(before)}, {_interval(most.ci95)}. The strongest floor, "
        f"{results.strongest(m)}, has {write(results.strongest_scores.value(measure))}."
    )
    lines = tuple(
        f"{one.control.words}: {write(one.control.scores.value(measure))}, {percent(one.share)} of the score, "
        f"{_interval(one.ci95)}"
        for one in found
    )
    note = "these are controls of this model, not blind baselines, and are not counted among those"
    return Finding(NAME, level, verdict, (*lines, note), most.share, most.share < MOST)


def _interval(ci95: Floats) -> str:
    if not np.all(np.isfinite(ci95)):
        return "95 % interval undefined"
    return f"95 % interval {100 * ci95[0]:.0f} to {100 * ci95[1]:.0f} %"


CHECK = Check(
    NAME,
    look,
    "the share of the score that the same model has on changed videos (`--shuffled`, `--model`)",
    f"below {MOST:g} on every kind",
    "the largest share",
)
