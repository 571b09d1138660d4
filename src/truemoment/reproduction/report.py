"""The report of reproduced tables: a JSON document for programs, published figures beside ours for people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, get_args

from truemoment.reports.render.tabular import TableStyle, render
from truemoment.reproduction.base import Reproduced, Status, Table
from truemoment.version import __version__ as version

SCHEMA = "truemoment/reproduction/1"


@dataclass(frozen=True)
class ReproducedTable:
    """A table and its figures.

    Parameters
    ----------
    table
        What was asked for.
    rows
        Its figures; none if it was not run.
    why_not
        Why it was not run, else "".
    """

    table: Table
    rows: Sequence[Reproduced]
    why_not: str = ""


@dataclass(frozen=True)
class Reproduction:
    """All there is to say of reproduced tables.

    Parameters
    ----------
    tables
        In the order asked for.
    seed
        Of what was drawn; every table starts from it anew.
    runs
        Runs of a baseline whose published figure is a mean over runs.
    engine
        What found verbs.
    """

    tables: Sequence[ReproducedTable]
    seed: int
    runs: int
    engine: str

    @property
    def counts(self) -> dict[str, int]:
        """How many figures came out how."""
        found = Counter(row.status for table in self.tables for row in table.rows)
        return {status: found[status] for status in get_args(Status)}


# ------------------------------------------------------------------------------------------- document


def document(reproduction: Reproduction) -> dict[str, Any]:
    """Return the JSON document: shares as fractions, what is absent left out."""
    return {
        "schema": SCHEMA,
        "truemoment": version,
        "seed": reproduction.seed,
        "runs": reproduction.runs,
        "engine": reproduction.engine,
        "counts": reproduction.counts,
        "tables": [
            {
                "name": of.table.name,
                "title": of.table.title,
                "source": of.table.source,
                "datasets": list(of.table.datasets),
                **({"why_not_run": of.why_not} if of.why_not else {}),
                "figures": [_figure(row) for row in of.rows],
            }
            for of in reproduction.tables
        ],
    }


def _figure(row: Reproduced) -> dict[str, Any]:
    scale = -2 if row.is_share else 0  # percent become fractions

    def number(value: Decimal | None) -> float | None:
        return None if value is None or not value.is_finite() else float(value.scaleb(scale))

    entry: dict[str, Any] = {
        "source": row.source,
        "table": row.table,
        "dataset": row.dataset,
        "split": row.split,
        "method": row.method,
        "measure": row.measure,
        "unit": "fraction" if row.is_share else row.unit,
        "status": row.status,
        "published": number(row.published),
        "ours": None if row.ours is None or math.isnan(row.ours) else row.ours * 10.0**scale,
        "why": "undefined on these data" if row.ours is not None and math.isnan(row.ours) else None,
        "difference": number(row.difference),
        "tolerance": number(row.tolerance),
        "spread": None if row.spread is None or math.isnan(row.spread) else row.spread * 10.0**scale,
        "runs": row.runs if row.ours is not None else None,
        "reason": row.reason or None,
        "signature": row.signature or None,
    }
    undefined = {"ours"} if entry["why"] else set()
    return {name: value for name, value in entry.items() if value is not None or name in undefined}


# ---------------------------------------------------------------------------------------------- table


def table(reproduced: ReproducedTable, *, style: TableStyle = "plain") -> str:
    """Return a table: ours beside the published figures, then the methods that nobody here ran, then the reasons."""
    rows = reproduced.rows
    reasons = list(dict.fromkeys(row.reason for row in rows if row.reason))
    parts = [
        _checked([row for row in rows if row.status != "published, unchecked"], reasons, style),
        _unchecked([row for row in rows if row.status == "published, unchecked"], style),
        "\n".join(_comment(f"{_letter(number)}: {reason}", style) for number, reason in enumerate(reasons)),
    ]
    return "\n\n".join([_heading(reproduced, style), *(part for part in parts if part)])


def _heading(reproduced: ReproducedTable, style: TableStyle) -> str:
    of = reproduced.table
    shares = any(row.is_share for row in reproduced.rows)
    what = f"{of.source}" + ("; percent, differences in points" if shares else "")
    if style == "md":
        return f"**{of.name}**: {of.title} ({what})"
    return _comment(f"{of.name}: {of.title}\n{what}", style)


def _comment(text: str, style: TableStyle) -> str:
    """Text between tables; LaTeX takes it as a comment."""
    return "\n".join(f"% {line}" for line in text.splitlines()) if style == "latex" else text


def _checked(rows: Sequence[Reproduced], reasons: Sequence[str], style: TableStyle) -> str:
    headings = [
        "dataset",
        "split",
        "method",
        "measure",
        "published",
        "ours",
        "runs",
        "difference",
        "tolerance",
        "",
        "why",
    ]
    table = [
        [
            row.dataset,
            row.split,
            row.method,
            _measure(row),
            _number(row.published, row),
            _number(row.printed, row) + ("" if row.spread is None else f" ± {row.spread:.2f}"),
            str(row.runs) if row.runs > 1 else "",
            _number(row.difference, row, sign="+"),
            "" if row.tolerance is None else f"{row.tolerance:f}",
            row.status.upper() if row.status == "outside" else row.status,
            _letter(reasons.index(row.reason)) if row.reason else "",
        ]
        for row in rows
    ]
    filled = [column for column in range(len(headings)) if any(line[column] for line in table)]
    numbers = [at for at, column in enumerate(filled) if 4 <= column <= 8]
    return _rendered([headings[c] for c in filled], [[line[c] for c in filled] for line in table], style, numbers)


def _unchecked(rows: Sequence[Reproduced], style: TableStyle) -> str:
    """A line a method and split, since there is nothing to say of single figures."""
    if not rows:
        return ""
    measures = list(dict.fromkeys(_measure(row) for row in rows))
    lines: dict[tuple[str, str, str], dict[str, str]] = {}
    for row in rows:
        lines.setdefault((row.dataset, row.split, row.method), {})[_measure(row)] = _number(row.published, row)
    cells = [[*place, *(figures.get(measure, "") for measure in measures)] for place, figures in lines.items()]
    headings = ["dataset", "split", "method", *measures]
    text = _rendered(headings, cells, style, range(3, len(headings)))
    return f"{_comment('Published, unchecked:', style)}\n\n{text}"


def _rendered(headings: Sequence[str], rows: Sequence[Sequence[str]], style: TableStyle, numbers: Sequence[int]) -> str:
    return render(headings, rows, style=style, numbers=numbers) if rows else ""


def _measure(row: Reproduced) -> str:
    """What is measured, with the unit where neither the heading nor the name tells it."""
    told = row.is_share or row.unit in ("count", "words")
    return row.measure if told else f"{row.measure} ({row.unit})"


def _number(value: Decimal | None, row: Reproduced, *, sign: str = "-") -> str:
    """A figure as text, an undefined one as "-"; differences carry their sign unless they are 0."""
    if value is None:
        return ""
    if not value.is_finite():
        return "-"
    return format(value, f"{sign if value else '-'},{'.0f' if row.unit == 'count' else 'f'}")


def _letter(number: int) -> str:
    """a, b ... z, then their numbers: reasons are few."""
    return chr(ord("a") + number) if number < 26 else str(number + 1)


# ---------------------------------------------------------------------------------------------- words


def closing(reproduction: Reproduction) -> list[str]:
    """Say what could not be run, which figures lie outside, and how many came out how."""
    said = [f"{of.table.name} was not run: {of.why_not}" for of in reproduction.tables if of.why_not]
    for of in reproduction.tables:
        said += [
            f"outside: {of.table.name}: {' '.join(filter(None, (row.dataset, row.split, row.method, _measure(row))))}: "
            f"published {_number(row.published, row) or 'none'}, ours {_number(row.printed, row)}, "
            f"tolerance {row.tolerance:f}"
            for row in of.rows
            if row.status == "outside"
        ]
    counts = "; ".join(f"{count:,} {status}" for status, count in reproduction.counts.items())
    return [*said, f"{counts}; seed {reproduction.seed}"]
