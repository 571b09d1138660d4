"""Chapters for the terminal, for documents, and as JSON.

A chapter says the same wherever it is shown; only the layout differs.
"""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.reports.drawing import shortened
from truemoment.reports.head import head
from truemoment.reports.metaevaluation.chapter import Chapter
from truemoment.reports.model import Cell, Table
from truemoment.reports.render.tabular import TableStyle, escaped, render, tightened
from truemoment.reports.text import WIDTH
from truemoment.text import one_line
from truemoment.version import __version__ as version

if TYPE_CHECKING:
    from truemoment.reports.metaevaluation.verdict import Verdict
    from truemoment.scores import Scores

_BOLD, _END = "\ue000", "\ue001"
"""Private characters that stand for mark-up in a table, which escapes all else in its cells."""

SCHEMA = "truemoment/meta/1"

_NAME_WIDTH, _HEADING_WIDTH = 28, 10
"""Columns that a name, and a heading, take in the terminal."""


def names_of(chapters: Sequence[Chapter]) -> list[str]:
    """Names of chapters for keys and anchors, each different: a second ``ambiguity`` is ``ambiguity-2``.

    Parameters
    ----------
    chapters
        In the order in which they are shown.
    """
    seen: Counter[str] = Counter()
    names = []
    for chapter in chapters:
        seen[chapter.name] += 1
        names.append(chapter.name if seen[chapter.name] == 1 else f"{chapter.name}-{seen[chapter.name]}")
    return names


# ------------------------------------------------------------------------------------------- document


def document(
    chapters: Sequence[Chapter],
    *,
    scores: Scores | None,
    sources: Sequence[Mapping[str, str]],
    seed: int,
    verdict: Verdict | None = None,
) -> dict[str, Any]:
    """Return the JSON document of one or more studies.

    Parameters
    ----------
    chapters
        One a study.
    scores
        Of the first system: it names data and convention. None for studies without systems.
    sources
        Files of the systems: ``name``, ``path``, ``sha256``.
    seed
        Of all draws.
    verdict
        The answer over all studies, where it was asked for.

    Returns
    -------
    dict
        ``schema``, version, data, convention, ``sources``, ``seed``, ``studies`` by name (each with its ``title``,
        ``said``, ``notes`` and its own figures), and ``verdict`` if there is one. What is not finite is null.
    """
    begin = {"schema": SCHEMA, "truemoment": version} if scores is None else head(SCHEMA, scores)
    studies = {
        name: {"title": chapter.title, "said": list(chapter.said), "notes": list(chapter.notes)} | chapter.document
        for name, chapter in zip(names_of(chapters), chapters, strict=True)
    }
    found: dict[str, Any] = {
        **begin,
        "sources": [dict(source) for source in sources],
        "seed": seed,
        "studies": _as_json(studies),
    }
    if verdict is not None:
        found["verdict"] = _as_json(verdict.document)
    return found


