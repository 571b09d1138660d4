"""The share of answers in words that could not be read, and the reasons."""

from __future__ import annotations

from collections.abc import Iterator

from truemoment.base.records import UNREADABLE_STATUSES
from truemoment.data.formats import Parsing
from truemoment.report.model import Level
from truemoment.report.words import counted
from truemoment.studies.audit.checks.base import Check
from truemoment.studies.audit.entries import statuses
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results

NAME = "unread-share"

UNREAD: tuple[tuple[float, Level], ...] = ((0.01, "good"), (0.05, "note"), (0.2, "warning"))
"""Maximum share of unread answers for each level; above the last one the level is serious."""

TOLERABLE = 0.05
"""Maximum share of unread answers that passes."""

N_REASONS = 5
N_EXAMPLES = 3
BEGINNING, END = 60, 100
"""Number of characters of a long answer that are shown: the answer itself follows the reasoning."""


def look(results: Results) -> AuditFinding | None:
    """Count the answers in words that could not be read."""
    counts = statuses(results.whole.predictions)
    if not counts or not any(counts.values()):
        return None
    total = sum(counts.values())
    unread = sum(counts[status] for status in UNREADABLE_STATUSES)
    share = unread / total
    level: Level = next((level for bound, level in UNREAD if share <= bound), "serious")
    fates = ", ".join(f"{counts[status]:,} {status}" for status in UNREADABLE_STATUSES if counts[status])
    if unread:
        verdict = (
            f"{100 * share:.1f} % of the answers in words could not be read ({unread:,} of {total:,}: {fates}); they "
            "count as wrong, not as abstentions."
        )
    else:
        verdict = f"{'All' if total > 1 else 'The'} {counted(total, 'answer', 'answers')} in words could be read."
    lines = [f"{status}: {n:,} ({100 * n / total:.1f} %)" for status, n in counts.items()]
    match = results.setup.match
    if match is not None and match.parsing is not None:
        lines += _reasons(match.parsing)
    return AuditFinding(NAME, level, verdict, tuple(lines), share, holds=share <= TOLERABLE)


def _reasons(parsing: Parsing) -> Iterator[str]:
    """Return the reasons for unread answers, with examples, and the reader."""
    reasons = [(why, n) for why, n in parsing.whys.items() if why.startswith(UNREADABLE_STATUSES)]
    for reason, n in reasons[:N_REASONS]:
        yield f"not read, {reason}: {counted(n, 'answer', 'answers')}"
    if len(reasons) > N_REASONS:
        yield f"not read, for other reasons: {counted(sum(n for _, n in reasons[N_REASONS:]), 'answer', 'answers')}"
    first_of = {(sample.status, sample.why): sample for sample in reversed(parsing.failures)}
    others = (sample for sample in parsing.failures if sample not in first_of.values())
    for sample in [*reversed(first_of.values()), *others][:N_EXAMPLES]:
        text = " ".join(sample.text.split())
        long = len(text) > BEGINNING + END
        shown = f"{text[:BEGINNING].rstrip()} … {text[-END:].lstrip()}" if long else text
        quoted = f"“{shown}”" if text else "no text"
        yield f"{sample.place}: {quoted} ({sample.status}: {sample.why})"
    yield f"read with {parsing.reading}, version {parsing.version} of the reader"


CHECK = Check(
    name=NAME,
    title="Answers in words",
    looks_at="answers in words that could not be read: refused, ambiguous or failed",
    look=look,
    passes=f"at most {100 * TOLERABLE:.0f} %",
    figure="share of the answers",
)
