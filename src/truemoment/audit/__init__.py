"""The audit, which tells whether a model found the moment or guessed where moments usually are.

``audit(case, rng)`` gathers material (scores, floors, ceilings, intervals, diagnoses) and runs a list of checks over
it, each of which returns a finding: a sentence, its level, its evidence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from truemoment.audit.checks import CHECKS, Check, settled
from truemoment.audit.findings import Condition, Finding, Outcome, judge, read_gate
from truemoment.audit.material import Case, Material, gather

__all__ = [
    "CHECKS",
    "Audit",
    "Case",
    "Check",
    "Condition",
    "Finding",
    "Material",
    "Outcome",
    "audit",
    "judge",
    "read_gate",
    "settled",
]


@dataclass(frozen=True, eq=False)
class Audit:
    """What was looked at, and what was found."""

    material: Material
    findings: tuple[Finding, ...]


def audit(case: Case, rng: np.random.Generator, tell: Callable[[str], None] = lambda _: None) -> Audit:
    """Audit a method.

    Parameters
    ----------
    case
        What is audited, and what there is to hold it against.
    rng
        Generator of all draws; the same seed gives the same audit.
    tell
        Told what is being done.

    Raises
    ------
    InputError, MeasureError, ProtocolError
        As for :func:`truemoment.evaluate`.
    """
    material = gather(case, rng, tell)
    return Audit(material, tuple(finding for check in CHECKS if (finding := check.look(material)) is not None))
