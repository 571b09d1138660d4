"""Tables for the terminal, Markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

TableStyle = Literal["plain", "md", "latex"]

_TABULATE_NAME = {"plain": "simple", "md": "pipe", "latex": "latex_raw"}


_LATEX: dict[str, str | int | None] = {c: rf"\{c}" for c in "&%$#_{}"}
_LATEX |= {"~": r"\~{}", "^": r"\^{}", "\\": r"\textbackslash{}", "<": "$<$", ">": "$>$", "|": "$|$"}


class Escaped(str):
    """Text that is written for a style already, so that a table does not do it again."""

    __slots__ = ()


def escaped(text: str, style: TableStyle) -> str:
    r"""Write text so that Markdown or LaTeX shows it as it is; what was written so already stays.

    Examples
    --------
    >>> escaped("loc*act", "md"), escaped("5 %", "latex"), escaped("a_b", "plain")
    ('loc\\*act', '5 \\%', 'a_b')
    """
    if isinstance(text, Escaped):
        return text
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
        One heading a column; cells are text already, and stay as they are but for LaTeX: there those that
        :func:`escaped` has not written are written by it.
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
    if style == "latex":
        headings, *rows = ([escaped(cell, style) for cell in cells] for cells in (headings, *rows))
    text = tabulate(
        rows, headings, tablefmt=_TABULATE_NAME[style], colalign=alignment if rows else None, disable_numparse=True
    )
    if style == "latex":  # the rules of the package booktabs
        for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
            text = text.replace(r"\hline", rule, 1)
    return text
