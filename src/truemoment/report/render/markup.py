"""Reports as text with mark-up: the order of sentences and tables is the same in Markdown and in LaTeX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from truemoment.report.model import Block, Cell, Finding, Paragraph, Report, Table
from truemoment.report.render.tabular import escaped, render


@dataclass(frozen=True)
class Markup:
    """How a language marks up text; ``{}`` is the place of the text, which is escaped already.

    Parameters
    ----------
    style
        Name of the language.
    section, title, level, bold
        Heading of a section, title of a finding, level of a finding, marked cell.
    """

    style: Literal["md", "latex"]
    section: str
    title: str
    level: str
    bold: str

    def lines(self, report: Report) -> list[str]:
        """Return the headline and the sections, without facts, notes and signature."""
        written = [] if report.headline is None else self.block(report.headline)
        sections = [section for section in report.sections if section.has_text]
        for section in sections:
            if len(sections) > 1:
                written += [self.section.format(self.text(section.title)), ""]
            written += [line for block in section.blocks for line in self.block(block)]
        return written[:-1] if written[-1:] == [""] else written

    def text(self, text: str) -> str:
        """Escape a text, on one line."""
        return escaped(text, self.style)

    def block(self, block: Block) -> list[str]:
        """Return the lines of a block; none for figures, examples and folded blocks, which pages show."""
        if isinstance(block, Finding):
            return self._finding(block)
        if isinstance(block, Table):
            return self._table(block)
        return [self.text(block.text), ""] if isinstance(block, Paragraph) else []

    def _finding(self, finding: Finding) -> list[str]:
        if finding.level is not None:
            return [f"{self.level.format(finding.level)} {self.text(' '.join(finding.sentences))}", ""]
        title = [self.title.format(self.text(finding.title)), ""] if finding.title else []
        return [*title, *(line for sentence in finding.sentences for line in (self.text(sentence), ""))]

    def _table(self, table: Table) -> list[str]:
        rows: list[list[str]] = []
        for title, of_group in table.groups:
            rows += [[self._bold(title), *[""] * (len(table.headings) - 1)]] if title else []
            rows += [[self._cell(cell) for cell in row] for row in of_group]
        numbers = [column for column in range(len(table.headings)) if column not in table.text_columns]
        text = render([self.text(heading) for heading in table.headings], rows, style=self.style, numbers=numbers)
        caption = [self.text(table.caption), ""] if table.caption else []
        return [*caption, *text.splitlines(), ""]

    def _bold(self, text: str) -> str:
        return self.bold.format(self.text(text))

    def _cell(self, cell: Cell) -> str:
        below = f" ({self.text(cell.below)})" if cell.below else ""
        return f"{self._bold(cell.text) if cell.marked else self.text(cell.text)}{below}"
