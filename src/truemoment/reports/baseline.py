"""The report of a baseline: what its runs score, as JSON and as a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from truemoment.intervals import Floats
from truemoment.records import Annotations
from truemoment.reports.head import head
from truemoment.reports.render.tabular import TableStyle, render
from truemoment.scores import Scores

SCHEMA = "truemoment/baseline/1"


@dataclass(frozen=True, eq=False)
class BaselineRun:
    """All there is to say of a baseline on a split.

    Parameters
    ----------
    name, title, kind
        As the command line calls it, as it calls itself once fitted, and ``floor`` or ``ceiling``.
    fitted_on
        The annotations; None if it learns nothing.
    choices
        What else decides its answers, by name: measure, engine or proposals.
    runs
        Scores of each run; the first is that of the answers that were written.
    top, seed
        Most answers a query, and seed of the draws.
    out
        Where the answers of the first run went; None for nowhere.
    """

    name: str
    title: str
    kind: str
    fitted_on: Annotations | None
    choices: Mapping[str, str]
    runs: tuple[Scores, ...]
    top: int
    seed: int
    out: str | None = None

    @property
    def figures(self) -> Floats:
        """Figure of each measure in each run, shape (runs, M); NaN where it is undefined."""
        return np.array([[run.value(measure) for measure in run.measures] for run in self.runs])


def _mean_and_spread(told: BaselineRun) -> tuple[Floats, Floats]:
    """Mean and sample standard deviation over the runs, (M,); a single run has no spread: NaN."""
    figures = told.figures
    spread = figures.std(axis=0, ddof=1) if len(figures) > 1 else np.full(figures.shape[1], np.nan)
    return figures.mean(axis=0), spread


def document(told: BaselineRun) -> dict[str, Any]:
    """Return the JSON document."""
    scores = told.runs[0]
    mean, spread = _mean_and_spread(told)
    return {
        **head(SCHEMA, scores),
        "baseline": told.name,
        "title": told.title,
        "kind": told.kind,
        "fitted_on": None if told.fitted_on is None else f"{told.fitted_on.dataset}/{told.fitted_on.split}",
        "fitted_on_sha256": None if told.fitted_on is None else told.fitted_on.sha256,
        "choices": dict(told.choices),
        "predictions": told.out,
        "top": told.top,
        "runs": len(told.runs),
        "seed": told.seed,
        "measures": [
            {
                "measure": figure.measure,
                "value": None if np.isnan(mean[m]) else float(mean[m]),
                "unit": "fraction",
                **({"why": figure.why} if figure.value is None else {}),
                **({"spread": float(spread[m])} if np.isfinite(spread[m]) else {}),
                "n_queries": figure.n_queries,
                "n_videos": figure.n_videos,
                "signature": figure.signature,
            }
            for m, figure in enumerate(scores.measured())
        ],
    }


def preamble(told: BaselineRun) -> list[str]:
    """Say what was run on what."""
    scores = told.runs[0]
    fitted = "" if told.fitted_on is None else f", fitted on {told.fitted_on.dataset}/{told.fitted_on.split}"
    said = [
        f"{told.name} ({told.kind}): {told.title}{fitted}",
        f"{scores.dataset}/{scores.split}: {len(scores):,} queries, {len(set(scores.video_id)):,} videos",
    ]
    if told.out is not None:
        said.append(f"answers{' of the first run' if len(told.runs) > 1 else ''}: {told.out}")
    return said


def table(told: BaselineRun, *, style: TableStyle = "plain") -> str:
    """Return the table of figures, in percent as the protocol prints them."""
    scores = told.runs[0]
    mean, spread = _mean_and_spread(told)
    several = len(told.runs) > 1
    headings = ["measure", f"mean % of {len(told.runs)} runs", "spread"] if several else ["measure", "%"]
    rows = []
    for m, measure in enumerate(scores.measures):
        row = [str(measure), "-" if np.isnan(mean[m]) else scores.protocol.percent(mean[m])]
        rows.append([*row, "-" if np.isnan(spread[m]) else f"{100 * spread[m]:.2f}"] if several else row)
    return render(headings, rows, style=style, numbers=range(1, len(headings)))


def closing(told: BaselineRun) -> str:
    """Return the signature of the figures."""
    parts = [told.runs[0].signature(), f"baseline:{told.name}"]
    if told.fitted_on is not None:
        parts.append(f"fit:{told.fitted_on.dataset}/{told.fitted_on.split}#{told.fitted_on.sha256[:8]}")
    parts += [f"{name}:{choice}" for name, choice in told.choices.items()]
    parts += [f"top:{told.top}", f"seed:{told.seed}"]
    return "|".join([*parts, f"runs:{len(told.runs)}"] if len(told.runs) > 1 else parts)
