"""How reports write names, counts, numbers, intervals and p-values: each in one way, in sentences and in tables.

A number that is undefined is written "-" in a table and "undefined" in a sentence.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from truemoment.base.intervals import Floats

UNDEFINED = "-"

# ------------------------------------------------------------------------------------- names and counts


def listed(words: Sequence[str], word: str = "and") -> str:
    """Join names into an enumeration.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"], "or")
    ('a', 'a, b or c')
    """
    return f" {word} ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def few(names: Sequence[str], most: int = 4) -> str:
    """Name all, or the first ones and how many more: `most` parts at most.

    Examples
    --------
    >>> few(["a", "b", "c", "d"]), few(["a", "b", "c", "d", "e"])
    ('a, b, c and d', 'a, b, c and 2 more')
    """
    return listed(names) if len(names) <= most else listed([*names[: most - 1], f"{len(names) - most + 1:,} more"])


def counted(count: int, singular: str, plural: str = "") -> str:
    """Write a count and the counted thing; `plural` is `singular` and an s by default.

    Examples
    --------
    >>> counted(1, "pair"), counted(1200, "pair"), counted(2, "query", "queries")
    ('1 pair', '1,200 pairs', '2 queries')
    """
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def columns_of(text: str) -> int:
    """Count the columns of a text in a terminal; East Asian characters are two columns wide.

    Examples
    --------
    >>> columns_of("film"), columns_of("電影")
    (4, 4)
    """
    return len(text) if text.isascii() else sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def shortened(text: str, columns: int) -> str:
    """Leave out the middle of a text that is wider.

    Examples
    --------
    >>> shortened("holidays-2019-part-1", 11), shortened("holidays", 11)
    ('holid…art-1', 'holidays')
    """
    if columns_of(text) <= columns:
        return text
    wide = [columns_of(c) for c in text]
    first, last = 0, len(text)
    width = 1  # of the ellipsis
    while first < last:
        at = first if first <= len(text) - last else last - 1
        if width + wide[at] > columns:
            break
        width += wide[at]
        first, last = (first + 1, last) if at == first else (first, last - 1)
    return f"{text[:first]}…{text[last:]}"


def clock(time_s: float) -> str:
    """Write seconds as a player shows them.

    Examples
    --------
    >>> clock(75.26), clock(3599.96), clock(7.0)
    ('0:01:15.3', '1:00:00.0', '0:00:07.0')
    """
    tenths = round(time_s * 10)
    return f"{tenths // 36000}:{tenths // 600 % 60:02}:{tenths // 10 % 60:02}.{tenths % 10}"


# ---------------------------------------------------------------------------------------------- numbers


def about(seconds: float) -> str:
    """Return a rough duration in words.

    Examples
    --------
    >>> about(38.2), about(100), about(447), about(5000)
    ('about 40 seconds', 'about 2 minutes', 'about 7 minutes', 'about 1.4 hours')
    """
    if seconds < 55:
        return f"about {10 * max(round(seconds / 10), 1)} seconds"
    if seconds < 3600:
        return f"about {counted(round(seconds / 60), 'minute')}"
    return f"about {seconds / 3600:.1f} hours"


def number(value: float, decimals: int = 2, *, sign: str = "") -> str:
    """Write a number; "-" where it is undefined, and zero without a sign.

    Parameters
    ----------
    value
        NaN or infinite where it is undefined.
    decimals
        Number of decimals.
    sign
        "+" for a sign before positive numbers too.

    Examples
    --------
    >>> [number(value, 1, sign="+") for value in (0.26, -0.26, -0.04, float("nan"))]
    ['+0.3', '-0.3', '0.0', '-']
    """
    if not math.isfinite(value):
        return UNDEFINED
    shown = f"{value:{sign},.{decimals}f}"
    return shown if any(digit in shown for digit in "123456789") else shown.lstrip("+-")


def percent(share: float, decimals: int = 0) -> str:
    """Write a fraction in percent; "-" where it is undefined.

    Examples
    --------
    >>> percent(0.257), percent(0.257, 1), percent(float("nan"))
    ('26 %', '25.7 %', '-')
    """
    return f"{number(100 * share, decimals)} %" if math.isfinite(share) else UNDEFINED


def points(fraction: float, decimals: int = 1, *, sign: str = "") -> str:
    """Write a difference of fractions in percentage points, as a number without its unit.

    Examples
    --------
    >>> points(0.0123, sign="+"), points(-0.000001, 2), points(float("nan"))
    ('+1.2', '0.00', '-')
    """
    return number(100 * fraction, decimals, sign=sign)


def in_points(fraction: float, decimals: int = 2) -> str:
    """Write a difference of fractions in percentage points with their unit; "-" where it is undefined.

    Examples
    --------
    >>> in_points(0.0123), in_points(-0.000001)
    ('1.23 points', '0.00 points')
    """
    return f"{points(fraction, decimals)} points" if math.isfinite(fraction) else UNDEFINED


# ------------------------------------------------------------------------------ intervals and p-values


def low_to_high(interval: Floats | Iterable[float], decimals: int = 2, *, times: float = 1, sign: str = "") -> str:
    """Write the two ends of an interval, each multiplied by `times`; "" where one is undefined.

    Examples
    --------
    >>> low_to_high((-0.001, 0.257), 1, times=100), low_to_high((0.0, float("nan")), 1)
    ('-0.1 to 25.7', '')
    """
    low, high = (times * float(end) for end in interval)
    is_known = math.isfinite(low) and math.isfinite(high)
    return f"{number(low, decimals, sign=sign)} to {number(high, decimals, sign=sign)}" if is_known else ""


def interval95(ci95: Floats | Iterable[float], decimals: int = 2) -> str:
    """Write a 95 % interval in a sentence.

    Examples
    --------
    >>> interval95((-0.004, 0.213)), interval95((float("nan"), 1.0))
    ('95 % interval 0.00 to 0.21', '95 % interval undefined')
    """
    return f"95 % interval {low_to_high(ci95, decimals) or 'undefined'}"


def interval95_points(ci95: Floats | Iterable[float], decimals: int = 1, *, sign: str = "") -> str:
    """Write a 95 % interval of fractions in percentage points, in a sentence.

    Examples
    --------
    >>> interval95_points((0.012, 0.0344))
    '95 % interval 1.2 to 3.4'
    """
    return f"95 % interval {low_to_high(ci95, decimals, times=100, sign=sign) or 'undefined'}"


SMALLEST_P = 0.001
"""Smaller p-values are written as smaller than this."""


def p_value(p: float) -> str:
    """Write a p-value in a sentence.

    Examples
    --------
    >>> p_value(0.0234), p_value(0.0001), p_value(float("nan"))
    ('p = 0.023', 'p < 0.001', 'p undefined')
    """
    if not math.isfinite(p):
        return "p undefined"
    return f"p < {SMALLEST_P}" if p < SMALLEST_P else f"p = {p:.3f}"


def p_number(p: float) -> str:
    """Write a p-value in a table, under a heading that says what it is.

    Examples
    --------
    >>> p_number(0.0234), p_number(0.0001), p_number(float("nan"))
    ('0.023', '< 0.001', '-')
    """
    if not math.isfinite(p):
        return UNDEFINED
    return f"< {SMALLEST_P}" if p < SMALLEST_P else f"{p:.3f}"
