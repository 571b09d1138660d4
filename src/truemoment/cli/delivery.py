"""How a command ends: its report goes to the terminal, its document to JSON, its page and figures to files."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import click

from truemoment.cli.outputs import open_page, say, write_json, write_text
from truemoment.report.model import Cell, Report, Section, Table

if TYPE_CHECKING:
    from truemoment.cli.parts import Output, PageOutput


def deliver(
    report: Report, document: Callable[[], Mapping[str, Any]], output: Output, page: PageOutput | None = None
) -> None:
    """Write a report and its JSON document, which is made only if requested, everywhere the options ask for."""
    from truemoment.report.render import terminal

    write_files(report, document, output, page)
    if output.quiet:
        report = replace(report, notes=(), signature="")
    if not output.json_only and (shown := _lines_of(report, output, page)):
        click.echo("\n".join(shown))
    if (output.json_only or output.style is not None) and (closing := terminal.closing(report)):
        click.echo("\n".join(closing), err=True)
    if page is not None and page.html is not None:
        opened = page.open_it and open_page(page.html)
        if not output.quiet:
            say(f"page: {page.html}{' (opened)' if opened else ''}", err=output.json_only)


def deliver_log(report: Report, document: Callable[[], Mapping[str, Any]], output: Output) -> None:
    """Write the result of a command whose report is a log of its work: ``--quiet`` leaves it out."""
    if output.quiet:
        write_files(report, document, output)
    else:
        deliver(report, document, output)


def write_files(
    report: Report, document: Callable[[], Mapping[str, Any]], output: Output, page: PageOutput | None = None
) -> None:
    """Write the files of a result, as :func:`deliver` does, and print nothing."""
    if page is not None and page.html is not None:
        from truemoment.report.render import html

        write_text(page.html, html.page(report, command=shlex.join(["truemoment", *sys.argv[1:]])))
    if page is not None and page.figures is not None:
        from truemoment.report.drawing import save_drawings

        save_drawings(report.drawings, page.figures, venue=page.figure_width)
    if output.json_path is not None:
        write_json(output.json_path, document())


def _lines_of(report: Report, output: Output, page: PageOutput | None) -> list[str]:
    """Return what standard output shows of a report."""
    from truemoment.report.render import brief

    if output.style is not None or output.full:
        return _lines(report, output.style)
    is_page_named = page is not None and page.html is not None and not output.quiet  # in a line below the report
    more = "--full" if page is None else "--full, or as a page with --html FILE"
    return brief.lines(report, more=more, at_most=brief.LINES - is_page_named)


def _lines(report: Report, style: Literal["md", "latex"] | None) -> list[str]:
    """Return the whole report, with notes and signature only in the terminal."""
    from truemoment.report.render import latex, markdown, terminal

    if style is not None:
        return markdown.lines(report) if style == "md" else latex.lines(report)
    closing = terminal.closing(report)
    return [*terminal.body(report), *(["", *closing] if closing else [])]


def show_list(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    style: Literal["md", "latex"] | None = None,
    *,
    numbers: Sequence[int] = (),
    caption: str = "",
) -> None:
    """Print a list as a table on standard output; `numbers` are the columns that are aligned to the right."""
    words = tuple(column for column in range(len(headings)) if column not in numbers)
    cells = tuple(tuple(map(Cell, row)) for row in rows)
    table = Table(caption, tuple(headings), (("", cells),), text_columns=words)
    show(Report(title=caption, sections=(Section("list", caption, (table,)),)), style)


def show(report: Report, style: Literal["md", "latex"] | None = None) -> None:
    """Print a report on standard output, as :func:`deliver` does, with its notes and signature."""
    click.echo("\n".join(_lines(report, style)))


def suggest(why: str, words: Sequence[str], output: Output) -> None:
    """Write a command that usually comes next, unless notes are left out."""
    if not output.quiet:
        to_error = output.json_only or output.style is not None
        say(why, err=to_error)
        say(f"  {shlex.join(words)}", err=to_error)
