"""The audit, which answers whether a model found the moments or guessed where moments usually are.

:func:`audit` compares a method with blind baselines and runs a list of checks; each returns a finding: a sentence, its
level, its evidence. :func:`audit_predictions` reads all that it needs from files, as the command line does.
"""

from __future__ import annotations

from truemoment.studies.audit.checks import CHECKS, settled
from truemoment.studies.audit.checks.base import Check
from truemoment.studies.audit.findings import AuditFinding, Condition, Outcome, judge, read_gate
from truemoment.studies.audit.reading import RelatedFiles, audit_predictions
from truemoment.studies.audit.results import Results
from truemoment.studies.audit.run import Audit, audit
from truemoment.studies.audit.setup import AuditSetup, Controls, MethodReads, Splits

__all__ = [
    "CHECKS",
    "Audit",
    "AuditFinding",
    "AuditSetup",
    "Check",
    "Condition",
    "Controls",
    "MethodReads",
    "Outcome",
    "RelatedFiles",
    "Results",
    "Splits",
    "audit",
    "audit_predictions",
    "judge",
    "read_gate",
    "settled",
]
