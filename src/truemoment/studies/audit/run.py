"""Run every check of an audit on one set of results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from truemoment.report.model import Report
from truemoment.report.result import Result
from truemoment.studies.audit import report as reports
from truemoment.studies.audit.checks import CHECKS, resolve_conditions
from truemoment.studies.audit.findings import AuditFinding, Condition, Outcome, judge
from truemoment.studies.audit.results import Results
from truemoment.studies.audit.setup import AuditSetup


@dataclass(frozen=True, repr=False, eq=False)
class Audit(Result):
    """The findings about a method, and the results that they are computed from.

    Parameters
    ----------
    findings
        One finding per check that applies; the first one is the verdict.
    outcomes
        Outcomes of a gate's conditions.
    sources
        Input files: ``path`` and ``sha256`` of the predictions, other predictions by option as ``beside``, and the
        model that predicted on changed videos as ``model``.
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

    @property
    def verdict(self) -> str:
        """``better``, ``worse`` or ``not decided``, at the headline measure."""
        return self.results.verdict.kind(self.results.headline)

    def report(self) -> Report:
        """Return the report for people."""
        return reports.report(self)

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment audit --json`` writes it."""
        return reports.document(self)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per system and measure: the method, every floor and every ceiling."""
        results = self.results
        systems = [("method", results.setup.predictions.name, results.scores)]
        systems += [("floor", floor.title, floor.scores) for floor in results.floors]
        systems += [("ceiling", ceiling.title, ceiling.scores) for ceiling in results.ceilings]
        return [
            {"kind": kind, "system": title, "measure": figure.measure, "value": figure.value}
            for kind, title, scores in systems
            for figure in scores.measured()
        ]

    def __repr__(self) -> str:
        """Return what was audited and the verdict, in one line."""
        results = self.results
        where = f"{results.scores.dataset}/{results.scores.split}"
        return (
            f"Audit of {results.setup.predictions.name} on {where}: {self.verdict} "
            f"({len(results.floors)} blind baselines, {results.measure})"
        )


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
    input files, see :class:`Audit`. `on_status` is called with the name of each step.

    Raises
    ------
    UsageError
        If a condition names no check and no measure of this audit.
    InputError, MeasureError, ProtocolError
        As for :func:`truemoment.evaluate`.
    """
    conditions = resolve_conditions(conditions, setup.measures)
    results = Results(setup, seed, on_status)
    findings = tuple(finding for check in CHECKS if (finding := check.finding(results)) is not None)
    figures = {str(measure): results.scores.value(measure) for measure in results.setup.measures}
    outcomes = judge(conditions, findings, figures)
    on_status("")
    return Audit(results, findings, outcomes, seed, sources or {})
