"""The dependence of the headline figure on the evaluator."""

from __future__ import annotations

from typing import Any

import numpy as np

from truemoment.base.boundary.documents import Measured
from truemoment.base.errors import MeasureError, ProtocolError
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import why_undefined
from truemoment.evaluation.protocols import PROTOCOLS
from truemoment.report.charts import StripChart, StripMark, StripRow
from truemoment.report.model import Block
from truemoment.studies.audit.checks.base import SCORE, Check
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results

NAME = "conventions"

EVALUATORS = tuple(protocol for protocol in PROTOCOLS.values() if protocol.empty != "abstain")
"""Named protocols that may give different figures for queries with a moment."""

LARGE = 0.01
"""Difference between evaluators that is a warning."""


def conventions(results: Results) -> dict[str, float]:
    """Measure the headline under the audit's protocol and under each named protocol that accepts these predictions.

    A protocol that pools all answers of a list is left out if lists are ranked alternatives.
    """
    setup, values = results.setup, {}
    ranked = setup.predictions.lengths.max(initial=0) > 1
    for protocol in dict.fromkeys([setup.protocol, *EVALUATORS]):
        if ranked and protocol.references == "pooled":
            continue
        try:
            scores = evaluate(setup.annotations, setup.predictions, [results.measure], protocol)
        except (ProtocolError, MeasureError):  # it refuses missing answers, or the measure is not defined in it
            continue
        values[protocol.name] = scores.value(results.measure)
    return values


def look(results: Results) -> AuditFinding:
    """State the lowest and the highest figure."""
    measure = results.measure
    figures = {name: value for name, value in results.cached(conventions).items() if np.isfinite(value)}
    silent = [protocol.name for protocol in EVALUATORS if protocol.name not in figures]
    lines = [f"{name}: {100 * value:.2f}" for name, value in sorted(figures.items(), key=lambda item: item[1])]
    lines += [f"no figure: {', '.join(silent)} (undefined there, or they refuse these predictions)"] if silent else []
    if not figures:
        return AuditFinding(NAME, "note", f"{measure} is undefined under every named convention.", tuple(lines))
    low, high = min(figures, key=figures.__getitem__), max(figures, key=figures.__getitem__)
    spread = figures[high] - figures[low]
    verdict = (
        f"The choice of evaluator changes {measure} by {100 * spread:.2f} points: from {100 * figures[low]:.2f} "
        f"({low}) to {100 * figures[high]:.2f} ({high})."
        if round(spread, 4)
        else f"All {len(figures)} evaluators that accept these predictions give {100 * figures[low]:.2f} at {measure}."
    )
    return AuditFinding(NAME, "warning" if spread >= LARGE else "note", verdict, tuple(lines), spread)


def blocks(results: Results) -> dict[str, tuple[Block, ...]]:
    """Show the figure under each convention, the lowest first."""
    own, figures = results.setup.protocol.name, results.cached(conventions)
    named = sorted((100 * value, name) for name, value in figures.items() if np.isfinite(value))
    rows = tuple(StripRow(name, (StripMark("method", value),), is_main=name == own) for value, name in named)
    strip = StripChart(
        "conventions",
        f"{results.measure} under each named convention",
        "The same predictions, measured as published evaluators do. Figures of different evaluators cannot be compared "
        "more finely than this.",
        f"{results.measure}, %",
        (("", rows),),
        from_zero=False,
        decimals=2,
    )
    return {SCORE: (strip,)} if rows else {}


def document(results: Results) -> dict[str, Any]:
    """Return the figure under each convention."""
    why = why_undefined(results.measure)
    return {
        "conventions": [
            {"protocol": name} | Measured(value, why).as_dict() for name, value in results.cached(conventions).items()
        ]
    }


CHECK = Check(
    name=NAME,
    title="Evaluators",
    looks_at="the same predictions under every named protocol that accepts them",
    look=look,
    figure="largest less smallest",
    blocks=blocks,
    document=document,
)
