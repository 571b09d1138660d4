"""The answer over all studies: which measures to select by, which agree, which are stable, what can be trusted.

Every study gives each measure a value of one criterion: mean tau with the other measures, self-agreement on subsets,
all-tied queries, pairs that change places under label noise, pairs of systems separated, mean regret of its choices.
By a criterion, a measure is *in the best third* if its value is at least as good as that of place ceil(M / 3) of the M
measures with a value. A measure is recommended if it is in the best third by all criteria. This needs at least
:data:`FEWEST_CRITERIA` criteria and :data:`FEWEST_MEASURES` measures: with fewer, chance alone would often recommend
one. The axioms are properties and not a criterion. All criteria count alike, although some are related.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from truemoment.base.intervals import Floats, Ints
from truemoment.evaluation.uncertainty import ROUNDING
from truemoment.report.model import Cell, Finding, Section, Table
from truemoment.report.words import listed, low_to_high, number
from truemoment.studies.meta.reports import agreement, ambiguity, axioms, power, selection, stability, ties

if TYPE_CHECKING:
    from truemoment.evaluation.measures import Measure
    from truemoment.studies.meta.all_studies import Studies
    from truemoment.studies.meta.ambiguity import Ambiguity, NoiseLevel

FEWEST_CRITERIA = 5
"""Minimum number of criteria: by chance, 3 criteria recommend a measure in half of the cases, 5 in a tenth."""

FEWEST_MEASURES = 6
"""Minimum number of measures: the best third of one measure is that measure."""

_MODELS = ("annotators", "shift", "published")
"""Models of label noise from the most to the least like real annotators; others come last."""


@dataclass(frozen=True, eq=False)
class Criterion:
    """A criterion that ranks measures by a value.

    Parameters
    ----------
    key
        Name in JSON.
    heading, meaning
        Name in the table and in sentences.
    better
        Whether more or less is better.
    values : (M,)
        Value of each measure; NaN if the study does not have the measure.
    cells
        Cells of the table, M of them.
    """

    key: str
    heading: str
    meaning: str
    better: Literal["more", "less"]
    values: Floats
    cells: tuple[Cell, ...]

    @property
    def merit(self) -> Floats:
        """The values such that more is better, (M,)."""
        return self.values if self.better == "more" else -self.values

    @property
    def in_best_third(self) -> list[bool]:
        """Whether each measure is as good as place ceil(M / 3) or better, M of them."""
        known = np.sort(self.merit[np.isfinite(self.values)])[::-1]
        if not len(known):
            return [False] * len(self.values)
        bound = known[math.ceil(len(known) / 3) - 1]
        return [bool(merit >= bound - ROUNDING) for merit in self.merit]

    @property
    def ranks(self) -> Floats:
        """Rank of each measure, 1 for the best, mean ranks for ties; NaN without a value, (M,)."""
        merit = self.merit
        better = (merit[None, :] > merit[:, None] + ROUNDING).sum(axis=1)
        equal = (np.abs(merit[None, :] - merit[:, None]) <= ROUNDING).sum(axis=1)
        return np.asarray(np.where(np.isfinite(merit), better + (equal + 1) / 2, np.nan))


# ------------------------------------------------------------------------------------------ criteria


def criteria_of(studies: Studies) -> tuple[Criterion, ...]:
    """Return one criterion for each study that was run."""
    return tuple(criterion for criterion in _criteria(studies) if np.isfinite(criterion.values).any())


def _criteria(studies: Studies) -> Iterator[Criterion]:
    measures = studies.systems.measures
    if (agreement := studies.agreement) is not None:
        kind = _Kind("mean_tau", "mean tau with the others", "agreement with the other measures", "more", 2, 1)
        below = [low_to_high(ends) for ends in agreement.mean_interval]
        yield kind.of(measures, agreement.systems.measures, agreement.mean, below)
    if (stability := studies.stability) is not None:
        at = stability.middle
        heading = f"self-agreement on {stability.queries[at]:,.0f} queries"
        kind = _Kind("self_agreement", heading, "stability on other queries", "more", 2, 1)
        below = [
            f"sd {math.sqrt(variance):.2f}" if math.isfinite(variance) else "" for variance in stability.variance[at]
        ]
        yield kind.of(measures, stability.measures, stability.mean[at], below)
    if (ties := studies.ties) is not None:
        kind = _Kind("all_tied", "all-tied queries, %", "queries on which systems differ", "less", 1)
        below = [low_to_high(ends, 1, times=100) for ends in ties.interval]
        yield kind.of(measures, ties.systems.measures, ties.all_tied, below)
    if (noise := most_real_noise(studies.ambiguity)) is not None:
        study, level = noise
        heading = "label noise: pairs that change places, %"
        kind = _Kind("change_places", heading, "steadiness under label noise", "less", 1)
        below = [f"RMSE {100 * rmse:.1f}" if math.isfinite(rmse) else "" for rmse in level.rmse.mean(axis=0)]
        yield kind.of(measures, study.measures, level.mean_flips, below)
    if (power := studies.power) is not None:
        kind = _Kind("separated", "pairs separated, %", "pairs of systems that differ significantly", "more", 0)
        yield kind.of(measures, power.systems.measures, power.separated[-1], [""] * len(power.systems.measures))
    if (selection := studies.selection) is not None:
        kind = _Kind("mean_regret", "mean regret, points", "loss of the variants it selects", "less", 2)
        below = [low_to_high(ends, 2, times=100) for ends in selection.mean_lost_interval]
        yield kind.of(measures, selection.validation, selection.mean_lost, below)


class _Kind(NamedTuple):
    """The kind of a criterion: its names and the format of its values."""

    key: str
    heading: str
    meaning: str
    better: Literal["more", "less"]
    decimals: int
    times: int = 100

    def of(
        self, selected: Sequence[Measure], measures: Sequence[Measure], values: Floats, below: Sequence[str]
    ) -> Criterion:
        """Return the criterion of the selected measures from the values and smaller texts of a study's measures."""
        rows = {str(measure): at for at, measure in enumerate(measures)}
        places = [rows.get(str(measure)) for measure in selected]
        aligned = np.array([math.nan if at is None else values[at] for at in places])
        cells = tuple(
            Cell(number(self.times * value, self.decimals), "" if at is None or math.isnan(value) else below[at])
            for at, value in zip(places, aligned.tolist(), strict=True)
        )
        return Criterion(self.key, self.heading, self.meaning, self.better, aligned, cells)


