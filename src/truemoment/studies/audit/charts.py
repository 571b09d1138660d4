"""Marks of strip charts, as several checks draw them: figures in percent with their intervals."""

from __future__ import annotations

from truemoment.base.intervals import Floats
from truemoment.report.charts import StripMark
from truemoment.report.roles import RoleName


def percent_mark(role: RoleName, value: float, ci95: Floats) -> StripMark:
    """Return the mark of a fraction and its interval, in percent."""
    return StripMark(role, 100 * float(value), (100 * float(ci95[0]), 100 * float(ci95[1])))
