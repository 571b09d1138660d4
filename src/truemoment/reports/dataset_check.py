"""The report of ``datasets check``: counts, findings by split, and what is not as published."""

from __future__ import annotations

from typing import Any

from truemoment.datasets.check import CheckReport
from truemoment.reports.model import Block, Cell, Finding, Paragraph, Report, Section, Table
from truemoment.version import __version__

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
    sections = (Section("findings", "Findings", tuple(blocks)), *problems(found).sections)
    return Report(title=f"Check of {found.dataset}", facts=tuple(facts), sections=sections)


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
        "schema": SCHEMA,
        "truemoment": __version__,
        "dataset": found.dataset,
        "annotations_sha256": found.sha256,
        "seed": None,
        "counts": {split: {"n_queries": q, "n_videos": v} for split, (q, v) in found.counts.items()},
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
