"""The answer over all studies: which measure to select by, which agree, which are stable, what can be trusted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.evaluation.uncertainty import ROUNDING
from truemoment.report.model import Cell, Finding, Section, Table
from truemoment.report.words import listed
from truemoment.studies.meta.reports import agreement, ambiguity, axioms, power, selection, stability, ties
from truemoment.studies.meta.reports.ranking import MeasureRanking, most_real_noise

if TYPE_CHECKING:
    from truemoment.studies.meta.studies import Studies

_OUTCOMES = {True: "holds", False: "broken", None: "-"}


@dataclass(frozen=True)
class StudySummary:
    """What the studies find together.

    Parameters
    ----------
    headline
        The answer in a short sentence.
    answers
        A finding for each question that a study answers; its title is the question.
    glance
        The measures at a glance; None where no study compares single measures.
    notes
        The rule, the data, and what could not be studied.
    document
        What programs read.
    """

    headline: str
    answers: tuple[Finding, ...]
    glance: Table | None
    notes: tuple[str, ...]
    document: dict[str, Any]

    @property
    def sections(self) -> tuple[Section, ...]:
        """Sections of a report: the answers and the table."""
        found = [Section("found", "Answers", self.answers)] if self.answers else []
        if self.glance is not None:
            found.append(Section("glance", "Measures at a glance", (self.glance,), "At a glance"))
        return tuple(found)


def verdict(studies: Studies) -> StudySummary:
    """Return what some studies find together; those that are missing are left out."""
    ranking = MeasureRanking.of(studies)
    headline, notes = _headline(ranking), _notes(studies, ranking)
    answers = tuple(
        Finding(tuple(sentences), title=question) for question, sentences in _answers(studies, ranking) if sentences
    )
    return StudySummary(
        headline=headline,
        answers=answers,
        glance=_glance(studies, ranking),
        notes=notes,
        document={
            "headline": headline,
            "answers": [{"question": answer.title, "said": answer.sentences} for answer in answers],
            "notes": notes,
            "recommended": ranking.recommended,
            "columns": [{"column": one.key, "means": one.meaning, "better": one.better} for one in ranking.criteria],
            "measures": [_entry(ranking, at) for at in ranking.order],
        },
    )


def _headline(ranking: MeasureRanking) -> str:
    if ranking.recommended:
        are = "is" if len(ranking.recommended) == 1 else "are"
        return f"{listed(ranking.recommended)} {are} in the best third by all {len(ranking.criteria)} criteria"
    if not ranking.is_decided:
        return "Too few criteria or measures to recommend a measure"
    return f"No measure is in the best third by every criterion; {ranking.names[ranking.order[0]]} comes closest"


def _answers(studies: Studies, ranking: MeasureRanking) -> Iterable[tuple[str, list[str]]]:
    yield "Which measure to select by", _to_select_by(studies, ranking)
    yield "Which measures agree", [] if studies.agreement is None else agreement.sentences(studies.agreement)
    stable = [] if studies.stability is None else stability.sentences(studies.stability)[:1]
    if (noise := most_real_noise(studies.ambiguity)) is not None:
        stable += ambiguity.sentences(*noise)
    yield "Which are stable", stable
    trusted = [] if studies.power is None else power.sentences(studies.power)
    yield "Which differences can be trusted", trusted + ([] if studies.ties is None else [ties.finding(studies.ties)])
    yield "What they reward", list(axioms.sentences(axioms.outcomes(studies.axioms)))


def _to_select_by(studies: Studies, ranking: MeasureRanking) -> list[str]:
    found = []
    if ranking.recommended:
        are = "is" if len(ranking.recommended) == 1 else "are"
        by = listed([one.meaning for one in ranking.criteria])
        found.append(f"{listed(ranking.recommended)} {are} in the best third of the measures by every criterion: {by}.")
    elif ranking.is_decided:
        best = int(ranking.order[0])
        thirds = ranking.in_best_third[:, best]
        other = [one.meaning for one, is_good in zip(ranking.criteria, thirds, strict=True) if not is_good]
        found.append(
            f"{ranking.names[best]} is in the best third of the measures by {thirds.sum()} of {len(thirds)} criteria, "
            f"but not by {listed(other, 'or')}."
        )
    if studies.selection is not None:
        found += selection.sentences(studies.selection)
    elif found:
        found.append("Model selection was not studied: it needs variants on two splits.")
    return found


def _notes(studies: Studies, ranking: MeasureRanking) -> tuple[str, ...]:
    scores = studies.systems.first
    notes = [
        *studies.notes,
        f"These findings are about {len(studies.systems)} systems on {scores.dataset}, "
        f"{scores.split}; other systems, data or seeds may give others.",
    ]
    if studies.selection is not None and studies.simulated_variants:
        notes.append("The variants of model selection are simulated.")
    if ranking.is_decided:
        notes.append(
            "All criteria count alike, although stability, separated pairs and ties are related. The rule uses the "
            "values, not their intervals: measures with close values may not differ."
        )
    if studies.agreement is not None or studies.selection is not None:
        notes.append("Agreement and regret depend on the measures compared: a large family of measures has many votes.")
    return tuple(notes)


# --------------------------------------------------------------------------------- at a glance, and JSON


def _glance(studies: Studies, ranking: MeasureRanking) -> Table | None:
    """Return a row per measure, the best first; the best value of each criterion is marked."""
    outcomes = axioms.outcomes(studies.axioms)
    shown = [axiom for axiom in axioms.AXIOMS if any(of.get(axiom) is not None for of in outcomes.values())]
    criteria = ranking.criteria
    if not criteria and not shown:
        return None
    best = [np.nanmax(one.merit) for one in criteria]
    rows = []
    for at in ranking.order:
        name = ranking.names[at]
        cells = [Cell(name), *(Cell(_OUTCOMES[outcomes.get(name, {}).get(axiom)]) for axiom in shown)]
        for one, top in zip(criteria, best, strict=True):
            cells.append(one.cells[at]._replace(marked=bool(one.merit[at] >= top - ROUNDING)))
        if criteria:
            cells.append(Cell(f"{ranking.in_best_third[:, at].sum()} of {len(criteria)}"))
        rows.append(tuple(cells))
    last = ("in the best third",) if criteria else ()
    return Table(
        "Best measures first; marked: the best value of each column. Smaller text: 95 % interval, standard deviation "
        "over the subsets (sd), RMSE in points under label noise.",
        ("measure", *shown, *(one.heading for one in criteria), *last),
        (("", tuple(rows)),),
    )


def _entry(ranking: MeasureRanking, at: int) -> dict[str, Any]:
    thirds = ranking.in_best_third[:, at]
    return {
        "measure": ranking.names[at],
        **{one.key: one.values[at] for one in ranking.criteria},
        "in_best_third": [one.key for one, is_good in zip(ranking.criteria, thirds, strict=True) if is_good],
        "mean_rank": ranking.mean_rank[at],
    }
