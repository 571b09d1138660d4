"""The report of reproduced tables: published figures, and ours beside them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from truemoment.base.boundary.documents import document_head
from truemoment.report.model import Block, Cell, Paragraph, Remarks, Report, Section, Table
from truemoment.report.words import about, counted
from truemoment.reproduction.base import Reproduced, ReproducedTable, Reproduction, Unchecked

SCHEMA = "truemoment/reproduction/1"

MEANINGS = {
    "exact": "ours prints like the published figure",
    "within": "ours differs by no more than the tolerance",
    "outside": "ours differs by more than the tolerance",
    "found by search": "ours agrees, in a setting that was chosen by these figures",
    "ours beside ours": "ours agrees with an earlier figure of ours",
    "informational": "ours is beside it without a verdict",
    "published, unchecked": "we have no figure",
}

WHY_UNCHECKED: Mapping[Unchecked, str] = {
    "no run": "the method must be trained: give runs of it (--runs DIR)",
    "public files missing": "the files are not in the data folder, and anyone can download them",
    "files under agreement": "the files need an agreement, and are not in the data folder",
    "not published": "the files that it is computed from are not published",
    "not defined": "the paper does not define it",
}

# ------------------------------------------------------------------------------------------- document


def document(reproduction: Reproduction) -> dict[str, Any]:
    """Return what programs read: shares as fractions; what is absent is left out."""
    return {
        **document_head(SCHEMA),
        "seed": reproduction.seed,
        "runs": reproduction.runs,
        "engine": reproduction.engine,
        "counts": reproduction.counts,
        "unchecked": reproduction.unchecked,
        "tables": [
            {
                "name": result.table.name,
                "title": result.table.title,
                "source": result.table.source,
                "datasets": result.table.datasets,
                **({"why_not_run": result.why_not} if result.why_not else {}),
                "figures": [_figure(row) for row in result.rows],
                **(result.table.details(result.rows) if result.rows else {}),
            }
            for result in reproduction.tables
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
        "unchecked": row.unchecked,
        "reason": row.reason or None,
        "signature": row.signature or None,
        "features": row.features or None,
        "recipe": row.recipe or None,
        "simulated": row.is_simulated or None,
    }
    undefined = {"ours"} if entry["why"] else set()
    return {name: value for name, value in entry.items() if value is not None or name in undefined}


# --------------------------------------------------------------------------------------------- report


def report(reproduction: Reproduction) -> Report:
    """Return what people read."""
    computed = [result for result in reproduction.tables if result.rows]
    notes = [_outside(result, row) for result in computed for row in result.rows if row.status == "outside"]
    reasons = dict.fromkeys(result.why_not for result in reproduction.tables if result.why_not)
    for reason in reasons:
        names = [result.table.name for result in reproduction.tables if result.why_not == reason]
        notes.append(f"{counted(len(names), 'table was', 'tables were')} not run ({', '.join(names)}): {reason}")
    counts = "; ".join(
        f"{count:,} {status}"
        for status, count in reproduction.counts.items()
        if count or status in ("exact", "within", "outside")
    )
    return Report(
        title="Published tables and ours",
        answer=_answer(reproduction),
        facts=((computed[0].table.name, computed[0].table.title),) if len(computed) == 1 else (),
        sections=tuple(
            Section(result.table.name, f"{result.table.name}: {result.table.title}", _blocks(result))
            for result in computed
        ),
        notes=tuple(notes),
        signature=f"{counts}; seed {reproduction.seed}",
    )


def _answer(reproduction: Reproduction) -> tuple[Paragraph | Table, ...]:
    """Return how many figures are as published, and the number of figures by status."""
    counts = reproduction.counts
    n_judged = counts["exact"] + counts["within"] + counts["outside"]
    n_run = sum(not result.why_not for result in reproduction.tables)
    if not n_judged:
        tables = [result.table for result in reproduction.tables if not result.table.only_named]
        seconds = sum(table.seconds for table in tables if "mad" not in table.datasets)
        without_data = (
            "No figure is judged without the datasets (--data-dir DIR). With them, all tables but those of MAD take "
            f"{about(seconds)}."
        )
        verdict = "No figure is judged." if n_run == len(reproduction.tables) else without_data
    else:
        verdict = (
            f"{n_judged - counts['outside']:,} of {n_judged:,} judged figures agree with the published ones. "
            f"{n_run} of {counted(len(reproduction.tables), 'table')} could be run."
        )
    rows = [(status, count, MEANINGS[status]) for status, count in counts.items() if count or status == "outside"]
    rows += [(f"unchecked: {why}", count, WHY_UNCHECKED[why]) for why, count in reproduction.unchecked.items()]
    cells = tuple((Cell(name), Cell(f"{count:,}"), Cell(meaning)) for name, count, meaning in rows)
    return Paragraph(verdict), Table("", ("status", "figures", "meaning"), (("", cells),), text_columns=(0, 2))


def _outside(result: ReproducedTable, row: Reproduced) -> str:
    place = " ".join(filter(None, (row.dataset, row.split, row.method, _measure(row))))
    return (
        f"outside: {result.table.name}: {place}: published {_number(row.published, row) or 'none'}, ours "
        f"{_number(row.printed, row)}, tolerance {row.tolerance:f}"
    )


def _blocks(result: ReproducedTable) -> tuple[Block, ...]:
    """Return our figures beside the published ones, the methods that are only published, the reasons, the figures."""
    judged = [row for row in result.rows if row.status != "published, unchecked" and not row.recipe]
    runs: dict[str, list[Reproduced]] = {}
    for row in result.rows:
        if row.recipe:
            label = " (simulated)" if row.is_simulated else ""
            runs.setdefault(f"Runs of {row.recipe}, features {row.features}{label}", []).append(row)
    unchecked: dict[str, list[Reproduced]] = {}
    for row in result.rows:
        if row.unchecked:
            unchecked.setdefault(f"Published, unchecked: {row.unchecked}", []).append(row)
    reasons = list(dict.fromkeys(filter(None, (row.reason for row in result.rows))))
    shares = "; percent, differences in points" if any(row.is_share for row in result.rows) else ""
    caption = f"{result.table.source}{shares}"
    blocks: list[Block] = [_judged(caption, judged, reasons)] if judged else []
    for heading, rows in runs.items():
        blocks.append(_judged(heading if blocks else f"{caption}. {heading}", rows, reasons))
    for heading, rows in unchecked.items():
        blocks.append(_unchecked(heading if blocks else f"{caption}. {heading}", rows, reasons))
    if reasons:
        blocks.append(Remarks(tuple(f"{_letter(number)}: {reason}" for number, reason in enumerate(reasons))))
    return (*blocks, *result.table.blocks(result.rows), *result.table.drawings(result.rows))


def _judged(caption: str, rows: Sequence[Reproduced], reasons: Sequence[str]) -> Table:
    columns: dict[str, list[str]] = {
        "measure": [_measure(row) for row in rows],
        "method": [row.method for row in rows],
        "published": [_number(row.published, row) for row in rows],
        "ours": [_number(row.printed, row) + ("" if row.spread is None else f" ± {row.spread:.2f}") for row in rows],
        "runs": [str(row.runs) if row.runs > 1 or row.recipe else "" for row in rows],
        "difference": [_number(row.difference, row, sign="+") for row in rows],
        "tolerance": ["" if row.tolerance is None else f"{row.tolerance:f}" for row in rows],
        "status": [_status(row) + (f" ({_letter(reasons.index(row.reason))})" if row.reason else "") for row in rows],
    }
    filled = {heading: cells for heading, cells in columns.items() if any(cells)}
    words = tuple(at for at, heading in enumerate(filled) if heading in ("measure", "method", "status"))
    return Table(caption, tuple(filled), _by_place(rows, zip(*filled.values(), strict=True)), text_columns=words)


def _status(row: Reproduced) -> str:
    """Return the verdict; for a model that saw simulated perception, "simulated"."""
    if row.is_simulated:
        return "simulated"
    return row.status.upper() if row.status == "outside" else row.status


def _unchecked(caption: str, rows: Sequence[Reproduced], reasons: Sequence[str]) -> Table:
    """Return a row a method, with the letter of its first reason, and a column a measure."""
    measures = list(dict.fromkeys(_measure(row) for row in rows))
    lines: dict[tuple[str, str, str], dict[str, str]] = {}
    first: dict[tuple[str, str, str], Reproduced] = {}
    for row in rows:
        place = (row.dataset, row.split, row.method)
        first.setdefault(place, row)
        lines.setdefault(place, {})[_measure(row)] = _number(row.published, row)
    names = {
        place: f"{row.method} ({_letter(reasons.index(reason))})"
        if row.method and (reason := row.reason)
        else row.method
        for place, row in first.items()
    }
    cells = [(names[place], *(figures.get(measure, "") for measure in measures)) for place, figures in lines.items()]
    return Table(caption, ("method", *measures), _by_place(list(first.values()), cells))


def _by_place(
    rows: Sequence[Reproduced], cells: Iterable[tuple[str, ...]]
) -> tuple[tuple[str, tuple[tuple[Cell, ...], ...]], ...]:
    """Group rows of cells by dataset and split, in order of their first rows."""
    groups: dict[str, list[tuple[Cell, ...]]] = {}
    for row, texts in zip(rows, cells, strict=True):
        place = ", ".join(filter(None, (row.dataset, row.split)))
        groups.setdefault(place, []).append(tuple(map(Cell, texts)))
    return tuple((place, tuple(lines)) for place, lines in groups.items())


def _measure(row: Reproduced) -> str:
    """Return what is measured, with the unit where neither the heading nor the name shows it."""
    is_plain = row.is_share or row.unit in ("count", "words", "tau")
    return row.measure if is_plain else f"{row.measure} ({row.unit})"


def _number(value: Decimal | None, row: Reproduced, *, sign: str = "-") -> str:
    """Write a figure with the digits of the paper, an undefined one as "-"; `sign` "+" for differences."""
    if value is None:
        return ""
    if not value.is_finite():
        return "-"
    return format(value, f"{sign if value else '-'},{'.0f' if row.unit == 'count' else 'f'}")


def _letter(number: int) -> str:
    """Return a, b ... z, then numbers: reasons are few."""
    return chr(ord("a") + number) if number < 26 else str(number + 1)
