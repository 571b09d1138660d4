"""Measures that are deeper than the lists of predictions."""

from __future__ import annotations

from truemoment.report.words import counted
from truemoment.studies.audit.checks.base import Check
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results

NAME = "shallow-lists"


def look(results: Results) -> AuditFinding | None:
    """Name the measures that are deeper than the longest list."""
    depth = max(int(results.setup.predictions.lengths.max(initial=0)), 1)
    deeper = [str(m) for m in results.setup.measures if m.depth is not None and m.depth > depth]
    if not deeper:
        return None
    answers = counted(depth, "prediction", "predictions")
    verdict = (
        f"No query has more than {answers}, so {', '.join(deeper)} {'uses' if len(deeper) == 1 else 'use'} no more; "
        f"floors give {answers} too."
    )
    return AuditFinding(NAME, "note", verdict)


CHECK = Check(
    name=NAME,
    title="Short lists of answers",
    looks_at="measures that are deeper than the lists of predictions",
    look=look,
)
