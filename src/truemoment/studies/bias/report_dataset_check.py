"""The report of ``datasets check``: counts, findings by split, and differences from the published files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truemoment.base.boundary.documents import document_head
from truemoment.data.datasets.check import CheckReport
from truemoment.data.language.paragraphs import OrderOfStarts, order_of_starts
from truemoment.report.model import Block, Cell, Finding, Paragraph, Report, Section, Table
from truemoment.report.words import counted, listed
from truemoment.studies.bias.report_order import STARTS_CAPTION, STARTS_HEADINGS, starts_cells, starts_document

SCHEMA = "truemoment/dataset-check/1"

SHOWN_IDS = 3
"""Queries of a finding that are named; the JSON document names all."""


def report(check: CheckReport) -> Report:
    """Return the report of a check."""
    facts = [
        ("dataset", check.dataset),
        *(
            (split, f"{counted(n_queries, 'query', 'queries')}, {counted(n_videos, 'video')}")
            for split, (n_queries, n_videos) in check.counts.items()
        ),
    ]
    columns = (
        (
            finding.split,
            "fault" if finding.fault else "remark",
            finding.kind,
            finding.amount,
            _some(finding.query_ids),
        )
        for finding in check.findings
    )
    rows = tuple(tuple(map(Cell, row)) for row in columns)
    headings = ("split", "level", "finding", "count", "queries")
    blocks: list[Block] = [Table("", headings, (("", rows),), text_columns=(0, 1, 2, 3, 4))] if rows else []
    blocks += [
        Paragraph(f"{finding.split}, {finding.kind}: {finding.detail}") for finding in check.findings if finding.detail
    ]
    order = Section("order", "Order of sentences", tuple(_order_blocks(_orders(check))))
    sections = (Section("findings", "Findings", tuple(blocks)), order, *problems(check).sections)
    unexpected = counted(len(check.unexpected), "difference") if check.unexpected else "nothing unexpected"
    answer = (Paragraph(f"As published and recorded: {unexpected}."),)
    return Report(title=f"Check of {check.dataset}", facts=tuple(facts), sections=sections, answer=answer)


def _orders(check: CheckReport) -> dict[str, OrderOfStarts]:
    return {name: order_of_starts(split.with_moments()) for name, split in check.splits.items()}


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


def problems(check: CheckReport) -> Report:
    """Return the report of the unexpected findings only."""
    findings = [Finding((f"not checked: {line}",), level="warning") for line in check.missing]
    findings += [Finding((f"unexpected: {line}",), level="serious") for line in check.unexpected]
    if not check.unexpected:
        findings.append(Finding(("as published and recorded: nothing unexpected",), level="good"))
    return Report(
        title=f"Check of {check.dataset}", sections=(Section("expected", "As published and recorded", tuple(findings)),)
    )


def _some(ids: tuple[str, ...]) -> str:
    return ", ".join(ids[:SHOWN_IDS]) + (", ..." if len(ids) > SHOWN_IDS else "")


def document(check: CheckReport) -> dict[str, Any]:
    """Return the JSON document of a check."""
    return {
        **document_head(SCHEMA),
        "dataset": check.dataset,
        "annotations_sha256": check.sha256,
        "seed": None,
        "counts": {split: {"n_queries": q, "n_videos": v} for split, (q, v) in check.counts.items()},
        "order": {split: starts_document(order) for split, order in _orders(check).items()},
        "findings": [
            {
                "split": finding.split,
                "kind": finding.kind,
                "fault": finding.fault,
                "count": finding.count,
                "counted": finding.counted,
                "detail": finding.detail,
                "ids": list(finding.query_ids),
            }
            for finding in check.findings
        ],
        "missing": list(check.missing),
        "unexpected": list(check.unexpected),
    }
