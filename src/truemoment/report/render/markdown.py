"""Reports as Markdown: sentences and tables to be pasted, or a whole document with its figures beside it."""

from __future__ import annotations

from truemoment.base.boundary.text import one_line
from truemoment.report.charts import Chart
from truemoment.report.model import Cell, Drawing, Report, Table, unfolded
from truemoment.report.render.markup import Markup

MARKDOWN = Markup("md", section="## {}", title="### {}", level="- **{}**", bold="**{}**")

lines = MARKDOWN.lines


def document(report: Report, *, command: str = "") -> str:
    """Return the whole report as a file: folded blocks too, and figures as PNG files beside it.

    Parameters
    ----------
    report
        Report to write.
    command
        The command that makes the file again; "" for none.
    """
    text = MARKDOWN.text
    written = [f"# {text(report.title)}", ""]
    written += [line for label, value in report.facts for line in (f"**{text(label)}**: {text(value)}", "")]
    written += [] if report.headline is None else MARKDOWN.block(report.headline)
    for section in report.sections:
        written += [f"## {text(section.title)}", ""]
        for block in unfolded(section.blocks):
            written += MARKDOWN.block(block)
            written += [f"![{text(block.title)}]({block.name}.png)", ""] if isinstance(block, Drawing | Chart) else []
    written += [line for note in report.notes for line in (f"Note: {text(note)}.", "")]
    for label, value in (("Signature", report.signature), ("Command", command)):
        written += [f"{label}:", "", f"    {one_line(value)}", ""] if value else []
    if report.hashes:
        rows = tuple((Cell(label), Cell(sha256)) for label, sha256 in report.hashes)
        written += MARKDOWN.block(Table("", ("file or split", "SHA-256"), (("", rows),), text_columns=(0, 1)))
    return "\n".join(written[:-1]) + "\n"
