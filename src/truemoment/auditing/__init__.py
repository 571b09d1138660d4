"""The audit, which answers whether a model found the moments or guessed where moments usually are.

``audit(case, rng)`` compares a method with blind baselines and runs a list of checks over the results, each of which
returns a finding: a sentence, its level, its evidence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from truemoment.auditing.case import Case
from truemoment.auditing.checks import CHECKS, settled
from truemoment.auditing.checks.base import Check
from truemoment.auditing.findings import Condition, Finding, Outcome, judge, read_gate
from truemoment.auditing.results import Results

__all__ = [
    "CHECKS",
    "Audit",
    "Case",
    "Check",
    "Condition",
    "Finding",
    "Outcome",
    "Results",
    "audit",
    "judge",
    "read_gate",
    "settled",
]


@dataclass(frozen=True, eq=False)
class Audit:
    """What is known of a method, and what was found."""

    results: Results
    findings: tuple[Finding, ...]


def audit(case: Case, rng: np.random.Generator, tell: Callable[[str], None] = lambda _: None) -> Audit:
    """Audit a method.

    Parameters
    ----------
    case
        What is audited, and what there is to compare it with.
    rng
        Generator of all draws; the same seed gives the same audit.
    tell
        Called with what is being done.

    Raises
    ------
    InputError, MeasureError, ProtocolError
        As for :func:`truemoment.evaluate`.
    """
    results = Results(case, rng, tell)
    findings = tuple(finding for check in CHECKS if (finding := check.look(results)) is not None)
    tell("")
    return Audit(results, findings)
