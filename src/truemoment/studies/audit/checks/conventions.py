"""The dependence of the headline figure on the evaluator."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.base.boundary.documents import Measured
from truemoment.base.errors import MeasureError, ProtocolError
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import why_undefined
from truemoment.evaluation.protocols import PROTOCOLS
from truemoment.report.drawing import METHOD, PAPER, SOFT, drawing_style, new_figure, write_beside
from truemoment.report.model import Block, Drawing
from truemoment.studies.audit.charts import name_rows
from truemoment.studies.audit.checks.base import SCORE, Check
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    """Draw the figure under each convention."""
    drawing = Drawing(
        "conventions",
        f"{results.measure} under each named convention",
        "The same predictions, measured as published evaluators do. Figures of different evaluators cannot be compared "
        "more finely than this.",
        partial(conventions_figure, results, results.cached(conventions)),
    )
    return {SCORE: (drawing,)}


def conventions_figure(results: Results, figures: Mapping[str, float]) -> Figure:
    """Draw the headline measure of the same answers under each named protocol."""
    protocol = results.setup.protocol.name
    defined = {name: 100 * value for name, value in figures.items() if np.isfinite(value)}
    names = sorted(defined, key=lambda name: (defined[name], name))
    with drawing_style():
        figure = new_figure(0.75 + 0.185 * max(len(names), 1))
        axes = figure.add_subplot()
        for row, name in enumerate(names):
            is_own = name == protocol
            axes.plot(defined[name], row, "o" if is_own else "D", color=METHOD, mfc=METHOD if is_own else PAPER)
            weight = "bold" if is_own else "normal"
            write_beside(axes, f"{defined[name]:.2f}", 1, row, share_of_width=True, fontweight=weight)
        if not names:
            axes.text(0.5, 0, "undefined under every convention", ha="center", va="center", color=SOFT)
            axes.set_xticks([])
        name_rows(axes, names, 24)
        for label, name in zip(axes.get_yticklabels(), names, strict=True):
            label.set_fontweight("bold" if name == protocol else "normal")
        axes.margins(x=0.08)
        axes.set_xlabel(f"{results.measure}, %")
        axes.grid(axis="both")
    return figure


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
