"""Tables for the terminal, Markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Literal

from truemoment.base.boundary.text import printable, printable_lines

TableStyle = Literal["plain", "md", "latex"]

_TABULATE_NAME = {"plain": "simple", "md": "pipe", "latex": "latex_raw"}


_LATEX: dict[str, str | int | None] = {c: rf"\{c}" for c in "&%$#_{}"}
_LATEX |= {"~": r"\~{}", "^": r"\^{}", "\\": r"\textbackslash{}", "<": "$<$", ">": "$>$", "|": "$|$"}
_LATEX |= {"±": r"$\pm$", "↑": r"$\uparrow$", "↓": r"$\downarrow$"}


class Escaped(str):
    """Text that is written for a style already, so that a table does not do it again."""

    __slots__ = ()


def escaped(text: str, style: TableStyle) -> str:
    r"""Write text so that Markdown or LaTeX shows it as it is; what was written so already stays.

    What would steer a terminal is written as :func:`~truemoment.base.boundary.text.printable` does.

    Examples
    --------
    >>> escaped("loc*act", "md"), escaped("5 %", "latex"), escaped("a_b", "plain")
    ('loc\\*act', '5 \\%', 'a_b')
    """
    if isinstance(text, Escaped):
        return text
    text = printable(text)
    if style == "latex":
        return Escaped(text.translate(str.maketrans(_LATEX)))
    return Escaped(re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text) if style == "md" else text)


def render(
    headings: Sequence[str], rows: Sequence[Sequence[str]], *, style: TableStyle = "plain", numbers: Sequence[int] = ()
) -> str:
    """Lay out a table of text.

    Parameters
    ----------
    headings, rows
        One heading a column, of one line or several; cells are text already. Those that :func:`escaped` has not
        written are written by it for LaTeX, and else by :func:`~truemoment.base.boundary.text.printable`.
    style
        ``plain`` for the terminal, ``md`` for Markdown, ``latex`` for a booktabs table.
    numbers
        Columns that are aligned to the right.

    Examples
    --------
    >>> print(render(["measure", "%"], [["mIoU", "44.28"]], numbers=[1]))
    measure        %
    ---------  -----
    mIoU       44.28
    """
    from tabulate import tabulate  # noqa: PLC0415 - importing takes time that JSON output need not spend

    alignment = ["right" if column in numbers else "left" for column in range(len(headings))]
    headings = [_fit(heading, style, printable_lines) for heading in headings]
    rows = [[_fit(cell, style, printable) for cell in row] for row in rows]
    text = tabulate(
        rows, headings, tablefmt=_TABULATE_NAME[style], colalign=alignment if rows else None, disable_numparse=True
    )
    if style == "latex":  # the rules of the package booktabs
        for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
            text = text.replace(r"\hline", rule, 1)
    return text


def _fit(cell: str, style: TableStyle, write: Callable[[str], str]) -> str:
    return escaped(cell, style) if style == "latex" or isinstance(cell, Escaped) else write(cell)


def tightened(text: str) -> str:
    """Leave two blanks between columns, so that the table fits a terminal."""
    lines = text.split("\n")
    table = [line for line in lines if line.strip("- ")]
    rule = next(line for line in lines if not line.strip("- "))
    blank = [all(line[at : at + 1] in ("", " ") for line in table) for at in range(len(rule))]
    kept = []
    for is_blank, places in groupby(range(len(rule)), blank.__getitem__):
        run = list(places)
        kept += sorted(sorted(run, key=lambda at: rule[at])[:2]) if is_blank else run  # where the rule is blank too
    return "\n".join("".join(line[at : at + 1] for at in kept).rstrip() for line in lines)
