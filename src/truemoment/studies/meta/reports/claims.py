"""The report on the AxIoU paper's claims: which of them hold for these systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from truemoment.report.model import Cell, Finding, Paragraph, Section, Table
from truemoment.report.words import counted
from truemoment.studies.meta.claims import Claim


def section(claims: Sequence[Claim]) -> Section:
    """Return each claim beside what was found."""
    counts = Counter(claim.outcome for claim in claims)
    checked = counted(len(claims) - counts["not looked at"], "checked claim")
    rows = tuple(tuple(map(Cell, (claim.section, claim.statement, claim.outcome, claim.found))) for claim in claims)
    return Section(
        "claims",
        "Do the AxIoU paper's findings hold here?",
        (
            Finding(
                (
                    f"Of {checked}, {counts['holds']} hold here, {counts['holds in part']} hold in part, and "
                    f"{counts['does not hold']} do not hold.",
                )
            ),
            Table("Claims and figures", ("section", "claim", "here", "figures"), (("", rows),), (0, 1, 2, 3)),
            Paragraph(
                "Claims of Togashi et al. 2022, written as comparisons of figures. The paper ranked six other systems. "
                "A claim holds in part if some of its cases do."
            ),
        ),
        "The paper's findings",
    )


def document(claims: Sequence[Claim]) -> dict[str, Any]:
    """Return what programs read."""
    return {
        "claims": [
            {"section": claim.section, "claim": claim.statement, "outcome": claim.outcome, "found": claim.found}
            for claim in claims
        ]
    }