def most_real_noise(studies: Sequence[Ambiguity]) -> tuple[Ambiguity, NoiseLevel] | None:
    """Return the study of label noise most like real annotators, and the level that the table shows.

    The level is one annotator's noise, or the middle one of another model. None if there is no study.
    """
    if not studies:
        return None
    study = min(studies, key=lambda study: _MODELS.index(study.model) if study.model in _MODELS else len(_MODELS))
    return study, study.levels[-1] if study.model == _MODELS[0] else study.levels[len(study.levels) // 2]


# ------------------------------------------------------------------------------------------- the rule


@dataclass(frozen=True, eq=False)
class MeasureRanking:
    """The measures ranked by all criteria.

    Parameters
    ----------
    names
        M measures.
    criteria
        C criteria.
    in_best_third : (C, M)
        Whether each measure is in the best third by each criterion.
    mean_rank : (M,)
        Mean over the criteria with a value; NaN without any.
    order : (M,)
        Rows of the measures: most best thirds first, then by mean rank.
    """

    names: Sequence[str]
    criteria: tuple[Criterion, ...]
    in_best_third: Ints
    mean_rank: Floats
    order: Ints

    @classmethod
    def of(cls, studies: Studies) -> MeasureRanking:
        """Rank the measures of some studies."""
        names = [str(measure) for measure in studies.systems.measures]
        criteria = criteria_of(studies)
        thirds = np.array([criterion.in_best_third for criterion in criteria], dtype=np.int64).reshape(-1, len(names))
        ranks = np.array([criterion.ranks for criterion in criteria]).reshape(-1, len(names))
        known = np.isfinite(ranks)
        total = np.where(known, ranks, 0).sum(axis=0)
        mean_rank = np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)
        by_rank = np.where(np.isnan(mean_rank), np.inf, mean_rank)
        return cls(names, criteria, thirds, mean_rank, np.lexsort((by_rank, -thirds.sum(axis=0))))

    @property
    def is_decided(self) -> bool:
        """Whether there are enough criteria, and measures with a value, to name the best."""
        return len(self.criteria) >= FEWEST_CRITERIA and np.isfinite(self.mean_rank).sum() >= FEWEST_MEASURES

    @property
    def recommended(self) -> list[str]:
        """Measures in the best third by every criterion, the best first; none if there are too few criteria."""
        if not self.is_decided:
            return []
        return [self.names[at] for at in self.order if self.in_best_third[:, at].all()]


_OUTCOMES = {True: "holds", False: "broken", None: "-"}


