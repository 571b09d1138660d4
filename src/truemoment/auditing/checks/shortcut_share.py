"""How much of the method's figure the strongest floor has without the video."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from truemoment.auditing.checks.base import Check
from truemoment.auditing.findings import Finding, Level
from truemoment.auditing.results import Results, figures
from truemoment.auditing.words import number, plain_interval
from truemoment.intervals import Floats
from truemoment.studentised import resample_ratios
from truemoment.uncertainty import LEVEL, sums_by_video

MOSTLY = 0.8
"""A share from which most of a figure needs no video."""


class Shares(NamedTuple):
    """The strongest floor's figure over the method's; a row a measure, NaN where the method's is 0.

    Parameters
    ----------
    value : (M,)
    ci95 : (M, 2)
    """

    value: Floats
    ci95: Floats


def shares(results: Results) -> Shares:
    """Compute the shortcut share at every measure."""
    own, floor = (sums_by_video(of)[0] for of in (results.scores, results.strongest_scores))
    drawn = resample_ratios(floor, own, results.stream("shortcut share"), resamples=results.case.resamples)
    value = np.where(figures(results.scores) > 0, drawn.value, np.nan)
    return Shares(value, np.stack(drawn.bounds(LEVEL), axis=-1))


def look(results: Results) -> Finding:
    """State the shortcut share at the headline measure."""
    found, m = results.part(shares), results.headline
    lines = tuple(
        f"{measure}: {results.strongest(i)} has "
        + (f"{number(found.value[i])}, {plain_interval(found.ci95[i])}" if np.isfinite(found.value[i]) else "no share")
        for i, measure in enumerate(results.case.measures)
    )
    if not np.isfinite(found.value[m]):
        verdict = f"The shortcut share is undefined at {results.measure}: the method's figure is 0 or undefined."
        return Finding("shortcut-share", "note", verdict, lines)
    share, name = float(found.value[m]), results.strongest(m)
    bounds: tuple[tuple[float, Level], ...] = ((0.5, "good"), (MOSTLY, "note"), (1.0, "warning"))
    level: Level = next((level for bound, level in bounds if share < bound), "serious")
    verdict = (
        f"{name[0].upper()}{name[1:]} reaches {100 * share:.0f} % of the method's {results.measure} without the video "
        f"(shortcut share {number(share)}, {plain_interval(found.ci95[m])})."
    )
    return Finding("shortcut-share", level, verdict, lines, share, share < MOSTLY)


CHECK = Check(
    "shortcut-share",
    look,
    "the strongest floor's figure on the audited split over the method's",
    f"below {MOSTLY:g}",
    "the share",
)
