"""The order of sentences in reports of splits: table, section, finding, and part of the document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from truemoment.base.boundary.documents import Measured
from truemoment.report.model import Cell, Paragraph, Section, Table
from truemoment.report.words import UNDEFINED, points
from truemoment.studies.bias import sentence_order
from truemoment.studies.bias.order import MEASURE, SplitOrder
from truemoment.studies.bias.report_tables import short_name
from truemoment.studies.bias.surveys import Survey

MEANING = (
    "Where the share that starts later is above chance, the file lists sentences in the order of their moments: "
    "'sentence 3 of 4' is a hint, without a word or a pixel. The order table predicts the best constant for each "
    "place k of n, fitted on train. Sorted by start: the same table when a loader sorts the sentences by their true "
    "start, which gives their order away."
)


def order_section(surveys: Sequence[Survey]) -> Section:
    """Return the section: a row a split, grouped by dataset."""
    groups = [(short_name(survey.title) if len(surveys) > 1 else "", survey.order) for survey in surveys]
    blocks = (Paragraph(MEANING), orders_table(groups))
    return Section("order", "Order of sentences", blocks, short="Order")


def order_sentence(survey: Survey) -> str:
    """Return the finding on the split under test; "" where its order is not shown to predict moments."""
    of = next(of for of in survey.order if of.split == survey.tested.name)
    if not of.starts.informs:
        return ""
    table = "" if of.why else f" A table over it alone has {points(of.in_file_order, 2)} % at {MEASURE}."
    return (
        f"The file of {short_name(of.split)} lists sentences in the order of their moments: "
        f"{sentence_order.later_in_words(of.starts)}, so that 'sentence 3 of 4' is a hint.{table}"
    )


def orders_table(groups: Sequence[tuple[str, Sequence[SplitOrder]]]) -> Table:
    """Return a table of splits, a row each, in groups with titles: shares, and scores of the order table."""
    caption = f"{sentence_order.CAPTION} Then {MEASURE} of the order table, in the order of the file, and sorted."
    headings = ("split", *sentence_order.HEADINGS, "order table, %", "sorted by start, %")
    return Table(caption, headings, tuple((title, tuple(map(_row, orders))) for title, orders in groups))


def _row(of: SplitOrder) -> tuple[Cell, ...]:
    scores = (
        [Cell(UNDEFINED, of.why), Cell(UNDEFINED)]
        if of.why
        else [Cell(points(of.in_file_order, 2)), Cell(points(of.by_start, 2))]
    )
    return (Cell(short_name(of.split)), *sentence_order.cells(of.starts), *scores)


def order_document(orders: Sequence[SplitOrder]) -> list[dict[str, Any]]:
    """Return what programs read, one object a split."""
    return [
        {"split": of.split}
        | sentence_order.document(of.starts)
        | {
            "order_table": Measured(of.in_file_order, of.why, measure=MEASURE),
            "sorted_by_start": Measured(of.by_start, of.why, measure=MEASURE),
        }
        for of in orders
    ]
