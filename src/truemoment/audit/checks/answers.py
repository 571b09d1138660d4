"""Whether answers in words were read, and where the method says that there is no such moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from truemoment.audit.checks.words import interval, points, some
from truemoment.audit.findings import Finding, Level
from truemoment.audit.material import Abstaining, Material
from truemoment.io import Parsing
from truemoment.records import STATUSES, UNREADABLE_STATUSES

UNREAD: tuple[tuple[float, Level], ...] = ((0.01, "good"), (0.05, "note"), (0.2, "warning"))
"""Shares of unread answers up to which a level goes; beyond the last one it is serious."""

TOLERABLE = 0.05
"""Share of unread answers, or of wrong abstentions, that is no reason for a warning."""

N_REASONS = 5
N_EXAMPLES = 3
BEGINNING, END = 60, 100
"""Characters of a long answer that are shown: what is answered stands behind the reasoning."""


def unread_share(material: Material) -> Finding | None:
    """Tell how many answers in words could not be read, and why."""
    status = material.answers.status
    if status is None or not len(status):
        return None
    counts = Counter(status.tolist())
    total = len(status)
    unread = sum(counts[which] for which in UNREADABLE_STATUSES)
    share = unread / total
    level: Level = next((level for bound, level in UNREAD if share <= bound), "serious")
    fates = ", ".join(f"{counts[which]:,} {which}" for which in UNREADABLE_STATUSES if counts[which])
    if unread:
        verdict = (
            f"{100 * share:.1f} % of the answers in words could not be read ({unread:,} of {total:,}: {fates}); they "
            "count as wrong, not as abstentions."
        )
    else:
        verdict = f"{'All' if total > 1 else 'The'} {some(total, 'answer', 'answers')} in words could be read."
    lines = [f"{which}: {counts[which]:,} ({100 * counts[which] / total:.1f} %)" for which in STATUSES]
    match = material.case.match
    if match is not None and match.parsing is not None:
        lines += _reasons(match.parsing)
    return Finding("unread-share", level, verdict, tuple(lines), share, holds=share <= TOLERABLE)


def _reasons(parsing: Parsing) -> Iterator[str]:
    """Say why answers were not read, with examples, and how all were read."""
    reasons = [(why, n) for why, n in parsing.whys.items() if why.startswith(UNREADABLE_STATUSES)]
    for reason, n in reasons[:N_REASONS]:
        yield f"not read, as it is {reason}: {some(n, 'answer', 'answers')}"
    if len(reasons) > N_REASONS:
        yield f"not read, for other reasons: {some(sum(n for _, n in reasons[N_REASONS:]), 'answer', 'answers')}"
    first_of = {(sample.status, sample.why): sample for sample in reversed(parsing.failures)}
    others = (sample for sample in parsing.failures if sample not in first_of.values())
    for sample in [*reversed(first_of.values()), *others][:N_EXAMPLES]:
        text = " ".join(sample.text.split())
        long = len(text) > BEGINNING + END
        shown = f"{text[:BEGINNING].rstrip()} … {text[-END:].lstrip()}" if long else text
        said = f"“{shown}”" if text else "no text"
        yield f"{sample.place}: {said} ({sample.status}: {sample.why})"
    yield f"read with {parsing.reading}, version {parsing.version} of the reader"


def abstention(material: Material) -> Finding | None:
    """Tell whether the method abstains where there is no moment, and not where there is one."""
    found = material.abstaining
    if found is None:
        return None
    correct, false = (found.scores.value(measure) for measure in found.scores.measures)
    queries = some(found.n_with, "query", "queries")
    if not found.n_without:
        verdict = (
            f"The method says of {found.n_wrongly:,} of {queries} ({100 * false:.1f} %) that there is no such moment; "
            "all have one."
        )
        level: Level = "warning" if false > TOLERABLE else "note"
        lines = ("no query of this split is without a moment, so what abstaining is worth cannot be told",)
        return Finding("abstention", level, verdict, lines)
    without = some(found.n_without, "query", "queries")
    verdict = (
        f"Of {without} without a moment the method rightly abstains on {found.n_rightly:,} ({_percent(correct)}); of "
        f"{queries} with one it wrongly abstains on {found.n_wrongly:,} ({_percent(false)})"
    )
    worth = found.worth
    if not found.n_rightly and not found.n_wrongly:
        verdict += ": it never says that there is no such moment"
    elif np.isfinite(worth):
        verdict += f": a difference of {points(worth, sign=True)} points, {interval(found.ci95[2], sign=True)}"
    shown = bool(found.ci95[2, 0] > 0)
    told = np.isfinite(worth) and bool(np.all(np.isfinite(found.ci95[2])))
    if told and not shown and (found.n_rightly or found.n_wrongly):
        verdict += "; not shown to know which query has none"
    return Finding(
        "abstention",
        "good" if shown and not false > TOLERABLE else "note" if shown else "warning",
        f"{verdict}.",
        tuple(_abstentions(found)),
        float(worth) if np.isfinite(worth) else None,
        shown if told else None,
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if np.isfinite(share) else "share undefined"


def _abstentions(found: Abstaining) -> Iterator[str]:
    """Both rates with their intervals, and what they say together."""
    for figure, ci95 in zip(found.scores.measured(), found.ci95, strict=False):
        value = figure.why if figure.value is None else f"{100 * figure.value:.1f} %, {interval(ci95)}"
        yield f"{figure.measure}: {value} ({some(figure.n_queries, 'query', 'queries')})"
    yield "one that abstains always, never or at random has a difference of 0"
    yield "queries without a moment take no part in anything else that is told here"
