"""Reports in the terminal in short: the answer, the table that carries it, and the worst findings, in 25 lines."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from truemoment.base.boundary.text import one_line
from truemoment.report.model import CAUTION_LABEL, LEVELS, Block, Finding, Level, Paragraph, Remarks, Report, Table
from truemoment.report.render.terminal import MARGIN, WIDTH, block_lines, facts, first_columns, notes, sections
from truemoment.report.words import columns_of, counted, listed, shortened

LINES = 25
"""Lines of a small terminal, of :data:`~truemoment.report.render.terminal.WIDTH` columns each."""

_ANSWER, _ROWS, _FACTS, _CAUTION = 9, 12, 2, 4
"""Most lines of the answer, most rows of its table, most facts, and about as many lines of a caution."""

_TABLE, _NOTES = 8, 3
"""Lines that a table gets, however many findings there are, and notes that get a line before further tables."""

_NAMES: dict[Level, str] = {
    "serious": "serious finding",
    "warning": "warning",
    "note": "note",
    "good": "good finding",
}


def lines(report: Report, *, more: str = "", at_most: int = LINES) -> list[str]:
    """Return a report in few lines: all of it where it fits, else its answer; facts and signature are last.

    Parameters
    ----------
    report
        The report.
    more
        What shows the rest: options.
    at_most
        Number of lines.
    """
    signature = [one_line(report.signature)] if report.signature else []
    paragraphs = [line for block in report.answer if not isinstance(block, Table) for line in block_lines(block)]
    shown = [block for section in report.sections if section.has_text for block in section.blocks]
    n_rows = sum(len(rows) for block in shown if isinstance(block, Table) for _, rows in block.groups)
    if n_rows <= at_most:  # else it does not fit, and takes long to lay out
        whole = _parted(paragraphs, sections(report), notes(report), [*facts(report.facts), *signature])
        if _height(whole) <= at_most:
            return whole
    end = [*_facts(report), *signature]
    return _parted(*_short(report, at_most - _height(end), more), end)


def _parted(*parts: Sequence[str]) -> list[str]:
    """Join parts that are not empty, with a blank line between them."""
    return list(itertools.chain.from_iterable(["", *part] for part in parts if part))[1:]


def _height(shown: Iterable[str]) -> int:
    return sum(max(1, math.ceil(columns_of(line) / WIDTH)) for line in shown)


def _in_line(text: str, begin: str = "", room: int = WIDTH) -> str:
    """Return a text in one line of so many columns, without its end where it is longer."""
    room -= columns_of(begin)
    shown = textwrap.shorten(one_line(text), room, placeholder=" …")
    return begin + (shown if len(shown) > 1 and columns_of(shown) <= room else shortened(one_line(text), room))


def _facts(report: Report) -> list[str]:
    """Return the first facts, a line each, and all cautions."""
    named = [(shortened(one_line(label), WIDTH // 3), value) for label, value in report.facts]
    first = [fact for fact in named if fact[0] != CAUTION_LABEL][:_FACTS]
    shown = [fact for fact in named if fact[0] == CAUTION_LABEL or fact in first]
    room = WIDTH - max((columns_of(label) for label, _ in shown), default=0) - 2
    return facts(
        (label, shortened(one_line(value), _CAUTION * room) if label == CAUTION_LABEL else _in_line(value, room=room))
        for label, value in shown
    )


# ---------------------------------------------------------------------------------------- what is shown


def _short(report: Report, room: int, more: str) -> tuple[list[str], list[str], list[str]]:
    """Return the answer, tables, and findings with the count of the rest, for so many lines with blanks between."""
    answer, findings = _answer(report), list(_findings(report))
    room -= _height(answer) + (4 if answer else 3)  # the blanks, and the count of the rest
    n_worst = sum(level in LEVELS[:2] for level, _ in findings) + min(len(report.notes), _NOTES)
    tables, n_shown = _tables(report, max(room - n_worst, _TABLE))
    shown = max(0, room - len(tables))
    left_out = Counter(level for level, _ in findings[shown:])
    counts = [counted(left_out[level], name) for level, name in _NAMES.items() if left_out[level]]
    n_tables = sum(isinstance(block, Table) for block in _blocks(report)) - n_shown
    counts += [counted(n_tables, "table")] if n_tables else []
    rest = _in_line(f"More{f' with {more}' if more else ''}{f': {listed(counts)}' if counts else ''}.")
    return answer, tables, [*(line for _, line in findings[:shown]), rest]


def _blocks(report: Report) -> Iterator[Block]:
    """Yield the blocks that the whole report shows: without folded ones."""
    return itertools.chain.from_iterable(section.blocks for section in report.sections if section.has_text)


def _answer(report: Report) -> list[str]:
    """Return the headline and the paragraphs of the answer, or else the sentences with which the report begins."""
    first: list[Block] = [*([report.headline] if report.headline else []), *report.answer]
    if report.headline and report.headline.level is None:  # it has a dash, so the sentences after it have one, too
        first = [Finding((block.text,)) if isinstance(block, Paragraph) else block for block in first]
    if shown := [line for block in first if not isinstance(block, Table) for line in block_lines(block)]:
        return shown[:_ANSWER]
    findings: list[Finding] = []
    for block in _blocks(report):
        if not isinstance(block, Finding) or isinstance(block, Remarks) or block.level is not None:
            break
        findings.append(block)
    whole = [line for finding in findings for line in block_lines(finding)]
    if len(whole) <= _ANSWER:
        return whole
    return [_in_line(": ".join(filter(None, (f.title, f.sentences[0])))) for f in findings][:_ANSWER]


def _tables(report: Report, room: int) -> tuple[list[str], int]:
    """Return the table of the answer, or else the first tables, in so many lines; and the number of the latter."""
    if answer := [block for block in report.answer if isinstance(block, Table)]:
        return _rows(answer[0], room), 0
    shown: list[str] = []
    tables = [block for block in _blocks(report) if isinstance(block, Table)]
    for number, table in enumerate(tables):
        left = room - len(shown) - bool(shown)
        if shown and left < _TABLE:
            return shown, number
        shown += [*([""] if shown else []), *_rows(table, left)]
    return shown, len(tables)


def _rows(table: Table, room: int) -> list[str]:
    """Return the first rows and columns of a table in so many lines, and how many more it has."""
    narrow = first_columns(replace(table, caption=textwrap.shorten(one_line(table.caption), WIDTH, placeholder=" …")))
    for n_rows in range(min(table.n_rows, _ROWS), 0, -1):
        left_out = [(table.n_rows - n_rows, "row"), (len(table.headings) - len(narrow.headings), "column")]
        more = [counted(count, f"more {name}") for count, name in left_out if count]
        shown = [*block_lines(_first_rows(narrow, n_rows)), *([f"… {listed(more)}"] if more else [])]
        if len(shown) <= room:
            return shown
    return shown[:room]


def _first_rows(table: Table, count: int) -> Table:
    """Return the table with so many rows, and the groups that have them."""
    groups = []
    for title, rows in table.groups:
        groups += [(title, rows[:count])] if rows and count > 0 else []
        count -= len(rows)
    return replace(table, groups=tuple(groups))


def _findings(report: Report) -> Iterator[tuple[Level, str]]:
    """Yield the findings with a level and the notes, each in a line, the most serious first."""
    findings = [block for block in _blocks(report) if isinstance(block, Finding)]
    for level in LEVELS:
        texts = [" ".join(finding.sentences) for finding in findings if finding.level == level]
        for text in (*texts, *(report.notes if level == "note" else ())):
            yield level, _in_line(text, f"{level:{MARGIN}}")