@dataclass(frozen=True)
class StudySummary:
    """The joint answer of several studies.

    Parameters
    ----------
    headline
        The answer in a short sentence.
    answers
        A finding for each question that a study answers; its title is the question.
    glance
        The measures at a glance; None if no study compares single measures.
    notes
        The rule, the data, and the studies that were left out.
    document
        The JSON document.
    """

    headline: str
    answers: tuple[Finding, ...]
    glance: Table | None
    notes: tuple[str, ...]
    document: dict[str, Any]

    @property
    def sections(self) -> tuple[Section, ...]:
        """Sections of a report: the answers and the table."""
        sections = [Section("found", "Answers", self.answers)] if self.answers else []
        if self.glance is not None:
            sections.append(Section("glance", "Measures at a glance", (self.glance,), "At a glance"))
        return tuple(sections)


def verdict(studies: Studies) -> StudySummary:
    """Return the joint answer of the studies that were run."""
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
            "columns": [
                {"column": criterion.key, "means": criterion.meaning, "better": criterion.better}
                for criterion in ranking.criteria
            ],
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
    yield "Which measure to select by", _selection_findings(studies, ranking)
    yield "Which measures agree", [] if studies.agreement is None else agreement.sentences(studies.agreement)
    stable = [] if studies.stability is None else stability.sentences(studies.stability)[:1]
    if (noise := most_real_noise(studies.ambiguity)) is not None:
        stable += ambiguity.sentences(*noise)
    yield "Which are stable", stable
    trusted = [] if studies.power is None else power.sentences(studies.power)
    yield "Which differences can be trusted", trusted + ([] if studies.ties is None else [ties.finding(studies.ties)])
    yield "What they reward", list(axioms.sentences(axioms.outcomes(studies.axioms)))


def _selection_findings(studies: Studies, ranking: MeasureRanking) -> list[str]:
    findings = []
    if ranking.recommended:
        are = "is" if len(ranking.recommended) == 1 else "are"
        meanings = listed([criterion.meaning for criterion in ranking.criteria])
        findings.append(
            f"{listed(ranking.recommended)} {are} in the best third of the measures by every criterion: {meanings}."
        )
    elif ranking.is_decided:
        best = int(ranking.order[0])
        thirds = ranking.in_best_third[:, best]
        missed = [criterion.meaning for criterion, is_good in zip(ranking.criteria, thirds, strict=True) if not is_good]
        findings.append(
            f"{ranking.names[best]} is in the best third of the measures by {thirds.sum()} of {len(thirds)} criteria, "
            f"but not by {listed(missed, 'or')}."
        )
    if studies.selection is not None:
        findings += selection.sentences(studies.selection)
    elif findings:
        findings.append("Model selection was not studied: it needs variants on two splits.")
    return findings


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
    """Return one row per measure, the best first; the best value of each criterion is marked."""
    outcomes = axioms.outcomes(studies.axioms)
    shown = [axiom for axiom in axioms.AXIOMS if any(row.get(axiom) is not None for row in outcomes.values())]
    criteria = ranking.criteria
    if not criteria and not shown:
        return None
    best = [np.nanmax(criterion.merit) for criterion in criteria]
    rows = []
    for at in ranking.order:
        name = ranking.names[at]
        cells = [Cell(name), *(Cell(_OUTCOMES[outcomes.get(name, {}).get(axiom)]) for axiom in shown)]
        for criterion, top in zip(criteria, best, strict=True):
            cells.append(criterion.cells[at]._replace(marked=bool(criterion.merit[at] >= top - ROUNDING)))
        if criteria:
            cells.append(Cell(f"{ranking.in_best_third[:, at].sum()} of {len(criteria)}"))
        rows.append(tuple(cells))
    last = ("in the best third",) if criteria else ()
    return Table(
        "Best measures first; marked: the best value of each column. Beside a figure: 95 % interval, standard "
        "deviation over the subsets (sd), RMSE in points under label noise.",
        ("measure", *shown, *(criterion.heading for criterion in criteria), *last),
        (("", tuple(rows)),),
    )


def _entry(ranking: MeasureRanking, at: int) -> dict[str, Any]:
    thirds = ranking.in_best_third[:, at]
    return {
        "measure": ranking.names[at],
        **{criterion.key: criterion.values[at] for criterion in ranking.criteria},
        "in_best_third": [
            criterion.key for criterion, is_good in zip(ranking.criteria, thirds, strict=True) if is_good
        ],
        "mean_rank": ranking.mean_rank[at],
    }
