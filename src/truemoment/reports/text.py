"""Words of reports: names and numbers in sentences, tables in a terminal."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from truemoment.intervals import Floats

WIDTH = 100
"""Columns of a terminal that text is wrapped to."""


def folded(text: str, width: int = WIDTH) -> str:
    r"""Continue a table below, its first column again, where it would be wider than a terminal.

    Examples
    --------
    >>> print(folded("name  a  b\n----  -  -\nx     1  2", 8))
    name  a
    ----  -
    x     1
    <BLANKLINE>
    name  b
    ----  -
    x     2
    """
    lines = text.split("\n")
    rule = next(line for line in lines if not line.strip("- "))
    first, *columns = (found.span() for found in re.finditer("-+", rule))
    parts: list[list[tuple[int, int]]] = [[]]
    for column in columns:
        if parts[-1] and first[1] + 2 + column[1] - parts[-1][0][0] > width:
            parts.append([])
        parts[-1].append(column)
    tables = []
    for part in parts:
        cut = (line[: first[1]].ljust(first[1] + 2) + line[part[0][0] : part[-1][1]] for line in lines if columns)
        tables.append("\n".join(line.rstrip() for line in cut if line.strip()))  # headings may be shorter here
    return "\n\n".join(tables) if columns else text


# ------------------------------------------------------------------------------------- names and counts


def listed(words: Sequence[str], word: str = "and") -> str:
    """Name all in a row.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"], "or")
    ('a', 'a, b or c')
    """
    return f" {word} ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def few(names: Sequence[str], most: int = 4) -> str:
    """Name all, or some and how many more: never more than `most` parts.

    Examples
    --------
    >>> few(["a", "b", "c", "d"]), few(["a", "b", "c", "d", "e"])
    ('a, b, c and d', 'a, b, c and 2 more')
    """
    return listed(names) if len(names) <= most else listed([*names[: most - 1], f"{len(names) - most + 1:,} more"])


def counted(count: int, one: str, many: str = "") -> str:
    """Write a count and what is counted; `many` is `one` and an s unless it is given.

    Examples
    --------
    >>> counted(1, "pair"), counted(1200, "pair"), counted(2, "query", "queries")
    ('1 pair', '1,200 pairs', '2 queries')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


# ---------------------------------------------------------------------------------------------- numbers


def number(value: float, decimals: int, *, sign: str = "") -> str:
    """Write a number; "-" where it is undefined, and no sign where it is rounded to 0.

    Parameters
    ----------
    value
        NaN or infinite where it is undefined.
    decimals
        Of the fraction.
    sign
        "+" for a sign before positive numbers too.

    Examples
    --------
    >>> [number(value, 1, sign="+") for value in (0.26, -0.26, -0.04, float("nan"))]
    ['+0.3', '-0.3', '0.0', '-']
    """
    if not math.isfinite(value):
        return "-"
    shown = f"{value:{sign}.{decimals}f}"
    return shown if float(shown) else shown.lstrip("+-")


def percent(share: float, decimals: int = 0) -> str:
    """Write a fraction in percent; "-" where it is undefined.

    Examples
    --------
    >>> percent(0.257), percent(0.257, 1), percent(float("nan"))
    ('26 %', '25.7 %', '-')
    """
    return f"{number(100 * share, decimals)} %" if math.isfinite(share) else "-"


def points(fraction: float, decimals: int = 2) -> str:
    """Write a difference of fractions in percentage points; "-" where it is undefined.

    Examples
    --------
    >>> points(0.0123), points(-0.000001)
    ('1.23 points', '0.00 points')
    """
    return f"{number(100 * fraction, decimals)} points" if math.isfinite(fraction) else "-"


def low_to_high(interval: Floats | Iterable[float], decimals: int, *, times: float = 1) -> str:
    """Write the two ends of an interval, each so many times as large; "" where one is undefined.

    Examples
    --------
    >>> low_to_high((-0.001, 0.257), 1, times=100), low_to_high((0.0, float("nan")), 1)
    ('-0.1 to 25.7', '')
    """
    low, high = (times * float(end) for end in interval)
    known = math.isfinite(low) and math.isfinite(high)
    return f"{number(low, decimals)} to {number(high, decimals)}" if known else ""
