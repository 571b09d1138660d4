"""The definition of a check."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from truemoment.report.model import Block
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results

FIGURES, SCORE, CLASSES, EXAMPLES = "figures", "behind", "classes", "examples"

SECTIONS: Mapping[str, str] = {
    FIGURES: "Method, floors and ceilings",
    SCORE: "Where the score comes from",
    CLASSES: "By class of query",
    EXAMPLES: "Examples",
}
"""Sections of the report that checks add blocks to, in order, with their titles."""


@dataclass(frozen=True)
class Check:
    """One check of an audit: its finding, its blocks of the report, and its keys of the JSON document.

    Parameters
    ----------
    name, title
        Its name in a gate, and its title in the report.
    looks_at, passes, figure
        What it examines; when it passes ("" if it cannot fail); its figure, a fraction ("" for none).
    look
        Returns its finding, or None if it does not apply.
    blocks
        Returns its tables and drawings by section, a key of :data:`SECTIONS`.
    document
        Returns its keys of the JSON document, each in every audit.
    against_floors
        Whether the check compares with floors; it then has no outcome if these had too little to learn from.
    """

    name: str
    title: str
    looks_at: str
    look: Callable[[Results], AuditFinding | None]
    passes: str = ""
    figure: str = ""
    blocks: Callable[[Results], Mapping[str, Sequence[Block]]] = lambda _: {}
    document: Callable[[Results], Mapping[str, Any]] = lambda _: {}
    against_floors: bool = False

    def finding(self, results: Results) -> AuditFinding | None:
        """Return the finding, without figure and outcome if it depends on floors that had too little to learn from."""
        finding = self.look(results)
        if finding is None or not (self.against_floors and results.verdict.training_faults):
            return finding
        return replace(finding, figure=None, holds=None, ci95=None)
