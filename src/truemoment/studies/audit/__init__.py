"""The audit, which answers whether a model found the moments or guessed where moments usually are.

:func:`~truemoment.studies.audit.run.audit` compares a method with blind baselines and runs a list of checks; each
returns a finding: a sentence, its level, its evidence. :func:`~truemoment.studies.audit.reading.run` reads all that it
needs from files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from truemoment.base.lazy import lazy

if TYPE_CHECKING:
    from truemoment.studies.audit.checks import CHECKS, resolve_conditions
    from truemoment.studies.audit.checks.base import Check
    from truemoment.studies.audit.findings import AuditFinding, Condition, Outcome, judge, read_gate
    from truemoment.studies.audit.request import AuditRequest, MethodReads
    from truemoment.studies.audit.results import Results
    from truemoment.studies.audit.run import Audit, audit
    from truemoment.studies.audit.setup import AuditSetup, Controls, Splits
    from truemoment.studies.audit.shuffled import (
        compare_shuffled,
        generator_of,
        segment_order,
        shuffle_features,
        shuffle_segments,
    )
else:
    __getattr__ = lazy(
        __name__,
        {
            "CHECKS": "checks",
            "Audit": "run",
            "AuditFinding": "findings",
            "AuditRequest": "request",
            "AuditSetup": "setup",
            "Check": "checks.base",
            "Condition": "findings",
            "Controls": "setup",
            "MethodReads": "request",
            "Outcome": "findings",
            "Results": "results",
            "Splits": "setup",
            "audit": "run",
            "compare_shuffled": "shuffled",
            "generator_of": "shuffled",
            "judge": "findings",
            "read_gate": "findings",
            "segment_order": "shuffled",
            "resolve_conditions": "checks",
            "shuffle_features": "shuffled",
            "shuffle_segments": "shuffled",
        },
    )

__all__ = [
    "CHECKS",
    "Audit",
    "AuditFinding",
    "AuditRequest",
    "AuditSetup",
    "Check",
    "Condition",
    "Controls",
    "MethodReads",
    "Outcome",
    "Results",
    "Splits",
    "audit",
    "compare_shuffled",
    "generator_of",
    "judge",
    "read_gate",
    "resolve_conditions",
    "segment_order",
    "shuffle_features",
    "shuffle_segments",
]
