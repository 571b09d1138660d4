"""JSON documents of commands: their kinds, the facts of their cards, and a report of what they contain.

The report has the findings, a table for each list of entries, and a table for the other values. It is shown by the
renderers that show the report of the command; figures that a document does not contain are not drawn.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, TypeGuard

from truemoment.report.model import LEVELS, Block, Cell, Finding, Report, Section, Table
from truemoment.report.words import UNDEFINED, counted, few

DOCUMENTS = MappingProxyType({"audit": "audit", "comparison": "comparison", "leaderboard": "leaderboard"})
"""Documents that have a kind of their own, by the name in their schema; all others are reports."""

_SCHEMA = re.compile(rb'\s*\{\s*"schema"\s*:\s*"truemoment/([a-z][a-z-]{0,40})/\d{1,3}"\s*,\s*"truemoment"\s*:\s*"')

MOST_ROWS, MOST_COLUMNS, MOST_CHARACTERS = 500, 14, 300
"""Rows and columns of a table, and characters of a cell, that are shown of a document."""

VERDICT = "better-than-guessing"
"""The check of an audit whose finding is its verdict."""


def schema_of(data: bytes) -> str | None:
    """Return the name in the schema of a document by its beginning: ``audit`` of ``truemoment/audit/2``."""
    match = _SCHEMA.match(data)
    return match[1].decode() if match and b"\n" in match[0] else None  # on one line it heads JSON Lines


# ------------------------------------------------------------------------------------------------ facts


def document_facts(schema: str, document: Mapping[str, Any]) -> tuple[list[str], dict[str, str]]:
    """Return the facts of the card of a document, and names by which it is put together with other files."""
    data = [value for name in ("dataset", "split") if isinstance(value := document.get(name), str)]
    lines = [schema.replace("-", " ") if schema not in DOCUMENTS else "", "/".join(data), *_figures(document)]
    hints = dict(zip(("dataset", "split"), data, strict=False))
    if sources := dict(_sources(document)):
        hints |= {"predictions": "\n".join(sources), "sha256": "\n".join(sources.values())}
    if schema == "audit":
        lines += [f"of {name}" for name in sources]
    if finding := _verdict(document):
        lines.append(str(finding.get("verdict", "")).partition(":")[0])
    return [line for line in lines if line], hints


def _sources(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield name and SHA-256 of the prediction files of an audit or a comparison."""
    runs = (run for method in _entries(document.get("methods")) for run in _entries(method.get("runs")))
    for entry in (document, *runs):
        source = entry.get("predictions")
        if isinstance(source, Mapping):
            path, sha256 = source.get("path"), source.get("sha256")
            if isinstance(path, str) and isinstance(sha256, str):
                yield PurePath(path).name, sha256


def _figures(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the headline figure, and the methods that are compared."""
    headline, measures = document.get("headline"), document.get("measures")
    for entry in _entries(measures):
        if entry.get("measure") == headline and _is_number(entry.get("value")):
            yield f"{headline} {100 * entry['value']:.2f}"
    if methods := _entries(document.get("methods")):
        names = [name for method in methods if isinstance(name := method.get("method"), str)]
        yield f"{counted(len(methods), 'method')}: {few(names)}" if names else counted(len(methods), "method")


def _verdict(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the finding of an audit that is its verdict."""
    return next((finding for finding in _entries(document.get("findings")) if finding.get("check") == VERDICT), None)


# ----------------------------------------------------------------------------------------------- report


def report_of(title: str, document: Mapping[str, Any]) -> Report:
    """Return a report of what a document contains."""
    sections, facts = [], []
    findings = [entry for entry in _entries(document.get("findings")) if isinstance(entry.get("verdict"), str)]
    for name, value in document.items():
        words = name.replace("_", " ")
        if name == "findings" and findings:
            sections.append(Section("findings", "Findings", tuple(map(_finding, findings))))
        elif _is_plain(value):
            facts.append((words, _text(value)))
        elif blocks := tuple(_tables(words, value)):
            sections.append(Section(re.sub("[^a-z0-9]+", "-", name.lower()) or "values", words.capitalize(), blocks))
    verdict = _verdict(document)
    headline = _finding(verdict) if verdict and isinstance(verdict.get("verdict"), str) else None
    return Report(title=title, sections=tuple(sections), facts=tuple(facts), headline=headline)


def _finding(finding: Mapping[str, Any]) -> Finding:
    """Return a finding of a document."""
    level = next((level for level in LEVELS if level == finding.get("level")), None)
    evidence = finding.get("evidence")
    lines = tuple(map(_text, evidence)) if isinstance(evidence, list) else ()
    return Finding((finding["verdict"],), str(finding.get("check", "")).replace("-", " ").capitalize(), level, lines)


def _tables(name: str, value: object) -> Iterator[Block]:
    """Yield a table of a list of entries, or of the plain values of an object."""
    entries = _entries(value)
    if entries:
        rows = [dict(itertools.islice(_flat(entry), 40)) for entry in entries[:MOST_ROWS]]
        headings = list(dict.fromkeys(heading for row in rows for heading in row))[:MOST_COLUMNS]
        more = f" The first {MOST_ROWS:,} of {len(entries):,}." if len(entries) > MOST_ROWS else ""
        cells = tuple(tuple(Cell(row.get(heading, "")) for heading in headings) for row in rows)
        if headings:
            yield Table(f"{name.capitalize()}.{more}", tuple(headings), (("", cells),), _words(cells, len(headings)))
    elif isinstance(value, Mapping):
        pairs = tuple((Cell(heading), Cell(text)) for heading, text in itertools.islice(_flat(value), MOST_ROWS))
        if pairs:
            yield Table(f"{name.capitalize()}.", ("name", "value"), (("", pairs),), (0, 1))
    elif isinstance(value, list) and value:
        yield Table(
            f"{name.capitalize()}.", ("value",), (("", tuple((Cell(_text(item)),) for item in value[:MOST_ROWS])),)
        )


def _flat(entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield name and text of the values of an entry: measured values as percent, measures under their own names."""
    for name, value in entry.items():
        words = name.replace("_", " ")
        if _is_plain(value):
            yield words, _percent(value, entry) if name == "value" else _text(value)
        elif isinstance(value, Mapping) and "value" in value:
            yield words, _percent(value["value"], value)
        elif isinstance(value, Mapping):
            yield from (
                (f"{words}: {inner.replace('_', ' ')}", _text(item)) for inner, item in value.items() if _is_plain(item)
            )
        elif measures := [row for row in _entries(value) if isinstance(row.get("measure"), str) and "value" in row]:
            yield from ((row["measure"], _percent(row["value"], row)) for row in measures)
        elif isinstance(value, list) and value and all(map(_is_plain, value)):
            yield words, ", ".join(map(_text, value[:20]))


def _entries(value: object) -> list[Mapping[str, Any]]:
    """Return a list of objects; an empty one for another value."""
    return list(value) if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value) else []


def _words(rows: Sequence[Sequence[Cell]], n_columns: int) -> tuple[int, ...]:
    """Return the columns of words, which are aligned to the left."""
    return tuple(at for at in range(n_columns) if any(re.search("[A-Za-z]", row[at].text) for row in rows))


def _percent(value: object, entry: Mapping[str, Any]) -> str:
    """Write a value; one that is a fraction in percent."""
    return f"{100 * value:.2f}" if _is_number(value) and entry.get("unit") == "fraction" else _text(value)


def _text(value: object) -> str:
    """Write a plain value."""
    if value is None:
        return UNDEFINED
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = f"{value:,.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
