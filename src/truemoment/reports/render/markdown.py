"""Reports as Markdown: sentences and tables to be pasted, or a whole document with its figures beside it."""

from __future__ import annotations

from truemoment.reports.model import Block, Cell, Drawing, Finding, Paragraph, Report, Table, unfolded
from truemoment.reports.render.tabular import escaped, render
from truemoment.text import one_line


def lines(report: Report) -> list[str]:
    """Return the headline and the sections, without facts, notes and signature."""
    written = [] if report.headline is None else _finding(report.headline)
    sections = [section for section in report.sections if section.has_text]
    for section in sections:
        if len(sections) > 1:
            written += [f"## {_text(section.title)}", ""]
        written += [line for block in section.blocks for line in _block(block)]
    return written[:-1] if written[-1:] == [""] else written


def document(report: Report, *, command: str = "") -> str:
    """Return the whole report as a file: folded blocks too, and figures as PNG files beside it.

    Parameters
    ----------
    report
        What is written.
    command
        The command that makes the file again; "" for none.
    """
    written = [f"# {_text(report.title)}", ""]
    written += [line for label, value in report.facts for line in (f"**{_text(label)}**: {_text(value)}", "")]
    written += [] if report.headline is None else _finding(report.headline)
    for section in report.sections:
        written += [f"## {_text(section.title)}", ""]
        for block in unfolded(section.blocks):
            written += _block(block)
            written += [f"![{_text(block.title)}]({block.name}.png)", ""] if isinstance(block, Drawing) else []
    written += [line for note in report.notes for line in (f"Note: {_text(note)}.", "")]
    for label, text in (("Signature", report.signature), ("Command", command)):
        written += [f"{label}:", "", f"    {one_line(text)}", ""] if text else []
    if report.hashes:
        rows = tuple((Cell(label), Cell(sha256)) for label, sha256 in report.hashes)
        written += _table(Table("", ("file or split", "SHA-256"), (("", rows),), text_columns=(0, 1)))
    return "\n".join(written[:-1]) + "\n"


def _text(text: str) -> str:
    return escaped(one_line(text), "md")


def _block(block: Block) -> list[str]:
    if isinstance(block, Finding):
        return _finding(block)
    if isinstance(block, Table):
        return _table(block)
    return [_text(block.text), ""] if isinstance(block, Paragraph) else []


def _finding(finding: Finding) -> list[str]:
    if finding.level is not None:
        return [f"- **{finding.level}** {_text(' '.join(finding.sentences))}", ""]
    title = [f"### {_text(finding.title)}", ""] if finding.title else []
    return [*title, *(line for sentence in finding.sentences for line in (_text(sentence), ""))]


def _table(table: Table) -> list[str]:
    rows: list[list[str]] = []
    for title, of_group in table.groups:
        rows += [[f"**{_text(title)}**", *[""] * (len(table.headings) - 1)]] if title else []
        rows += [[_cell(cell) for cell in row] for row in of_group]
    numbers = [column for column in range(len(table.headings)) if column not in table.text_columns]
    text = render([_text(heading) for heading in table.headings], rows, style="md", numbers=numbers)
    caption = [_text(table.caption), ""] if table.caption else []
    return [*caption, *text.splitlines(), ""]


def _cell(cell: Cell) -> str:
    below = f" ({_text(cell.below)})" if cell.below else ""
    return f"**{_text(cell.text)}**{below}" if cell.marked else f"{_text(cell.text)}{below}"