def _as_json(value: Any) -> Any:  # noqa: ANN401 - a document holds whatever JSON does
    """Write a value, or all values within it, as JSON holds them; what is not finite becomes null."""
    if isinstance(value, Mapping):
        return {str(key): _as_json(of) for key, of in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _as_json(value.tolist())
    if isinstance(value, list | tuple):
        return [_as_json(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


# ---------------------------------------------------------------------------------------------- words


def lines(chapters: Sequence[Chapter], style: TableStyle = "plain", *, verdict: Verdict | None = None) -> list[str]:
    """Say what was found: of each chapter its title, its sentences, its tables and its notes.

    Parameters
    ----------
    chapters
        One a study.
    style
        ``plain`` for the terminal, wrapped at 100 columns; ``md`` and ``latex`` for documents.
    verdict
        The answer over all studies, said first.

    Returns
    -------
    list of str
        Lines without line ends. In the terminal a table that is too wide is left without its smaller text (intervals
        and the like), and folded if it still is; the JSON document and the page have all of it.
    """
    said: list[str] = [] if verdict is None else _verdict_lines(verdict, style)
    for chapter in chapters:
        said += [""] if said else []
        said += _title(chapter.title, style)
        said += [line for sentence in chapter.said for line in _paragraph(sentence, style)]
        for one in chapter.tables:
            said += ["", *_table_lines(one, style)]
        said += ["", *(line for note in chapter.notes for line in _note(note, style))] if chapter.notes else []
    return said


def _verdict_lines(verdict: Verdict, style: TableStyle) -> list[str]:
    said = _title(verdict.headline, style)
    for answer in verdict.answers:
        said += ["", *_question(answer.question, style)]
        said += [line for sentence in answer.said for line in _paragraph(sentence, style)]
    if verdict.glance is not None:
        said += ["", *_table_lines(verdict.glance, style)]
    return [*said, "", *(line for note in verdict.notes for line in _note(note, style))]


def _title(title: str, style: TableStyle) -> list[str]:
    title = one_line(title)
    if style == "md":
        return [f"## {escaped(title, style)}", ""]
    if style == "latex":
        return [rf"\section*{{{escaped(title, style)}}}", ""]
    wrapped = textwrap.wrap(title, WIDTH)
    return [*wrapped, "=" * max(map(len, wrapped), default=0)]


def _question(question: str, style: TableStyle) -> list[str]:
    question = one_line(question)
    if style == "md":
        return [f"### {escaped(question, style)}", ""]
    return [rf"\subsection*{{{escaped(question, style)}}}", ""] if style == "latex" else [question]


def _paragraph(sentence: str, style: TableStyle) -> list[str]:
    """Write a sentence; in the terminal it begins with a dash, so that each can be told from the next."""
    if style != "plain":
        return [escaped(one_line(sentence), style), ""]
    return textwrap.wrap(one_line(sentence), WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)


def _note(note: str, style: TableStyle) -> list[str]:
    if style != "plain":
        return [escaped(f"Note: {one_line(note)}", style), ""]
    return textwrap.wrap(
        one_line(note), WIDTH, initial_indent="note: ", subsequent_indent="      ", break_on_hyphens=False
    )


# --------------------------------------------------------------------------------------------- tables


def _table_lines(table: Table, style: TableStyle) -> list[str]:
    """Lay out a table, its caption above it."""
    caption = one_line(table.caption)
    if style != "plain":
        return [escaped(caption, style), "", *_rendered(table, range(len(table.headings)), style).splitlines(), ""]
    said = textwrap.wrap(caption, WIDTH, break_on_hyphens=False)
    whole = range(len(table.headings))
    for with_below in (True, False):
        laid_out = _rendered(table, whole, style, with_below=with_below)
        if _width(laid_out) <= WIDTH:
            return [*said, *laid_out.splitlines()]
    for number, part in enumerate(_folded(table)):
        said += [""] if number else []
        said += _rendered(table, part, style, with_below=False).splitlines()
    return said


def _width(text: str) -> int:
    return max(map(len, text.splitlines()), default=0)


def _folded(table: Table) -> list[list[int]]:
    """Cut the columns into parts that each fit the terminal; every part begins with the first column."""
    parts: list[list[int]] = []
    for column in range(1, len(table.headings)):
        wider = [*parts[-1], column] if parts else [0, column]
        if parts and _width(_rendered(table, wider, "plain", with_below=False)) <= WIDTH:
            parts[-1] = wider
        else:
            parts.append([0, column])
    return parts or [[0]]


def _rendered(table: Table, columns: Sequence[int], style: TableStyle, *, with_below: bool = True) -> str:
    """Write some columns of a table, in one of the styles."""
    rows: list[list[str]] = []
    for title, of_group in table.groups:
        if title:
            rows.append([_group(title, style), *[""] * (len(columns) - 1)])
        rows += [[_cell(row[column], style, with_below=with_below) for column in columns] for row in of_group]
    headings = [_heading(table.headings[column], style) for column in columns]
    numbers = [number for number, column in enumerate(columns) if column not in table.text_columns]
    text = render(headings, rows, style=style, numbers=numbers)
    if style == "latex":  # whose cells the table itself escapes
        return text.translate({ord(_BOLD): r"\textbf{", ord(_END): "}"})
    return tightened(text) if style == "plain" else text


def _group(title: str, style: TableStyle) -> str:
    return _bold(_text(title, style), style)


def _text(text: str, style: TableStyle) -> str:
    """Write text from outside for a cell."""
    text = one_line(text)
    if style == "latex":
        return text.replace(_BOLD, "\ufffd").replace(_END, "\ufffd")
    return escaped(text, style)


def _bold(text: str, style: TableStyle) -> str:
    return f"**{text}**" if style == "md" else f"{_BOLD}{text}{_END}" if style == "latex" else text


def _heading(heading: str, style: TableStyle) -> str:
    if style != "plain":
        return _text(heading, style)
    words = one_line(heading).replace(",IoU", ", IoU")  # where a measure may be broken
    return "\n".join(textwrap.wrap(words, _HEADING_WIDTH, break_long_words=False, break_on_hyphens=False))


def _cell(cell: Cell, style: TableStyle, *, with_below: bool) -> str:
    """Write a cell on one line: its smaller text in brackets, its mark as a star, which words could be mistaken for."""
    below = f" ({_text(cell.below, style)})" if cell.below and with_below else ""
    if style == "plain":
        return f"{shortened(one_line(cell.text), _NAME_WIDTH)}{'*' if cell.marked else ''}{below}"
    shown = _text(cell.text, style)
    return (_bold(shown, style) if cell.marked else shown) + below
