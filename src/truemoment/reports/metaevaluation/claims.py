"""What is told of the AxIoU paper's claims: which of them hold here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from truemoment.metaevaluation.claims import Claim
from truemoment.reports.metaevaluation.chapter import Chapter
from truemoment.reports.template import Cell, Table


def chapter(found: Sequence[Claim]) -> Chapter:
    """Set each claim beside what was found."""
    counts = Counter(claim.outcome for claim in found)
    looked_at = len(found) - counts["not looked at"]
    said = [
        f"Of {looked_at} claims that could be looked at, {counts['holds']} hold here, "
        f"{counts['holds in part']} in part, and {counts['does not hold']} do not."
    ]
    if failed := [claim.said for claim in found if claim.outcome == "does not hold"]:
        said.append(f"Not here: {' '.join(failed)}")
    rows = tuple(
        (Cell(claim.section), Cell(claim.said), Cell(claim.outcome, marked=False), Cell(claim.found)) for claim in found
    )
    return Chapter(
        name="claims",
        title="Do the AxIoU paper's findings hold here?",
        said=tuple(said),
        tables=(Table("Claims and figures", ("section", "claim", "here", "figures"), (("", rows),), (0, 1, 2, 3)),),
        drawings=(),
        document={
            "claims": [
                {"section": claim.section, "claim": claim.said, "outcome": claim.outcome, "found": claim.found}
                for claim in found
            ]
        },
        notes=(
            "Claims of Togashi et al. 2022, made into comparisons that figures decide; the paper ranked six systems, "
            "these are others. A claim holds in part where some of its cases do.",
        ),
    )
