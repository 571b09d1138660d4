"""What the wrong first answers are, and what correcting each kind would give."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.evaluation.error_kinds import ErrorKinds, error_kinds
from truemoment.evaluation.measures import DiscountedRecall, Measure, Recall
from truemoment.report.drawing import (
    METHOD,
    METHOD_FAINT,
    OTHER,
    PAPER,
    SOFT,
    drawing_style,
    new_figure,
    wrapped,
    write_beside,
)
from truemoment.report.model import Block, Drawing, Examples, Paragraph
from truemoment.report.words import points
from truemoment.studies.audit.checks.base import EXAMPLES, SCORE, Check
from truemoment.studies.audit.checks.examples import examples
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "errors"

ERRORS = {
    "too long": "of top-1 predictions contain the reference but are too long",
    "too short": "of top-1 predictions lie within the reference but are too short",
    "shifted": "of top-1 predictions are in the right place with the wrong extent",
    "wrong place": "of top-1 predictions miss the reference",
    "empty or swapped": "of top-1 predictions do not end after they start",
    "no answer": "of the queries have no prediction that could be read",
    "hidden": "of the queries have a right prediction that is not ranked first",
    "hidden by duplicates": "of the queries have a right prediction after repetitions of a wrong one",
}
"""What kinds of error are, in words after a share."""


def errors(results: Results) -> ErrorKinds:
    """Classify the first answers at the headline's threshold."""
    setup = results.setup
    return error_kinds(setup.annotations, setup.predictions, threshold_of(results.measure), setup.protocol)


def threshold_of(headline: Measure) -> float:
    """Return the IoU from which an answer is a hit, for kinds of error beside a headline measure."""
    return headline.iou if isinstance(headline, Recall | DiscountedRecall) else 0.5


def look(results: Results) -> AuditFinding:
    """Name the main error."""
    kinds = results.cached(errors)
    measure = kinds.measures[0]
    lines = tuple(
        f"{kind.kind}: {kind.n_queries:,} ({100 * kind.share:.1f} %)"
        + (f", correcting them adds {points(kind.gain[0])} points of {measure}" if kind.gain[0] > 0 else "")
        for kind in kinds.table
    )
    wrong = [kind for kind in kinds.table if kind.gain[0] > 0]
    if not wrong:
        sound = kinds.figures[0] == 1
        verdict = "No first answer is wrong." if sound else "No first answer can be corrected: references are faulty."
        return AuditFinding(NAME, "good" if sound else "note", verdict, lines)
    largest = max(wrong, key=lambda kind: kind.gain[0])
    verdict = (
        f"Main error: {100 * largest.share:.0f} % {ERRORS.get(largest.kind, largest.kind)} ('{largest.kind}'). "
        f"Correcting them would add {points(largest.gain[0])} points of {measure}."
    )
    return AuditFinding(NAME, "note", verdict, lines, float(largest.share))


def blocks(results: Results) -> dict[str, tuple[Block, ...]]:
    """Draw the gain of correcting each kind of error; show examples."""
    found = results.cached(errors)
    drawing = Drawing(
        "errors",
        "Kinds of error of the first answers",
        "Gain of each measure if one kind of error were corrected and all else stayed; queries in brackets. 'Hidden' "
        "are hits at a lower rank, moved to rank 1; they are counted among the other kinds too.",
        partial(errors_figure, found),
    )
    shown = examples(results, found)
    if not shown:
        return {SCORE: (drawing,)}
    rule = Paragraph(
        "Chosen by a rule, not by hand: hits where the strongest floor misses, one of each kind of miss, a hit at a "
        "lower rank, an answer past the end of its video; among equal queries, by the SHA-256 of their ids. The floor "
        f"is {results.strongest(results.headline)}."
    )
    return {SCORE: (drawing,), EXAMPLES: (rule, Examples(shown))}


def errors_figure(kinds: ErrorKinds) -> Figure:
    """Draw what correcting each kind of error would add to R@1, mIoU and AxIoU."""
    lines = [line for line in kinds.table if line.n_queries and line.kind != "hit"]
    looks = ((METHOD, METHOD, None), (METHOD_FAINT, METHOD, "////"), (PAPER, OTHER, "\\\\\\\\"))
    with drawing_style():
        figure = new_figure(1.1 + 0.42 * max(len(lines), 1))
        axes = figure.add_subplot()
        for number, (measure, (face, edge, hatch)) in enumerate(zip(kinds.measures, looks, strict=True)):
            gains = [100 * line.gain[number] for line in lines]
            at = np.arange(len(lines)) + 0.26 * (number - 1)
            label = measure.removesuffix(f"[ref={kinds.references}]")
            axes.barh(at, gains, 0.26, color=face, edgecolor=edge, hatch=hatch, linewidth=0.7, label=label)
        for row, line in enumerate(lines):
            write_beside(axes, f"{100 * line.gain[0]:+.1f}", 100 * line.gain[0], row - 0.26)
        if not lines:
            axes.text(0.5, 0, "no first answer is wrong", ha="center", va="center", color=SOFT)
            axes.set_xticks([])
        axes.set_yticks(range(len(lines)), [f"{wrapped(line.kind, 16)} ({line.n_queries:,})" for line in lines])
        axes.set_ylim(max(len(lines), 1) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0, pad=7)
        axes.set_xlim(0, max(1.0, 114 * max((float(np.max(line.gain)) for line in lines), default=0)))
        axes.set_xlabel("gain from correcting, percentage points")
        axes.grid(axis="x")
        figure.legend(loc="outside upper center", ncols=3, columnspacing=1.0, handlelength=1.2, handletextpad=0.4)
    return figure


def document(results: Results) -> dict[str, Any]:
    """Return the kinds of error and the gain of correcting each."""
    found = results.cached(errors)
    entry = {
        "threshold": found.threshold,
        "depth": found.depth,
        "references": found.references,
        "measures": found.measures,
        "figures": found.figures,
        "kinds": found.table,
    }
    return {"errors": entry if np.all(np.isfinite(found.figures)) else entry | {"why": "no query counts"}}


CHECK = Check(
    name=NAME,
    title="Kinds of error",
    looks_at="kinds of wrong first answers, and what correcting each would give",
    look=look,
    figure="share of the queries of the main error",
    blocks=blocks,
    document=document,
)
