"""The order of sentences in reports: the share of neighbouring sentences that start later, and the order table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from truemoment.base.boundary.documents import Measured
from truemoment.data.datasets.random_order import Order
from truemoment.data.language.paragraphs import OrderOfStarts
from truemoment.report.model import Block, Cell, Finding, Paragraph, Section, Table
from truemoment.report.words import UNDEFINED, low_to_high, percent, points
from truemoment.studies.bias.order import MEASURE, SplitOrder
from truemoment.studies.bias.report_tables import short_name
from truemoment.studies.bias.surveys import Survey

NO_PAIR = "no video has two sentences with a moment"

STARTS_HEADINGS = ("pairs", "start later, %", "by chance, %", "95 % interval")
"""Headings of :func:`starts_cells`."""

STARTS_CAPTION = (
    "Neighbouring sentences of a video, in the order of the file: share of pairs whose second moment starts later, the "
    "share by chance (in random order), and the 95 % interval of the former, from the spread between videos."
)


def starts_cells(order: OrderOfStarts) -> tuple[Cell, ...]:
    """Return the cells of a split's row below :data:`STARTS_HEADINGS`."""
    return (
        Cell(f"{order.n_pairs:,}"),
        Cell(points(order.later)),
        Cell(points(order.by_chance)),
        Cell(low_to_high(order.ci95, 1, times=100) or UNDEFINED),
    )


def later_in_words(order: OrderOfStarts) -> str:
    """Return the share that starts later as a clause: ``the next sentence of a video starts later in 95.5 % ...``."""
    interval = low_to_high(order.ci95, 1, times=100) or "undefined"
    return (
        f"the next sentence of a video starts later in {percent(order.later, 1)} of {order.n_pairs:,} pairs "
        f"({points(order.by_chance)} % by chance, 95 % interval {interval})"
    )


def starts_document(order: OrderOfStarts) -> dict[str, Any]:
    """Return the order of starts as JSON values."""
    return {
        "n_pairs": order.n_pairs,
        "later": Measured(order.later, NO_PAIR, order.ci95),
        "by_chance": Measured(order.by_chance, NO_PAIR),
        "informs": order.informs,
    }


MEANING = (
    "If the share that starts later is above chance, the file lists sentences in the order of their moments. Then the "
    "number of a sentence ('sentence 3 of 4') is a hint. The order table is a baseline that reads only this number: it "
    "predicts the best constant for each number, fitted on train. Sorted by start: the same baseline if a loader sorts "
    "the sentences by their true start, which reveals their order."
)


def order_section(surveys: Sequence[Survey]) -> Section:
    """Return the section: a row a split, grouped by dataset."""
    groups = [(short_name(survey.title) if len(surveys) > 1 else "", survey.order) for survey in surveys]
    blocks = (Paragraph(MEANING), orders_table(groups))
    return Section("order", "Order of sentences", blocks, short="Order")


def order_sentence(survey: Survey) -> str:
    """Return the finding on the split under test; "" where its order is not shown to predict moments."""
    order = next(order for order in survey.order if order.split == survey.tested.name)
    if not order.starts.informs:
        return ""
    table = "" if order.why else f" A table over it alone has {points(order.in_file_order, 2)} % at {MEASURE}."
    return (
        f"The file of {short_name(order.split)} lists sentences in the order of their moments: "
        f"{later_in_words(order.starts)}, so that 'sentence 3 of 4' is a hint.{table}"
    )


def orders_table(groups: Sequence[tuple[str, Sequence[SplitOrder]]]) -> Table:
    """Return a table of splits, a row each, in groups with titles: shares, and scores of the order table."""
    caption = (
        f"{STARTS_CAPTION} The last two columns: {MEASURE} of the order table in the order of the file, and sorted."
    )
    headings = ("split", *STARTS_HEADINGS, "order table, %", "sorted by start, %")
    return Table(caption, headings, tuple((title, tuple(map(_row, orders))) for title, orders in groups))


def _row(order: SplitOrder) -> tuple[Cell, ...]:
    scores = (
        [Cell(UNDEFINED, order.why), Cell(UNDEFINED)]
        if order.why
        else [Cell(points(order.in_file_order, 2)), Cell(points(order.by_start, 2))]
    )
    return (Cell(short_name(order.split)), *starts_cells(order.starts), *scores)


def order_blocks(orders: Sequence[SplitOrder], order: Order) -> tuple[Block, ...]:
    """Return the table of the order of sentences, and a finding if it predicts moments; nothing without an order."""
    if not orders:
        return ()
    table = orders_table([("", orders)])
    if not any(split.starts.informs for split in orders):
        return (table,)
    verdict = {
        "file": "The order of a video's sentences predicts their moments. --order random writes the split without it.",
        "random": "The order of a video's sentences in the source predicts their moments. This split does not have it.",
    }
    return (Finding((verdict[order],)), table)


def order_document(orders: Sequence[SplitOrder]) -> list[dict[str, Any]]:
    """Return a JSON object for each split."""
    return [
        {"split": order.split}
        | starts_document(order.starts)
        | {
            "order_table": Measured(order.in_file_order, order.why, measure=MEASURE),
            "sorted_by_start": Measured(order.by_start, order.why, measure=MEASURE),
        }
        for order in orders
    ]
