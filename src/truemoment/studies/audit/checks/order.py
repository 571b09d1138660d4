"""Whether the order of a video's sentences predicts their moments (:mod:`truemoment.data.language.paragraphs`)."""

from __future__ import annotations

from typing import Any

from truemoment.data.language.paragraphs import OrderOfStarts, order_of_starts
from truemoment.report.model import Block, Cell, Table
from truemoment.studies.audit.checks.base import SCORE, Check
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results
from truemoment.studies.bias.report_order import (
    STARTS_CAPTION,
    STARTS_HEADINGS,
    later_in_words,
    starts_cells,
    starts_document,
)

NAME = "order"

TABLE = "order-table"
"""Name of the floor that reads only the place of a sentence."""


def orders(results: Results) -> tuple[OrderOfStarts, OrderOfStarts | None]:
    """Return the order of moments in the audited split, and in the training split; None without one."""
    train = results.setup.splits.train
    return order_of_starts(results.annotations), None if train is None else order_of_starts(train)


def look(results: Results) -> AuditFinding | None:
    """State how often the next sentence starts later, and the score of a table over the place of a sentence."""
    audited, train = results.cached(orders)
    if not audited.n_pairs:
        return None
    predicts = "predicts where moments are" if audited.informs else "is not shown to predict where moments are"
    verdict = f"The order of sentences {predicts}: {later_in_words(audited)}"
    if (floor := results.floor(TABLE)) is not None:
        score = results.setup.protocol.percent(floor.scores.value(results.measure))
        verdict += f"; a table over 'sentence k of n' scores {score} at {results.measure}"
    lines = () if train is None else (f"training split: {later_in_words(train)}",)
    return AuditFinding(NAME, "note", f"{verdict}.", lines, audited.later, ci95=audited.ci95)


def blocks(results: Results) -> dict[str, tuple[Block, ...]]:
    """Show the shares of both splits in a table."""
    pair = results.cached(orders)
    if not pair[0].n_pairs:
        return {}
    splits = zip((results.annotations, results.setup.splits.train), pair, strict=True)
    rows = tuple(
        (Cell(split.split), *starts_cells(order)) for split, order in splits if split is not None and order is not None
    )
    return {SCORE: (Table(STARTS_CAPTION, ("split", *STARTS_HEADINGS), (("", rows),)),)}


def document(results: Results) -> dict[str, Any]:
    """Return the shares of both splits."""
    audited, train = results.cached(orders)
    return {
        "order": {"audited": starts_document(audited), "training": None if train is None else starts_document(train)}
    }


CHECK = Check(
    name=NAME,
    title="Order of sentences",
    looks_at="whether the next sentence of a video, in the order of its file, starts later more often than by chance",
    look=look,
    figure="share of the pairs whose second moment starts later",
    blocks=blocks,
    document=document,
)
