"""The content of a report: sections of blocks. :mod:`truemoment.report.render` shows it.

Text in a block may come from outside: every renderer escapes it for its medium.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from truemoment.report.charts import Chart

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Level = Literal["good", "note", "warning", "serious"]

LEVELS: tuple[Level, ...] = ("serious", "warning", "note", "good")
"""Levels of findings, the most serious first."""


CAUTION_LABEL = "caution"
"""Label of a fact that limits what the figures mean; short reports show it too."""


class Cell(NamedTuple):
    """A cell of a table: its text, smaller text below it, whether it is marked, and the page that a page links to."""

    text: str
    below: str = ""
    marked: bool = False
    link: str = ""


@dataclass(frozen=True)
class Table:
    """A table.

    Parameters
    ----------
    caption
        Description, with units.
    headings
        One a column.
    groups
        Rows under a heading of their own ("" for none); each row begins with what it is about.
    text_columns
        Columns of words, which are aligned to the left.
    repeats
        Columns that repeat others, each with what it repeats; a page folds them where the table is wide.
    """

    caption: str
    headings: tuple[str, ...]
    groups: tuple[tuple[str, tuple[tuple[Cell, ...], ...]], ...]
    text_columns: tuple[int, ...] = (0,)
    repeats: tuple[tuple[int, str], ...] = ()

    def only(self, columns: Sequence[int]) -> Table:
        """Return a table of some of the columns."""
        return replace(
            self,
            headings=tuple(self.headings[at] for at in columns),
            groups=tuple(
                (title, tuple(tuple(row[at] for at in columns) for row in rows)) for title, rows in self.groups
            ),
            text_columns=tuple(new for new, at in enumerate(columns) if at in self.text_columns),
            repeats=tuple((columns.index(at), why) for at, why in self.repeats if at in columns),
        )

    @property
    def n_rows(self) -> int:
        """Number of rows, without headings of groups."""
        return sum(len(rows) for _, rows in self.groups)


class Drawing(NamedTuple):
    """A figure to be drawn.

    Parameters
    ----------
    name
        Name of its file, without ending.
    title
        What it shows.
    caption
        Its main point, and the source of the figure.
    draw
        Draws it.
    numbers
        Returns what it shows, a row a mark, each with the same keys; None where the JSON document of the report has it.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[], Figure]
    numbers: Callable[[], Sequence[Mapping[str, Any]]] | None = None


@dataclass(frozen=True)
class Finding:
    """A finding, in sentences.

    Parameters
    ----------
    sentences
        The finding first; each is complete in itself.
    title
        What it is about, in a few words; "" where the section says so.
    level
        How serious it is; None where that is no question.
    evidence
        Lines after it, which a page folds.
    section
        Name of the section with its figures; "" for none.
    """

    sentences: tuple[str, ...]
    title: str = ""
    level: Level | None = None
    evidence: tuple[str, ...] = ()
    section: str = ""


