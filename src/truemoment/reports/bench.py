"""The report of a table of methods: ours beside floors and published figures."""

from __future__ import annotations

from typing import Any

from truemoment.bench.result import BenchResult
from truemoment.reports import reproduction as published_tables
from truemoment.reports.model import Cell, Report, Section, Table
from truemoment.reports.words import points
from truemoment.version import __version__ as version

SCHEMA = "truemoment/bench/1"


def report(result: BenchResult) -> Report:
    """Return what people read."""
    groups = tuple(
        (split, tuple((Cell(of.title), *(Cell(points(result.mean(of, split, m), 2)) for m in result.measures)) for of in (*result.methods, *result.references)))
        for split in result.splits
    )
    table = Table("figures, %", ("method", *result.measures), groups)
    return Report(title="Methods", sections=(Section("methods", "Methods", (table,)), *published_tables.report(result.published).sections), notes=result.notes)


def document(result: BenchResult) -> dict[str, Any]:
    """Return what programs read; fractions, never percent."""
    return {"schema": SCHEMA, "truemoment": version, "published": published_tables.document(result.published)}
