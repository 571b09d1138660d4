"""Words of reports: text from outside made fit for a line, and tables made fit for a terminal."""

from __future__ import annotations

import unicodedata
from itertools import groupby

WIDTH = 100
"""Columns of a terminal that text is wrapped to."""

_ASTRAY = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks that change the direction of the text around them."""


def one_line(text: str) -> str:
    r"""Write text from outside on one line: control characters and marks of direction become U+FFFD.

    Examples
    --------
    >>> one_line("a door\n opens")
    'a door opens'
    """
    shown = (
        c if c.isspace() or (c not in _ASTRAY and unicodedata.category(c) not in _HIDDEN) else "\ufffd" for c in text
    )
    return " ".join("".join(shown).split())


_HIDDEN = ("Cc", "Cs", "Cn")  # controls, halves of characters, and what is no character


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
