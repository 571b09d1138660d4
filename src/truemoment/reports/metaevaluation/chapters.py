"""The chapters of a whole report, in the order in which they are read."""

from __future__ import annotations

from truemoment.metaevaluation.claims import claims
from truemoment.metaevaluation.studies import Studies
from truemoment.reports.metaevaluation import (
    agreement,
    ambiguity,
    axioms,
    power,
    selection,
    stability,
    theory,
    ties,
)
from truemoment.reports.metaevaluation import claims as of_claims
from truemoment.reports.metaevaluation.chapter import Chapter


def chapters_of(studies: Studies) -> list[Chapter]:
    """Make a chapter of every study that was made; the paper's claims come last, since they look at all."""
    chapters: list[Chapter] = []
    if studies.agreement is not None:
        chapters.append(agreement.chapter(studies.agreement))
    if studies.stability is not None:
        chapters.append(stability.chapter(studies.stability))
    chapters += [ambiguity.chapter(study, studies.systems.first.dataset) for study in studies.ambiguity]
    if studies.ties is not None:
        chapters.append(ties.chapter(studies.ties))
    if studies.power is not None:
        chapters.append(power.chapter(studies.power))
    if studies.selection is not None:
        chapters.append(selection.chapter(studies.selection))
    if studies.axioms:
        chapters.append(axioms.chapter(studies.axioms))
    if studies.theory is not None:
        chapters.append(theory.chapter(studies.theory))
    return [*chapters, of_claims.chapter(claims(studies))]
