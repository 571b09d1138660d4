"""Rows as CSV: numbers in full, nothing where a number is undefined, and no text that a spreadsheet computes."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence

from truemoment.text import printable_lines


def csv_text(rows: Sequence[Mapping[str, object]]) -> str:
    r"""Return rows with the same keys as CSV; the first line has the keys.

    Examples
    --------
    >>> csv_text([{"method": "=ours", "value": 0.5}, {"method": "base", "value": float("nan")}])
    "method,value\n'=ours,0.5\nbase,\n"
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    if rows:
        writer.writerow(list(rows[0]))
    for row in rows:
        writer.writerow([_cell(value) for value in row.values()])
    return stream.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    return no_formula(printable_lines(value)) if isinstance(value, str) else value


_FORMULA = re.compile(r"'*([=@\t\r]|[+-](?![\w.:#-]*\Z))")


def no_formula(text: str) -> str:
    r"""Return a text that no spreadsheet takes for a formula: one that begins with = + - @ gets a ' before it.

    Names and numbers that begin with a sign, as some ids of videos do, stay: they call nothing.

    Examples
    --------
    >>> no_formula("=1+1"), no_formula("-x7_Q"), no_formula("-2+cmd|' /C calc'!A0"), no_formula("'=1")
    ("'=1+1", '-x7_Q', "'-2+cmd|' /C calc'!A0", "''=1")
    """
    return f"'{text}" if _FORMULA.match(text) else text


def from_cell(text: str) -> str:
    """Return the text that :func:`no_formula` made a cell of."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text, 1) else text
