"""Whether the references are moments of their videos."""

from __future__ import annotations

from truemoment.studies.audit.checks.base import Check
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results

NAME = "references"


def look(results: Results) -> AuditFinding:
    """Count faulty references, and state the score of a perfect method that clips its answers."""
    annotations = results.annotations
    past = annotations.end_s > annotations.duration_s + 1e-6
    empty = annotations.end_s <= annotations.start_s
    outside = (annotations.start_s >= annotations.duration_s) | (annotations.start_s < 0)
    total = f"of {len(annotations):,} references"
    lines = tuple(
        f"{int(faulty.sum()):,} {total} {singular if faulty.sum() == 1 else plural}"
        for faulty, singular, plural in (
            (past, "ends after the end of its video", "end after the end of their video"),
            (empty, "is empty or swapped", "are empty or swapped"),
            (outside, "starts outside its video", "start outside their video"),
        )
        if faulty.any()
    )
    if not lines:
        return AuditFinding(NAME, "good", "Every reference is a moment of its video.", (), 0.0)
    verdict = f"{lines[0]}."
    if past.any() and results.setup.protocol.references in ("nearest", "first", "representative", "rows"):
        perfect = results.ceiling("perfect").scores.value(results.measure)
        verdict += (
            " A perfect model that clips its predictions to the video scores "
            f"{results.setup.protocol.percent(perfect)} at {results.measure}."
        )
    return AuditFinding(NAME, "note", verdict, lines, float((past | empty | outside).mean()))


CHECK = Check(
    name=NAME,
    title="Faults of the references",
    looks_at="references past the end, empty, swapped or outside their video",
    look=look,
    figure="share of these references",
)
