"""Findings of an audit, one sentence per check with its evidence, and the conditions of a gate."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from truemoment.base.errors import UsageError
from truemoment.report.model import Level


@dataclass(frozen=True)
class AuditFinding:
    """The finding of a check.

    Parameters
    ----------
    check
        Name of the check in a gate.
    level
        ``serious``, ``warning``, ``note`` or ``good`` (passed).
    verdict
        One sentence with its figures.
    figure
        The number that the verdict depends on, a fraction; None if there is none.
    holds
        Whether the check passes; None if that is unknown, or if the check cannot fail.
    ci95
        95 % interval of the figure; None if it has none.
    """

    check: str
    level: Level
    verdict: str
    evidence: tuple[str, ...] = ()
    figure: float | None = None
    holds: bool | None = None
    ci95: tuple[float, float] | None = None


_COMPARE = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}


class Condition(NamedTuple):
    """One condition of a gate: a check that must pass, or a figure that must lie on one side of a number.

    Both ends of a figure's interval must lie there too, unless `point` is true.
    """

    text: str
    name: str
    comparison: str = ""
    limit: float = math.nan
    point: bool = False


class Outcome(NamedTuple):
    """Whether a condition of a gate passes, and why."""

    condition: Condition
    passed: bool
    why: str


def read_gate(text: str) -> tuple[Condition, ...]:
    """Read conditions separated by ``;``: ``better-than-guessing; shortcut-share<0.8; skill>0.2 (point)``.

    Raises
    ------
    UsageError
        If the text contains no condition, or one that cannot be read.

    Examples
    --------
    >>> read_gate("better-than-guessing; shortcut-share<0.8")[1]
    Condition(text='shortcut-share<0.8', name='shortcut-share', comparison='<', limit=0.8, point=False)
    """
    conditions = []
    for part in filter(None, (part.strip() for part in text.split(";"))):
        match = re.fullmatch(r"(.+?)\s*(<=|>=|<|>)\s*([^\s(]+)(\s*\(point\))?", part)
        if match is None:
            conditions.append(Condition(part, part))
            continue
        try:
            limit = float(match[3])
        except ValueError:
            limit = math.nan
        if not math.isfinite(limit):
            raise UsageError(f"gate {part!r}: got {match[3]!r}, expected a number (fractions, not percent)")
        conditions.append(Condition(part, match[1], match[2], limit, point=match[4] is not None))
    if not conditions:
        raise UsageError(f"gate {text!r}: got no condition, expected some separated by ';'")
    return tuple(conditions)


def judge(
    conditions: Sequence[Condition], findings: Sequence[AuditFinding], figures: Mapping[str, float]
) -> tuple[Outcome, ...]:
    """Check conditions of :func:`read_gate` on findings, and on `figures` of measures by name (fractions).

    A condition that is undecided or does not apply fails.
    """
    by_name = {finding.check: finding for finding in findings}
    outcomes = []
    for condition in conditions:
        finding = by_name.get(condition.name)
        figure = figures.get(condition.name) if finding is None else finding.figure
        if finding is None and figure is None:
            passed, why = False, f"{condition.name} does not apply here"
        elif condition.comparison:
            ci95 = None if finding is None or condition.point else finding.ci95
            passed, why = _compare(condition, math.nan if figure is None else figure, ci95)
        else:
            passed = finding is not None and finding.holds is True
            undecided = finding is not None and finding.holds is None
            why = "" if finding is None else f"{'undecided: ' if undecided else ''}{finding.verdict}"
        outcomes.append(Outcome(condition, passed, why))
    return tuple(outcomes)


def _compare(condition: Condition, value: float, ci95: tuple[float, float] | None) -> tuple[bool, str]:
    """Return whether a figure and its interval lie on the right side of the limit, and a sentence about them."""
    if not math.isfinite(value):
        return False, f"{condition.name} is undefined"
    if ci95 is None:
        return _COMPARE[condition.comparison](value, condition.limit), f"{condition.name} is {value:.4f}"
    low, high = ci95
    bound = low if ">" in condition.comparison else high
    passed = math.isfinite(bound) and _COMPARE[condition.comparison](bound, condition.limit)
    return passed, f"{condition.name} is {value:.4f}, 95 % interval {low:.4f} to {high:.4f}"
