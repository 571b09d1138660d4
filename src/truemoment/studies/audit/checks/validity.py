"""Whether the answers are moments of their videos, and every query is answered."""

from __future__ import annotations

from truemoment.report.model import Level
from truemoment.report.words import counted
from truemoment.studies.audit.checks.abstention import count_abstentions
from truemoment.studies.audit.checks.base import Check
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results

NAME = "validity"


def look(results: Results) -> AuditFinding | None:
    """Count the faults of the answers."""
    match = results.setup.match
    if match is None:
        return None
    abstains = results.cached(count_abstentions)
    n_silent = match.empty if abstains is None else abstains.n_wrongly
    faults = (
        (match.missing, "query has no row", "queries have no row"),
        (n_silent, "query is answered with no moment", "queries are answered with no moment"),
        (match.unmatched, "row belongs to no query", "rows belong to no query"),
        (match.past_end, "answer ends after the end of its video", "answers end after the end of their video"),
        (match.zero_length, "answer has zero length", "answers have zero length"),
        (match.swapped, "answer ends before it starts", "answers end before they start"),
        (match.clipped, "answer had a negative time", "answers had a negative time"),
    )
    remarks = (
        (match.ties, "list has equal scores", "lists have equal scores"),
        (match.reordered, "list is not in order of score", "lists are not in order of score"),
    )
    problems = [counted(*fault) for fault in faults if fault[0]]
    notes = [*problems, *(counted(*remark) for remark in remarks if remark[0])]
    astray = match.past_end + match.zero_length + match.swapped
    share = astray / match.moments if match.moments else None
    if not notes:
        return AuditFinding(NAME, "good", "Every query is answered with moments of its video.", (), share, holds=True)
    n_queries = results.whole.annotations.n_queries
    total = f"{counted(match.moments, 'answer', 'answers')} to {counted(n_queries, 'query', 'queries')}"
    level: Level = "warning" if problems else "note"
    verdict = f"{'; '.join(notes[:3])} (of {total})."
    return AuditFinding(NAME, level, f"{verdict[0].upper()}{verdict[1:]}", tuple(notes), share, not problems)


CHECK = Check(
    name=NAME,
    title="Validity of the answers",
    looks_at="queries without an answer, rows without a query, answers past the end, empty, swapped or negative",
    look=look,
    passes="none of these",
    figure="share of answers past the end, empty or swapped",
)
