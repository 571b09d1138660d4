"""How much of its score the same model has without the frames."""

from __future__ import annotations

from collections import Counter

import numpy as np

from truemoment.auditing.checks.base import Check
from truemoment.auditing.checks.better_than_guessing import too_few
from truemoment.auditing.checks.shortcut_share import MOSTLY
from truemoment.auditing.findings import Finding, Level
from truemoment.auditing.results import Paired, Results
from truemoment.auditing.words import detectable, interval, p_value, points, some
from truemoment.diagnosis.answers import first_answers
from truemoment.records import STATUSES

NAME = "text-only"

FEW_ANSWERED = 0.8
"""Share of the queries that a text-only model must answer for its figure to say much."""


def with_frames(results: Results) -> Paired | None:
    """Compare the method with the same model without the frames; None where that was not given."""
    number = results.text_only
    return None if number is None else results.paired(results.scores, results.floors[number].scores, NAME)


def look(results: Results) -> Finding | None:
    """State what the frames add."""
    number, paired = results.text_only, results.part(with_frames)
    if number is None or paired is None:
        return None
    case, m = results.case, results.headline
    measure, percent = results.measure, case.protocol.percent
    floor = results.floors[number]
    own, without = results.scores.value(measure), floor.scores.value(measure)
    if not np.isfinite(paired.difference[m]):
        return Finding(NAME, "note", f"{measure} is undefined here, so the frames show nothing.")
    share = f"{100 * without / own:.0f} %" if own > 0 else "share undefined"
    verdict = (
        f"Without the frames the same model has {percent(without)} of {percent(own)} at {measure} ({share}): the "
        f"frames add {points(paired.difference[m], sign=True)} points, {interval(paired.ci95[m], sign=True)}"
    )
    better, mostly = bool(paired.ci95[m, 0] > 0), own > 0 and without / own >= MOSTLY
    level: Level = "serious" if not better else "warning" if mostly else "good"
    holds: bool | None = better
    if why := too_few(results):
        level, holds = "warning", None
        verdict += f"; {why}."
    else:
        verdict += "." if better else f". No gain is shown; {detectable(float(paired.resolves[m]))}."
    answered = int(first_answers(case.annotations, floor.predictions).answered.sum())
    if answered < FEW_ANSWERED * case.annotations.n_queries:
        level = "note" if level == "good" else level
        queries = some(case.annotations.n_queries, "query", "queries")
        verdict += f" Without them it names a moment for only {answered:,} of {queries}, so this shows little."
    lines = [
        f"{name}: {percent(floor.scores.value(name))} without the frames, {percent(results.scores.value(name))} with: "
        f"{points(paired.difference[i], sign=True)}, {interval(paired.ci95[i], sign=True)}, "
        f"{p_value(paired.p_holm[i])} (Holm, {some(len(case.measures), 'measure', 'measures')})"
        for i, name in enumerate(case.measures)
        if np.isfinite(paired.difference[i])
    ]
    if floor.predictions.status is not None:
        fates = Counter(floor.predictions.status.tolist())
        counts = (f"{fates[fate]:,} {fate}" for fate in STATUSES if fates[fate])
        lines.append(f"answers without the frames: {', '.join(counts)}")
    return Finding(NAME, level, verdict, tuple(lines), float(paired.difference[m]), holds)


CHECK = Check(
    NAME,
    look,
    "the same model without the frames (`--text-only`)",
    "it is better with them: the 95 % interval lies above 0",
    "difference between the two",
)
