"""The references of measures, datasets, protocols and baselines: what ``truemoment cite`` shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from truemoment.base.boundary.documents import document_head
from truemoment.base.papers import Paper
from truemoment.report.model import Finding, Report, Section

SCHEMA = "truemoment/references/1"


@dataclass(frozen=True)
class Citation:
    """A part that a report uses, the papers to cite for it, and its source where no paper is known."""

    kind: str
    name: str
    papers: tuple[Paper, ...]
    source: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


def by_paper(cited: Sequence[Citation]) -> dict[Paper, list[Citation]]:
    """Group citations by paper, in the order of `cited`."""
    citations: dict[Paper, list[Citation]] = {}
    for citation in cited:
        for paper in citation.papers:
            citations.setdefault(paper, []).append(citation)
    return citations


def report(cited: Sequence[Citation]) -> Report:
    """Return each reference with what it is cited for, and a note for each thing without one."""
    blocks = []
    for paper, uses in by_paper(cited).items():
        names: dict[str, list[str]] = {}
        for citation in uses:
            names.setdefault(citation.kind, []).append(citation.name)
        listed = "; ".join(f"{kind} {', '.join(of_kind)}" for kind, of_kind in names.items())
        blocks.append(Finding((f"for {listed}",), title=paper.text()))
    notes = tuple(f"{citation} has no paper here: {citation.source}" for citation in cited if citation.source)
    return Report("References", (Section("references", "References", tuple(blocks)),), notes=notes)


def document(cited: Sequence[Citation]) -> dict[str, Any]:
    """Return the references for programs."""
    return {
        **document_head(SCHEMA),
        "references": [
            {
                "key": paper.key,
                "text": paper.text(),
                "bibtex": paper.bibtex(),
                "cited_for": [_entry(citation) for citation in uses],
            }
            for paper, uses in by_paper(cited).items()
        ],
        "without_paper": [{**_entry(citation), "source": citation.source} for citation in cited if citation.source],
    }


def _entry(citation: Citation) -> Mapping[str, str]:
    return {"kind": citation.kind, "name": citation.name}
