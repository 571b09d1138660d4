"""How checks write figures: points, intervals, p values, counts."""

from __future__ import annotations

import numpy as np

from truemoment.audit.material import Paired
from truemoment.intervals import Floats

SIGNIFICANT = 0.05


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
    """Write the two ends of a 95 % interval, fractions, in percentage points."""
    low, high = ci95
    if not np.all(np.isfinite(ci95)):
        return "interval undefined"
    return f"95 % interval {points(low, sign=sign)} to {points(high, sign=sign)}"


def p_value(p: float) -> str:
    """Write a p value, to three decimals."""
    return "p undefined" if not np.isfinite(p) else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def resolves(paired: Paired, m: int) -> str:
    """Write what difference the split can resolve at measure m."""
    value = paired.resolves[m]
    return f"this split can resolve {points(value)}" if np.isfinite(value) else "what it can resolve is undefined"


def some(count: int, one: str, many: str) -> str:
    """Write a count with the words for one or for many."""
    return f"{count:,} {one if count == 1 else many}"


def is_better(paired: Paired, m: int) -> bool:
    """Whether the first system is shown to be better at the headline measure m: p below 5 %, the interval above 0.

    The headline is named beforehand and is one comparison; the corrected p values are for reading the others.
    """
    return bool(paired.p[m] < SIGNIFICANT and paired.ci95[m, 0] > 0)
