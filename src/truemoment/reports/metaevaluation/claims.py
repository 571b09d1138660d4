"""What is told of the AxIoU paper's claims: which of them hold here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from truemoment.metaevaluation.claims import Claim
from truemoment.reports.metaevaluation.chapter import Chapter
from truemoment.reports.model import Cell, Table
from truemoment.reports.text import counted


def chapter(found: Sequence[Claim]) -> Chapter:
    """Set each claim beside what was found."""
    counts = Counter(claim.outcome for claim in found)
    looked_at = len(found) - counts["not looked at"]
    holds, fails = counts["holds"], counts["does not hold"]
    said = [
        f"Of {counted(looked_at, 'claim')} that could be looked at, {holds} {'holds' if holds == 1 else 'hold'} here, "
        f"{counts['holds in part']} in part, and {fails} {'does' if fails == 1 else 'do'} not."
        if looked_at
        else f"None of {len(found)} claims could be looked at: what they are about was not studied."
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
