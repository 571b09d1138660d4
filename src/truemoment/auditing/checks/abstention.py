"""Whether the method abstains where there is no moment, and not where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from truemoment.auditing.checks.base import Check
from truemoment.auditing.checks.unread_share import TOLERABLE
from truemoment.auditing.findings import Finding, Level
from truemoment.auditing.results import Results, figures
from truemoment.auditing.words import interval, percent, points, some
from truemoment.evaluation import evaluate
from truemoment.intervals import Floats
from truemoment.measures import CorrectAbstention, FalseAbstention
from truemoment.scores import Scores
from truemoment.uncertainty import bootstrap, interval95

NAME = "abstention"


class Abstaining(NamedTuple):
    """Where the method answers that there is no such moment; figures are fractions, NaN where undefined.

    Parameters
    ----------
    scores
        CorrectAbstention and FalseAbstention over the whole split, queries without a moment included.
    n_rightly, n_without
        Queries without a moment on which the method abstains, and how many there are of them.
    n_wrongly, n_with
        The same of queries that have one.
    ci95 : (3, 2)
        95 % intervals: of the two, and of the first less the second.
    """

    scores: Scores
    n_rightly: int
    n_without: int
    n_wrongly: int
    n_with: int
    ci95: Floats

    @property
    def worth(self) -> float:
        """CorrectAbstention less FalseAbstention: 0 on average for one that abstains always, never or at random."""
        correct, false = figures(self.scores)
        return float(correct - false)


def abstaining(results: Results) -> Abstaining | None:
    """Count abstentions over the whole split; None where every query has a moment and the method never abstains."""
    handed = results.handed
    annotations, predictions = handed.annotations, handed.predictions
    row, without = predictions.rows_of(annotations.queries.query_id), annotations.without_moment
    abstains = (row >= 0) & np.append(predictions.abstains, False)[row]
    if not without.any() and not abstains.any():
        return None
    scores = evaluate(annotations, predictions, [CorrectAbstention(), FalseAbstention()], handed.protocol)
    drawn = bootstrap(scores, results.stream(NAME), resamples=handed.resamples)
    ci95 = interval95(np.column_stack([drawn, drawn[:, 0] - drawn[:, 1]]))
    return Abstaining(
        scores,
        int((abstains & without).sum()),
        int(without.sum()),
        int((abstains & ~without).sum()),
        int((~without).sum()),
        ci95 if annotations.n_videos > 1 else np.full_like(ci95, np.nan),
    )


def look(results: Results) -> Finding | None:
    """State how often the method abstains rightly and wrongly."""
    found = results.part(abstaining)
    if found is None:
        return None
    correct, false = figures(found.scores).tolist()
    queries = some(found.n_with, "query", "queries")
    if not found.n_without:
        verdict = (
            f"The method answers that there is no such moment for {found.n_wrongly:,} of {queries} "
            f"({100 * false:.1f} %); all have one."
        )
        level: Level = "warning" if false > TOLERABLE else "note"
        lines = ("every query of this split has a moment, so right abstentions cannot be counted",)
        return Finding(NAME, level, verdict, lines)
    without = some(found.n_without, "query", "queries")
    verdict = (
        f"The method abstains rightly on {found.n_rightly:,} of {without} without a moment ({percent(correct)}), and "
        f"wrongly on {found.n_wrongly:,} of {queries} with one ({percent(false)})"
    )
    worth = found.worth
    if not found.n_rightly and not found.n_wrongly:
        verdict += ": it never abstains"
    elif np.isfinite(worth):
        verdict += f": a difference of {points(worth, sign=True)} points, {interval(found.ci95[2], sign=True)}"
    shown = bool(found.ci95[2, 0] > 0)
    known = np.isfinite(worth) and bool(np.all(np.isfinite(found.ci95[2])))
    if known and not shown and (found.n_rightly or found.n_wrongly):
        verdict += "; it is not shown to know which query has none"
    return Finding(
        NAME,
        "good" if shown and not false > TOLERABLE else "note" if shown else "warning",
        f"{verdict}.",
        tuple(_rates(found)),
        float(worth) if np.isfinite(worth) else None,
        shown if known else None,
    )


def _rates(found: Abstaining) -> Iterator[str]:
    """Write both rates with their intervals, and what they mean together."""
    for figure, ci95 in zip(found.scores.measured(), found.ci95, strict=False):
        value = figure.why if figure.value is None else f"{100 * figure.value:.1f} %, {interval(ci95)}"
        yield f"{figure.measure}: {value} ({some(figure.n_queries or 0, 'query', 'queries')})"
    yield "a method that abstains always, never or at random has a difference of 0"
    yield "queries without a moment count in no other figure of this audit"


CHECK = Check(
    NAME,
    look,
    "where the method answers that there is no such moment, and where there is none",
    "more often where there is none, significantly",
    "CorrectAbstention less FalseAbstention",
)
