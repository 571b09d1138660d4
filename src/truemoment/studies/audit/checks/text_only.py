"""The share of its score that the same model has without the frames."""

from __future__ import annotations

from typing import Any

import numpy as np

from truemoment.report.model import Level
from truemoment.report.words import counted, interval95_points, p_value, points
from truemoment.studies.audit.checks.base import Check
from truemoment.studies.audit.checks.better_than_guessing import detectable_difference, why_undecided
from truemoment.studies.audit.checks.shortcut_share import MOSTLY
from truemoment.studies.audit.entries import difference, statuses
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.resampling import PairedDifference
from truemoment.studies.audit.results import Results
from truemoment.studies.evaluate.first_answers import first_answers

NAME = "text-only"

FEW_ANSWERED = 0.8
"""Share of answered queries below which the figure of a text-only model shows little."""


def with_frames(results: Results) -> PairedDifference | None:
    """Compare the method with the same model without the frames; None without its predictions."""
    number = results.text_only
    return None if number is None else results.paired(results.scores, results.floors[number].scores, NAME)


def look(results: Results) -> AuditFinding | None:
    """State the gain by the frames."""
    number, paired = results.text_only, results.cached(with_frames)
    if number is None or paired is None:
        return None
    setup, m = results.setup, results.headline
    measure, percent = results.measure, setup.protocol.percent
    floor = results.floors[number]
    own, text_only = results.scores.value(measure), floor.scores.value(measure)
    if not np.isfinite(paired.difference[m]):
        return AuditFinding(NAME, "note", f"{measure} is undefined here, so the frames show nothing.")
    share = f"{100 * text_only / own:.0f} %" if own > 0 else "share undefined"
    verdict = (
        f"Without the frames the same model has {percent(text_only)} of {percent(own)} at {measure} ({share}): the "
        f"frames add {points(paired.difference[m], sign='+')} points, {interval95_points(paired.ci95[m], sign='+')}"
    )
    better, mostly = bool(paired.ci95[m, 0] > 0), own > 0 and text_only / own >= MOSTLY
    level: Level = "serious" if not better else "warning" if mostly else "good"
    holds: bool | None = better
    if why := why_undecided(results):
        level, holds = "warning", None
        verdict += f"; {why}."
    else:
        verdict += "." if better else f". No gain is shown; {detectable_difference(float(paired.resolves[m]))}."
    answered = int(first_answers(setup.annotations, floor.predictions).answered.sum())
    if answered < FEW_ANSWERED * setup.annotations.n_queries:
        level = "note" if level == "good" else level
        queries = counted(setup.annotations.n_queries, "query", "queries")
        verdict += f" Without them it predicts a moment for only {answered:,} of {queries}, so this shows little."
    lines = [
        f"{name}: {percent(floor.scores.value(name))} without the frames, {percent(results.scores.value(name))} with: "
        f"{points(paired.difference[i], sign='+')}, {interval95_points(paired.ci95[i], sign='+')}, "
        f"{p_value(paired.p_holm[i])} (Holm, {counted(len(setup.measures), 'measure', 'measures')})"
        for i, name in enumerate(setup.measures)
        if np.isfinite(paired.difference[i])
    ]
    if (counts := statuses(floor.predictions)) is not None:
        shown = ", ".join(f"{n:,} {status}" for status, n in counts.items() if n)
        lines.append(f"answers without the frames: {shown}")
    return AuditFinding(NAME, level, verdict, tuple(lines), float(paired.difference[m]), holds)


def document(results: Results) -> dict[str, Any]:
    """Return the gain by the frames; the figures without them are among the floors."""
    paired, setup = results.cached(with_frames), results.setup
    if paired is None or results.text_only is None:
        return {"text_only": None}
    predictions = results.floors[results.text_only].predictions
    first = first_answers(setup.annotations, predictions, ranking=setup.protocol.ranking)
    return {
        "text_only": {
            "n_queries": setup.annotations.n_queries,
            "n_answered": int(first.answered.sum()),
            "statuses": statuses(predictions),
            "versus": [
                {"measure": str(measure)} | difference(paired, measure, m) for m, measure in enumerate(setup.measures)
            ],
        }
    }


CHECK = Check(
    name=NAME,
    title="Without the frames",
    looks_at="the same model without the frames (`--text-only`)",
    look=look,
    passes="it is better with the frames: the 95 % interval lies above 0",
    figure="difference between the two",
    document=document,
)