@dataclass(frozen=True)
class Remarks(Finding):
    """Remarks on the blocks before them, such as reasons that a table refers to; a page stresses none of them."""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph between other blocks."""

    text: str


class KeyFigure(NamedTuple):
    """A key figure: its label, value (and the text below it), unit, and owner, for its colour."""

    label: str
    cell: Cell
    unit: str = ""
    owner: Literal["", "method", "floor"] = ""


@dataclass(frozen=True)
class KeyFigures:
    """A row of key figures."""

    figures: tuple[KeyFigure, ...]


class Bar(NamedTuple):
    """A moment on a time line.

    Parameters
    ----------
    kind
        ``reference``, ``prediction`` or ``floor``.
    label
        Which one it is.
    start_s, end_s
        Its ends.
    note
        Remark about it.
    """

    kind: Literal["reference", "prediction", "floor"]
    label: str
    start_s: float
    end_s: float
    note: str = ""


class Example(NamedTuple):
    """A query with its moments on a time line.

    Parameters
    ----------
    why
        Why it is shown.
    query_id, video_id, sentence
        The query.
    duration_s
        Duration of the video.
    bars
        References, predictions by rank, the floor's first prediction.
    """

    why: str
    query_id: str
    video_id: str
    sentence: str
    duration_s: float
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Examples:
    """Queries on time lines."""

    examples: tuple[Example, ...]


class Picture(NamedTuple):
    """A result with its picture.

    Parameters
    ----------
    jpeg
        The picture; None for none.
    alt
        What it shows, for readers who do not see it.
    title, lines
        Text below it.
    """

    jpeg: bytes | None
    alt: str
    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Gallery:
    """Pictures side by side."""

    pictures: tuple[Picture, ...]


@dataclass(frozen=True)
class Details:
    """Blocks that a page folds under a line, and that the terminal leaves to the page and the JSON document."""

    summary: str
    blocks: tuple[Block, ...]


Block = Finding | Table | Drawing | Chart | KeyFigures | Paragraph | Examples | Gallery | Details


@dataclass(frozen=True)
class Section:
    """A part of a report.

    Parameters
    ----------
    name
        Its key and its anchor on a page.
    title
        The question that it answers, or its subject.
    blocks
        What it shows, in order.
    short
        Its name in the list of sections; "" for its title.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
    short: str = ""

    @property
    def has_text(self) -> bool:
        """Whether there is something to read: findings or tables, or paragraphs that introduce nothing else."""
        content = [block for block in self.blocks if not isinstance(block, Paragraph)]
        return not content or any(isinstance(block, Finding | Table) for block in content)


@dataclass(frozen=True)
class Report:
    """Report of a command.

    Parameters
    ----------
    title
        Subject of the report.
    sections
        Its parts, in order.
    question
        The question that it answers, for the head of a page.
    facts
        Inputs, by label: data, size, predictions, protocol.
    headline
        The finding that answers the question; None where there is none.
    answer
        Blocks that answer the question in short, after the headline. A page shows all but tables, beside the number of
        findings and the first warnings, and inputs at its end; the terminal shows paragraphs and the table, or without
        one the first table of the sections.
    notes
        Notes for readers of the figures.
    reading
        How to read it: terms and their meaning.
    signature
        Convention, data, version, draws and seed of the figures.
    hashes
        SHA-256 of each file that was read, by label.
    files
        Paths that its text names, beside those in `hashes`; a page shows them without the folders of the machine.
    browse
        Command that shows every query on a page; "" for none.
    """

    title: str
    sections: tuple[Section, ...]
    question: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    headline: Finding | None = None
    answer: tuple[Block, ...] = ()
    notes: tuple[str, ...] = ()
    reading: tuple[tuple[str, str], ...] = ()
    signature: str = ""
    hashes: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    browse: str = ""

    @property
    def lead(self) -> tuple[Block, ...]:
        """The answer as a page shows it: without tables."""
        return tuple(block for block in self.answer if not isinstance(block, Table))

    def blocks(self) -> Iterator[Block]:
        """Yield all blocks of a page in order, folded ones too."""
        yield from unfolded(self.lead)
        for section in self.sections:
            yield from unfolded(section.blocks)

    @property
    def drawings(self) -> list[Drawing | Chart]:
        """Every figure in order."""
        return [block for block in self.blocks() if isinstance(block, Drawing | Chart)]

    @property
    def tables(self) -> list[Table]:
        """Every table in order."""
        return [block for block in self.blocks() if isinstance(block, Table)]

    @property
    def anchors(self) -> list[str]:
        """Names of the sections, each different: a second ``ambiguity`` is ``ambiguity-2``."""
        count: Counter[str] = Counter()
        names = []
        for section in self.sections:
            count[section.name] += 1
            names.append(section.name if count[section.name] == 1 else f"{section.name}-{count[section.name]}")
        return names


def unfolded(blocks: tuple[Block, ...]) -> Iterator[Block]:
    """Yield blocks in order, with those in :class:`Details` in their place."""
    for block in blocks:
        if isinstance(block, Details):
            yield from unfolded(block.blocks)
        else:
            yield block
