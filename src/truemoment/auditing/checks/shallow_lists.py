"""Measures that look further down the lists than these reach."""

from __future__ import annotations

from truemoment.auditing.checks.base import Check
from truemoment.auditing.findings import Finding
from truemoment.auditing.results import Results
from truemoment.auditing.words import some

NAME = "shallow-lists"


def look(results: Results) -> Finding | None:
    """Name the measures that look beyond the longest list."""
    depth = max(int(results.case.predictions.lengths.max(initial=0)), 1)
    deeper = [str(m) for m in results.case.measures if m.depth is not None and m.depth > depth]
    if not deeper:
        return None
    answers = some(depth, "prediction", "predictions")
    verdict = (
        f"No query has more than {answers}, so {', '.join(deeper)} {'looks' if len(deeper) == 1 else 'look'} at no "
        f"more than that; floors give {answers} too."
    )
    return Finding(NAME, "note", verdict)


CHECK = Check(NAME, look, "measures that look further than the lists reach")
