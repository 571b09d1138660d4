"""The smallest difference that the split can show."""

from __future__ import annotations

import numpy as np

from truemoment.evaluation.uncertainty import videos_that_differ
from truemoment.report.words import counted, points
from truemoment.studies.audit.checks.base import Check
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results

NAME = "resolution"


def look(results: Results) -> AuditFinding:
    """State the smallest detectable difference from the strongest floor."""
    m, value = results.headline, float(results.verdict.resolves[results.headline])
    n_queries, n_videos = len(results.scores), len(set(results.scores.video_id))
    where = f"{counted(n_queries, 'query', 'queries')} in {counted(n_videos, 'video', 'videos')}"
    if not np.isfinite(value):
        n_differing = int(videos_that_differ(results.scores, results.strongest_scores)[m])
        why = f"differ on only {counted(n_differing, 'video', 'videos')}"
        if n_differing == 0:
            why = "score the same on every video"
        elif n_differing == n_videos:
            why = "differ by the same on every video"
        verdict = (
            f"With {where}, the smallest detectable difference is undefined: the method and {results.strongest(m)} "
            f"{why}."
        )
        return AuditFinding(NAME, "note", verdict)
    verdict = (
        f"With {where}, the smallest difference from the strongest floor at {results.measure} that can be detected "
        f"with 80 % power is {points(value)} points."
    )
    return AuditFinding(NAME, "note", verdict, (), value)


CHECK = Check(
    name=NAME,
    title="Detectable differences",
    looks_at="the differences that this split can show",
    look=look,
    figure="the smallest detectable difference",
)
