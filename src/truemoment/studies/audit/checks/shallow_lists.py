"""Measures that look further down the lists than these reach."""

from __future__ import annotations

from truemoment.report.words import counted
from truemoment.studies.audit.checks.base import Check
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results

NAME = "shallow-lists"


def look(results: Results) -> AuditFinding | None:
    """Name the measures that look beyond the longest list."""
    depth = max(int(results.setup.predictions.lengths.max(initial=0)), 1)
    deeper = [str(m) for m in results.setup.measures if m.depth is not None and m.depth > depth]
    if not deeper:
        return None
    answers = counted(depth, "prediction", "predictions")
    verdict = (
        f"No query has more than {answers}, so {', '.join(deeper)} {'looks' if len(deeper) == 1 else 'look'} at no "
        f"more than that; floors give {answers} too."
    )
    return AuditFinding(NAME, "note", verdict)


CHECK = Check(
    name=NAME,
    title="Short lists of answers",
    looks_at="measures that look further than the lists reach",
    look=look,
)
