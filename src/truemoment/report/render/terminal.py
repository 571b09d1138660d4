"""Reports in the terminal: lines of at most 100 columns, tables folded where they are wider."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from truemoment.base.boundary.text import one_line
from truemoment.report.model import LEVELS, Block, Cell, Finding, Paragraph, Report, Section, Table
from truemoment.report.render.tabular import render, tightened
from truemoment.report.words import columns_of, shortened

WIDTH = 100
"""Columns of a terminal."""

_NAME_WIDTH = 28
"""Columns of a name in a table that is too wide."""

MARGIN = max(map(len, LEVELS)) + 2
"""Columns before a finding, in which its level is."""


def body(report: Report) -> list[str]:
    """Return the facts, the headline and the sections, without notes and signature; folded blocks are left out."""
    lines = [*facts(report.facts), "", *sections(report)]
    return lines[1:] if lines[:1] == [""] else lines


def sections(report: Report) -> list[str]:
    """Return the headline and the sections."""
    lines = [] if report.headline is None else ["", *block_lines(report.headline)]
    shown = [section for section in report.sections if section.has_text]
    for section in shown:
        lines += _section(section, titled=len(shown) > 1)
    return lines[1:]


def closing(report: Report) -> list[str]:
    """Return the notes and the signature."""
    return [*notes(report), *([one_line(report.signature)] if report.signature else [])]


def notes(report: Report) -> list[str]:
    """Return the notes, each after its label."""
    return [line for note in report.notes for line in _wrapped(note, "note: ")]


def facts(shown: Iterable[tuple[str, str]]) -> list[str]:
    """Return facts, each after its label."""
    labelled = list(shown)
    width = max((len(label) for label, _ in labelled), default=0) + 2
    return [line for label, value in labelled for line in _wrapped(value, f"{one_line(label):{width}}")]


def _section(section: Section, *, titled: bool) -> list[str]:
    shown = [block_lines(block) for block in section.blocks]
    lines: list[str] = []
    for number, (block, of_block) in enumerate(zip(section.blocks, shown, strict=True)):
        follows_finding = number > 0 and isinstance(block, Finding) and isinstance(section.blocks[number - 1], Finding)
        if of_block:
            lines += of_block if follows_finding and not block_title(block) else ["", *of_block]
    if not lines or not titled:
        return lines
    title = textwrap.wrap(one_line(section.title), WIDTH)
    return ["", *title, "=" * max(map(len, title), default=0), *lines[1:]]


def block_title(block: Block) -> str:
    """Return the title of a finding without a level, which is on a line of its own; else ""."""
    return block.title if isinstance(block, Finding) and block.level is None else ""


def block_lines(block: Block) -> list[str]:
    """Return a finding, a table or a paragraph; other blocks are not shown."""
    if isinstance(block, Finding):
        return _finding(block)
    if isinstance(block, Table):
        return _table(block)
    return _wrapped(block.text) if isinstance(block, Paragraph) else []


def _finding(finding: Finding) -> list[str]:
    """Write a finding: its level in a column of its own, or else a dash before each sentence."""
    if finding.level is not None:
        return _wrapped(" ".join(finding.sentences), f"{finding.level:{MARGIN}}")
    title = textwrap.wrap(one_line(finding.title), WIDTH)
    return [*title, *(line for sentence in finding.sentences for line in _wrapped(sentence, "- "))]


def _wrapped(text: str, begin: str = "") -> list[str]:
    return textwrap.wrap(
        one_line(text),
        WIDTH,
        initial_indent=begin,
        subsequent_indent=" " * len(begin),
        break_on_hyphens=False,
        break_long_words=False,  # a path can be copied
    )


# --------------------------------------------------------------------------------------------- tables


class _Fit(NamedTuple):
    """How a table is made to fit: with smaller text in brackets, and the most columns of a name and of a heading."""

    below: bool
    name: int
    heading: int


_FITS = (
    _Fit(below=True, name=WIDTH, heading=24),
    _Fit(below=True, name=WIDTH, heading=10),
    _Fit(below=False, name=WIDTH, heading=10),
    _Fit(below=False, name=_NAME_WIDTH, heading=10),
)
"""Ways to lay out a table, the fullest first."""


def _table(table: Table) -> list[str]:
    """Lay out a table under its caption: all of it, or what fits, or the columns one below the other."""
    lines = _wrapped(table.caption)
    if side_by_side := _side_by_side(table):
        return [*lines, *side_by_side]
    for number, columns in enumerate(_folded(table)):
        lines += [""] if number else []
        lines += _laid_out(_with_cells(table, columns), columns, _FITS[-1]).splitlines()
    return lines


def first_columns(table: Table) -> Table:
    """Return a table with its columns, or with the first ones where they do not fit beside each other."""
    return table if _side_by_side(table) else table.only(next(_folded(table)))


def _side_by_side(table: Table) -> list[str]:
    """Lay out a table with all columns beside each other; nothing if they do not fit."""
    whole = _columns(table)
    *whole_names, cut_names = _FITS
    fits = [*((table, fit) for fit in whole_names), (_words_wrapped(table), whole_names[-1]), (table, cut_names)]
    for shown, fit in fits:
        text = _laid_out(shown, whole, fit)
        if (width := _width(text)) <= WIDTH:
            wider = _laid_out(shown, whole, fit._replace(name=fit.name + WIDTH - width))  # enough for one long name
            return (wider if _width(wider) <= WIDTH else text).splitlines()
    return []


def _with_cells(table: Table, columns: Sequence[int]) -> Table:
    """Leave out rows whose cells in these columns are empty, except the first, and groups without rows."""
    groups = [
        (title, tuple(row for row in rows if any(row[column].text or row[column].below for column in columns[1:])))
        for title, rows in table.groups
    ]
    return replace(table, groups=tuple((title, rows) for title, rows in groups if rows))


def _words_wrapped(table: Table) -> Table:
    """Wrap wide columns of words, but for the first, over several rows, to the width that the others leave.

    A word that is wider itself, as names are, is not wrapped.
    """
    longest = [
        max((len(one_line(row[c].text)) for _, rows in table.groups for row in rows), default=0)
        for c in _columns(table)
    ]
    wide = [column for column in table.text_columns if column and longest[column] > _NAME_WIDTH]
    narrow = [column for column in _columns(table) if column not in wide]
    room = (WIDTH - _width(_laid_out(table, narrow, _FITS[2]))) // len(wide) - 2 if wide else 0
    words = (one_line(row[c].text).split() for _, rows in table.groups for row in rows for c in wide)
    if room < _NAME_WIDTH or max(map(len, itertools.chain.from_iterable(words)), default=0) > room:
        return table
    groups = [
        (title, tuple(part for row in rows for part in _over_rows(row, wide, room))) for title, rows in table.groups
    ]
    return replace(table, groups=tuple(groups))


def _columns(table: Table) -> range:
    return range(len(table.headings))


def _over_rows(row: tuple[Cell, ...], wide: Sequence[int], room: int) -> list[tuple[Cell, ...]]:
    """Wrap the cells of the wide columns to `room` characters; the other cells are in the first row."""
    wrapped = {column: textwrap.wrap(one_line(row[column].text), room, break_on_hyphens=False) for column in wide}
    n_rows = max(1, *map(len, wrapped.values()))
    first = tuple(cell._replace(text="".join(wrapped[c][:1])) if c in wide else cell for c, cell in enumerate(row))
    more_rows = (
        [Cell("".join(wrapped[c][n : n + 1])) if c in wide else Cell("") for c in range(len(row))]
        for n in range(1, n_rows)
    )
    return [first, *map(tuple, more_rows)]


def _width(text: str) -> int:
    return max(map(columns_of, text.splitlines()), default=0)


def _folded(table: Table) -> Iterator[list[int]]:
    """Divide the columns into parts that each fit the terminal; every part begins with the first column."""
    part = [0]
    for column in range(1, len(table.headings)):
        if len(part) > 1 and _width(_laid_out(table, [*part, column], _FITS[-1])) > WIDTH:
            yield part
            part = [0]
        part = [*part, column]
    yield part


def _laid_out(table: Table, columns: Sequence[int], fit: _Fit) -> str:
    rows = [[_cell(row[column], fit) for column in columns] for _, of_group in table.groups for row in of_group]
    marked = {column for column in columns for _, rows in table.groups for row in rows if row[column].marked}
    words = [one_line(table.headings[column]).replace(",IoU", ", IoU") for column in columns]  # measures may be broken
    wrapped = (textwrap.wrap(text, fit.heading, break_long_words=False, break_on_hyphens=False) for text in words)
    headings = ["\n".join(lines) for lines in wrapped]
    numbers = [number for number, column in enumerate(columns) if column not in table.text_columns]
    if marked:
        for row in rows:
            for number in numbers:
                if columns[number] in marked and row[number] and not row[number].endswith("*"):
                    row[number] += " "  # so that numbers are aligned beside those with a star
    lines = tightened(render(headings, rows, numbers=numbers)).split("\n")
    at = len(lines) - len(rows)
    shown = lines[:at]
    for title, of_group in table.groups:
        shown += [one_line(title)] if title else []
        shown += lines[at : at + len(of_group)]
        at += len(of_group)
    return "\n".join(shown)


def _cell(cell: Cell, fit: _Fit) -> str:
    """Write a cell on one line: its smaller text in brackets, its mark as a star."""
    text = one_line(cell.text)
    text = shortened(text, fit.name)
    below = f" ({one_line(cell.below)})" if cell.below and fit.below else ""
    return f"{text}{below}{'*' if cell.marked else ''}"
