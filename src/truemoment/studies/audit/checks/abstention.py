"""Whether the method abstains on queries without a moment, and only on these."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from truemoment.base.boundary.documents import Measured
from truemoment.base.intervals import Floats
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import CorrectAbstention, FalseAbstention
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import bootstrap, interval95
from truemoment.report.model import Level
from truemoment.report.words import counted, interval95_points, percent, points
from truemoment.studies.audit.checks.base import Check
from truemoment.studies.audit.checks.unread_share import TOLERABLE
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.resampling import figures
from truemoment.studies.audit.results import Results

NAME = "abstention"


class AbstentionCounts(NamedTuple):
    """CorrectAbstention and FalseAbstention over the whole split, and the counts behind them."""

    scores: Scores
    n_rightly: int
    n_without: int
    n_wrongly: int
    n_with: int
    ci95: Floats  # (3, 2), of both measures, and of the first less the second

    @property
    def worth(self) -> float:
        """CorrectAbstention less FalseAbstention: 0 on average for a method that abstains always, never or randomly."""
        correct, false = figures(self.scores)
        return float(correct - false)


def count_abstentions(results: Results) -> AbstentionCounts | None:
    """Count abstentions over the whole split; None if every query has a moment and the method never abstains."""
    whole = results.whole
    annotations, predictions = whole.annotations, whole.predictions
    without = annotations.without_moment
    abstains = np.append(predictions.abstains, False)[predictions.rows_of(annotations.queries.query_id)]
    if not without.any() and not abstains.any():
        return None
    scores = evaluate(annotations, predictions, [CorrectAbstention(), FalseAbstention()], whole.protocol)
    drawn = bootstrap(scores, results.stream(NAME), resamples=whole.resamples)
    ci95 = interval95(np.column_stack([drawn, drawn[:, 0] - drawn[:, 1]]))
    return AbstentionCounts(
        scores,
        int((abstains & without).sum()),
        int(without.sum()),
        int((abstains & ~without).sum()),
        int((~without).sum()),
        ci95 if annotations.n_videos > 1 else np.full_like(ci95, np.nan),
    )


def look(results: Results) -> AuditFinding | None:
    """State how often the method abstains rightly and wrongly."""
    abstentions = results.cached(count_abstentions)
    if abstentions is None:
        return None
    correct, false = figures(abstentions.scores).tolist()
    queries = counted(abstentions.n_with, "query", "queries")
    if not abstentions.n_without:
        verdict = (
            f"The method answers that there is no such moment for {abstentions.n_wrongly:,} of {queries} "
            f"({100 * false:.1f} %), but every query has one."
        )
        level: Level = "warning" if false > TOLERABLE else "note"
        lines = ("every query of this split has a moment, so right abstentions cannot be counted",)
        return AuditFinding(NAME, level, verdict, lines)
    others = counted(abstentions.n_without, "query", "queries")
    verdict = (
        f"The method abstains rightly on {abstentions.n_rightly:,} of {others} without a moment "
        f"({percent(correct, 1)}), and wrongly on {abstentions.n_wrongly:,} of {queries} with one ({percent(false, 1)})"
    )
    worth = abstentions.worth
    if not abstentions.n_rightly and not abstentions.n_wrongly:
        verdict += ": it never abstains"
    elif np.isfinite(worth):
        verdict += (
            f": a difference of {points(worth, sign='+')} points, {interval95_points(abstentions.ci95[2], sign='+')}"
        )
    shown = bool(abstentions.ci95[2, 0] > 0)
    known = np.isfinite(worth) and bool(np.all(np.isfinite(abstentions.ci95[2])))
    if known and not shown and (abstentions.n_rightly or abstentions.n_wrongly):
        verdict += "; this does not show that it recognises queries without a moment"
    return AuditFinding(
        NAME,
        "good" if shown and not false > TOLERABLE else "note" if shown else "warning",
        f"{verdict}.",
        tuple(_rates(abstentions)),
        float(worth) if np.isfinite(worth) else None,
        shown if known else None,
    )


def _rates(abstentions: AbstentionCounts) -> Iterator[str]:
    """Return both rates with their intervals, and the meaning of their difference."""
    for figure, ci95 in zip(abstentions.scores.measured(), abstentions.ci95, strict=False):
        value = figure.why if figure.value is None else f"{100 * figure.value:.1f} %, {interval95_points(ci95)}"
        yield f"{figure.measure}: {value} ({counted(figure.n_queries or 0, 'query', 'queries')})"
    yield "a method that abstains always, never or randomly has a difference of 0"
    yield "queries without a moment count in no other figure of this audit"


def document(results: Results) -> dict[str, Any]:
    """Return the counts and rates of abstentions."""
    abstentions = results.cached(count_abstentions)
    if abstentions is None:
        return {"abstention": None}
    rates = abstentions.scores.measured()
    measures = [
        dataclasses.replace(figure, ci95=ci95, on_threshold=None)
        for figure, ci95 in zip(rates, abstentions.ci95[:2].tolist(), strict=True)
    ]
    why = next((figure.why for figure in rates if figure.why), "")
    return {
        "abstention": {
            "n_without_moment": abstentions.n_without,
            "n_rightly": abstentions.n_rightly,
            "n_with_moment": abstentions.n_with,
            "n_wrongly": abstentions.n_wrongly,
            "measures": measures,
            "worth": Measured(abstentions.worth, why, abstentions.ci95[2].tolist()),
        }
    }


CHECK = Check(
    name=NAME,
    title="Abstaining",
    looks_at="the queries for which the method answers that there is no such moment, and those without a moment",
    look=look,
    passes="it abstains significantly more often on queries without a moment",
    figure="CorrectAbstention less FalseAbstention",
    document=document,
)
