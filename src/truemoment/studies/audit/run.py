"""An audit: every check on one set of results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from truemoment.studies.audit.checks import CHECKS, settled
from truemoment.studies.audit.findings import AuditFinding, Condition, Outcome, judge
from truemoment.studies.audit.results import Results
from truemoment.studies.audit.setup import AuditSetup


@dataclass(frozen=True, eq=False)
class Audit:
    """The findings about a method, and the results that they are computed from.

    Parameters
    ----------
    findings
        One for each check that applies; the first one is the verdict.
    outcomes
        Outcomes of a gate's conditions.
    sources
        Files that were read: ``path`` and ``sha256`` of the predictions, ``beside`` other predictions by option,
        ``model`` the model that predicted on changed videos.
    """

    results: Results
    findings: tuple[AuditFinding, ...]
    outcomes: tuple[Outcome, ...] = ()
    seed: int = 0
    sources: Mapping[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether every condition of the gate passes."""
        return all(outcome.passed for outcome in self.outcomes)


def audit(
    setup: AuditSetup,
    *,
    seed: int = 0,
    conditions: Sequence[Condition] = (),
    sources: Mapping[str, Any] | None = None,
    on_status: Callable[[str], None] = lambda _: None,
) -> Audit:
    """Audit a method.

    `conditions` are those of a gate, as :func:`truemoment.studies.audit.read_gate` returns them. `sources` are the
    files that were read, see :class:`Audit`. `on_status` is called with what is being done.

    Raises
    ------
    UsageError
        If a condition names no check and no measure of this audit.
    InputError, MeasureError, ProtocolError
        As for :func:`truemoment.evaluate`.
    """
    conditions = settled(conditions, setup.measures)
    results = Results(setup, seed, on_status)
    findings = tuple(finding for check in CHECKS if (finding := check.found(results)) is not None)
    figures = {str(measure): results.scores.value(measure) for measure in results.setup.measures}
    outcomes = judge(conditions, findings, figures)
    on_status("")
    return Audit(results, findings, outcomes, seed, sources or {})
