"""Tables for the terminal, Markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Literal

from truemoment.base.boundary.text import one_line

TableStyle = Literal["plain", "md", "latex"]

_TABULATE_NAME = {"plain": "simple", "md": "pipe", "latex": "latex_raw"}


_LATEX: dict[str, str | int | None] = {c: rf"\{c}" for c in "&%$#_{}"}
_LATEX |= {"~": r"\~{}", "^": r"\^{}", "\\": r"\textbackslash{}", "<": "$<$", ">": "$>$", "|": "$|$"}
_LATEX |= {"±": r"$\pm$", "↑": r"$\uparrow$", "↓": r"$\downarrow$"}


def escaped(text: str, style: TableStyle) -> str:
    r"""Write text on one line, so that a terminal, Markdown or LaTeX shows it as it is.

    Examples
    --------
    >>> escaped("loc*act", "md"), escaped("5 %", "latex"), escaped("a_b", "plain")
    ('loc\\*act', '5 \\%', 'a_b')
    """
    text = one_line(text)
    if style == "latex":
        return text.translate(str.maketrans(_LATEX))
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text) if style == "md" else text


def render(
    headings: Sequence[str], rows: Sequence[Sequence[str]], *, style: TableStyle = "plain", numbers: Sequence[int] = ()
) -> str:
    """Lay out a table of text.

    Parameters
    ----------
    headings, rows
        One heading a column, of one line or several; text that :func:`escaped` has written for the style.
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
    text = tabulate(
        rows, headings, tablefmt=_TABULATE_NAME[style], colalign=alignment if rows else None, disable_numparse=True
    )
    if style == "latex":  # the rules of the package booktabs
        for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
            text = text.replace(r"\hline", rule, 1)
    return text


def tightened(text: str) -> str:
    """Leave two blanks between columns, so that the table fits a terminal."""
    lines = text.split("\n")
    table = [line for line in lines if line.strip("- ")]
    rule = next(line for line in lines if not line.strip("- "))
    blank = [all(line[at : at + 1] in ("", " ") for line in table) for at in range(len(rule))]
    columns = []
    for is_blank, places in groupby(range(len(rule)), blank.__getitem__):
        run = list(places)
        columns += sorted(sorted(run, key=lambda at: rule[at])[:2]) if is_blank else run  # where the rule is blank too
    return "\n".join("".join(line[at : at + 1] for at in columns).rstrip() for line in lines)
