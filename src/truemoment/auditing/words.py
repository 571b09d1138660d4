"""How findings write figures: points, intervals, p values, counts."""

from __future__ import annotations

import numpy as np

from truemoment.intervals import Floats


def points(fraction: float, *, sign: bool = False) -> str:
    """Write a difference of two figures in percentage points.

    Examples
    --------
    >>> points(0.0123, sign=True)
    '+1.2'
    """
    rounded = round(100 * fraction, 1) + 0.0  # no "-0.0"
    return f"{rounded:{'+' if sign else ''}.1f}"


def interval(ci95: Floats, *, sign: bool = False) -> str:
    """Write a 95 % interval of fractions in percentage points."""
    if not np.all(np.isfinite(ci95)):
        return "95 % interval undefined"
    return f"95 % interval {points(ci95[0], sign=sign)} to {points(ci95[1], sign=sign)}"


def plain_interval(ci95: Floats) -> str:
    """Write a 95 % interval of a number that is no percentage, such as a skill.

    Examples
    --------
    >>> plain_interval(np.array([-0.004, 0.213]))
    '95 % interval 0.00 to 0.21'
    """
    if not np.all(np.isfinite(ci95)):
        return "95 % interval undefined"
    return f"95 % interval {number(ci95[0])} to {number(ci95[1])}"


def number(value: float) -> str:
    """Write a number with two decimals, and zero without a sign."""
    return f"{round(value, 2) + 0.0:.2f}"


def p_value(p: float) -> str:
    """Write a p value, to three decimals."""
    return "p undefined" if not np.isfinite(p) else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def detectable(resolves: float) -> str:
    """Write the smallest difference that a split can show."""
    if not np.isfinite(resolves):
        return "the smallest detectable difference is undefined"
    return f"the smallest difference that can be detected with 80 % power is {points(resolves)} points"


def some(count: int, one: str, many: str) -> str:
    """Write a count with the words for one or for many."""
    return f"{count:,} {one if count == 1 else many}"


def percent(share: float) -> str:
    """Write a share in percent, with one decimal."""
    return f"{100 * share:.1f} %" if np.isfinite(share) else "share undefined"
