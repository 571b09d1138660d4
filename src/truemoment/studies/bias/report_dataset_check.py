"""The report of ``datasets check``: counts, findings by split, and what is not as published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truemoment.base.boundary.documents import document_head
from truemoment.data.datasets.check import CheckReport
from truemoment.data.language.paragraphs import OrderOfStarts, order_of_starts
from truemoment.report.model import Block, Cell, Finding, Paragraph, Report, Section, Table
from truemoment.report.words import listed
from truemoment.studies.bias.report_order import STARTS_CAPTION, STARTS_HEADINGS, starts_cells, starts_document

SCHEMA = "truemoment/dataset-check/1"

SHOWN_IDS = 3
"""Queries of a finding that are named; the JSON document names all."""


def report(found: CheckReport) -> Report:
    """Return what people read."""
    facts = [
        ("dataset", found.dataset),
        *(
            (split, f"{n_queries:,} queries, {n_videos:,} videos")
            for split, (n_queries, n_videos) in found.counts.items()
        ),
    ]
    columns = (
        (of.split, "fault" if of.fault else "remark", of.kind, f"{of.count:,} {of.counted}", _some(of.query_ids))
        for of in found.findings
    )
    rows = tuple(tuple(map(Cell, row)) for row in columns)
    headings = ("split", "level", "finding", "count", "queries")
    blocks: list[Block] = [Table("", headings, (("", rows),), text_columns=(0, 1, 2, 3, 4))] if rows else []
    blocks += [Paragraph(f"{of.split}, {of.kind}: {of.detail}") for of in found.findings if of.detail]
    order = Section("order", "Order of sentences", tuple(_order_blocks(_orders(found))))
    sections = (Section("findings", "Findings", tuple(blocks)), order, *problems(found).sections)
    return Report(title=f"Check of {found.dataset}", facts=tuple(facts), sections=sections)


def _orders(found: CheckReport) -> dict[str, OrderOfStarts]:
    return {name: order_of_starts(split.with_moments()) for name, split in found.splits.items()}


def _order_blocks(orders: Mapping[str, OrderOfStarts]) -> list[Block]:
    """Return a row a split, and a warning where the order of sentences predicts moments."""
    rows = tuple((Cell(name), *starts_cells(order)) for name, order in orders.items())
    blocks: list[Block] = [Table(STARTS_CAPTION, ("split", *STARTS_HEADINGS), (("", rows),))]
    if informing := [name for name, order in orders.items() if order.informs]:
        warning = (
            f"In {listed(informing)}, sentences are in the order of their moments: a method that reads the place of a "
            "sentence among those of its video can guess. truemoment audit runs floors that do."
        )
        blocks.append(Finding((warning,), level="warning"))
    return blocks


def problems(found: CheckReport) -> Report:
    """Return what people read who ask for what is unexpected only."""
    findings = [Finding((f"not checked: {line}",), level="warning") for line in found.missing]
    findings += [Finding((f"unexpected: {line}",), level="serious") for line in found.unexpected]
    if not found.unexpected:
        findings.append(Finding(("as published and recorded: nothing unexpected",), level="good"))
    return Report(
        title=f"Check of {found.dataset}", sections=(Section("expected", "As published and recorded", tuple(findings)),)
    )


def _some(ids: tuple[str, ...]) -> str:
    return ", ".join(ids[:SHOWN_IDS]) + (", ..." if len(ids) > SHOWN_IDS else "")


def document(found: CheckReport) -> dict[str, Any]:
    """Return what programs read."""
    return {
        **document_head(SCHEMA),
        "dataset": found.dataset,
        "annotations_sha256": found.sha256,
        "seed": None,
        "counts": {split: {"n_queries": q, "n_videos": v} for split, (q, v) in found.counts.items()},
        "order": {split: starts_document(order) for split, order in _orders(found).items()},
        "findings": [
            {
                "split": of.split,
                "kind": of.kind,
                "fault": of.fault,
                "count": of.count,
                "counted": of.counted,
                "detail": of.detail,
                "ids": list(of.query_ids),
            }
            for of in found.findings
        ],
        "missing": list(found.missing),
        "unexpected": list(found.unexpected),
    }
