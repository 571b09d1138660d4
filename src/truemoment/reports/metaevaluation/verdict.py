"""The answer over all studies: which measures agree, which are stable, which to select by, what can be trusted.

How the measures stand, and when one is recommended, is said in ``standing``. "Select by" is said only where the study
of selection shows it; what is found is found of these systems on this split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from truemoment.intervals import Bools, Floats
from truemoment.metaevaluation.minimal_pairs import Axiom
from truemoment.metaevaluation.rankings import pairs_of
from truemoment.reports.metaevaluation import agreement as of_agreement
from truemoment.reports.metaevaluation.ambiguity import OFTEN
from truemoment.reports.metaevaluation.axioms import said_of_axioms
from truemoment.reports.metaevaluation.parts import named
from truemoment.reports.metaevaluation.power import rounded_up
from truemoment.reports.metaevaluation.standing import (
    FEWEST_COLUMNS,
    Column,
    Standing,
    columns_of,
    noise_looked_at,
)
from truemoment.reports.model import Cell, Table
from truemoment.reports.text import counted, few, listed, low_to_high, number, percent, points
from truemoment.text import one_line
from truemoment.uncertainty import ROUNDING, interval95

if TYPE_CHECKING:
    from truemoment.metaevaluation.ambiguity import Ambiguity
    from truemoment.metaevaluation.power import Power
    from truemoment.metaevaluation.selection import Selection
    from truemoment.metaevaluation.stability import Stability
    from truemoment.metaevaluation.studies import Studies

LEVEL_TAU = 0.02
"""Self-agreements no further apart are told as level: so much they vary from one pool of queries to the next."""

_AXIOMS: tuple[Axiom, ...] = ("INV", "MON")
_HELD = {True: "holds", False: "broken", None: "-"}


class Answer(NamedTuple):
    """What the studies say to one question.

    Parameters
    ----------
    question
        In a few words.
    said
        The finding first, then how sure it is.
    """

    question: str
    said: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """What the studies say together.

    Parameters
    ----------
    headline
        The answer in one short sentence.
    answers
        To each question that a study answers.
    glance
        The measures at a glance; None where no study says anything of single measures.
    notes
        By which rule, and on what data only.
    document
        All of it for JSON.
    """

    headline: str
    answers: tuple[Answer, ...]
    glance: Table | None
    notes: tuple[str, ...]
    document: dict[str, Any]


def verdict(studies: Studies) -> Verdict:
    """Say what the studies find together.

    Parameters
    ----------
    studies
        Any of them may be missing; what is missing is not spoken of.
    """
    names = [str(measure) for measure in studies.systems.measures]
    columns = columns_of(studies)
    standing = Standing.of(names, columns)
    answers = tuple(answer for answer in _answers(studies, standing) if answer.said)
    notes = _notes(studies, columns)
    headline = _headline(standing)
    return Verdict(headline, answers, _glance(studies, standing), notes, _document(headline, answers, notes, standing))


def _headline(standing: Standing) -> str:
    if standing.recommended:
        stand = "stands" if len(standing.recommended) == 1 else "stand"
        return f"{listed(standing.recommended)} {stand} in the best third in all {len(standing.columns)} respects"
    if not standing.is_ranked:
        return "What the studies say of these measures"
    return f"No measure is best at everything; {standing.names[standing.order[0]]} comes closest"


# ------------------------------------------------------------------------------------------- answers


def _answers(studies: Studies, standing: Standing) -> list[Answer]:
    return [
        Answer("Which measure to select by", tuple(_to_select_by(studies, standing))),
        Answer("Which measures agree", tuple(_agreeing(studies))),
        Answer("Which are stable", tuple(_stable(studies))),
        Answer("Which differences can be trusted", tuple(_trusted(studies))),
        Answer("What they reward", tuple(_rewarded(studies))),
    ]


def _to_select_by(studies: Studies, standing: Standing) -> list[str]:
    said = []
    n = len(standing.columns)
    if standing.is_ranked:
        best = int(standing.order[0])
        if standing.recommended:
            are = "is" if len(standing.recommended) == 1 else "are"
            said.append(
                f"{listed(standing.recommended)} {are} in the best third of the measures in all {n} respects that "
                f"were studied: {listed([column.means for column in standing.columns])}."
            )
        else:
            count = int(standing.in_best_third[:, best].sum())
            level = [standing.names[at] for at in standing.order[1:] if standing.in_best_third[:, at].sum() == count]
            beside = f" {few(level)} {'is' if len(level) == 1 else 'are'} in as many." if level else ""
            said.append(
                f"No measure is in the best third in all {n} respects that were studied. {standing.names[best]} is in "
                f"{count}, and falls short in {listed(standing.short_of(best))}.{beside}"
            )
    if studies.selection is None and said:
        said.append("What a measure's choices are worth was not studied: that takes variants on two splits.")
    return said + _regret(studies.selection, simulated=studies.simulated_variants)


def _regret(found: Selection | None, *, simulated: bool) -> list[str]:
    """What choosing by each measure loses, of those of which that can be told."""
    if found is None or not np.isfinite(found.mean_lost).any():
        return []
    begin = f"Choosing among {len(found.variants)} {'simulated ' if simulated else ''}variants"
    lost, tests = found.mean_lost, counted(len(found.test), "test measure")
    names = [str(measure) for measure in found.validation]
    lot = f"One drawn by lot loses {number(100 * float(np.nanmean(found.by_lot)), 2)}."
    best, worst = int(np.nanargmin(lost)), int(np.nanargmax(lost))
    if lost[worst] - lost[best] <= ROUNDING:
        told = np.isfinite(lost).sum()
        whom = f"by {names[best]}" if told == 1 else "by every measure"
        return [f"{begin} {whom} loses {points(lost[best])} on average over {tests}. {lot}"]
    more = found.lost[:, worst] - found.lost[:, best]
    interval = interval95(more)
    sure = "" if interval[0] > 0 else ", which holds 0: that may be chance"
    return [
        f"{begin}, {names[best]} loses least, {points(lost[best])} on average over {tests}, and {names[worst]} most, "
        f"{number(100 * lost[worst], 2)}: {number(100 * more.mean(), 2)} more (95 % interval "
        f"{low_to_high(interval, 2, times=100)}{sure}). {lot}"
    ]


def _agreeing(studies: Studies) -> list[str]:
    return [] if studies.agreement is None else of_agreement.said_of_measures(studies.agreement)


def _stable(studies: Studies) -> list[str]:
    return [*_stable_on_queries(studies.stability), *_stable_on_labels(studies.ambiguity)]


def _stable_on_queries(found: Stability | None) -> list[str]:
    if found is None or not np.isfinite(found.mean[found.middle]).any():
        return []
    at = found.middle
    mean, names = found.mean[at], [str(measure) for measure in found.measures]
    queries = counted(round(found.queries[at]), "query", "queries")
    best, worst = int(np.nanargmax(mean)), int(np.nanargmin(mean))
    if mean[best] - mean[worst] <= ROUNDING:
        same = number(mean[best], 2)
        if np.isfinite(mean).sum() == 1:
            return [f"On other {queries} {names[best]} ranks the systems with a self-agreement of {same}."]
        return [f"On other {queries} all measures rank the systems equally alike: self-agreement {same}."]
    level = [name for at, name in enumerate(names) if at not in (best, worst) and mean[at] >= mean[best] - LEVEL_TAU]
    beside = f" ({few(level)} within {LEVEL_TAU:g})" if level else ""
    return [
        f"On other {queries} {names[best]} ranks the systems most alike: self-agreement {number(mean[best], 2)}"
        f"{beside}; {names[worst]} least, {number(mean[worst], 2)}."
    ]


def _stable_on_labels(found: Sequence[Ambiguity]) -> list[str]:
    looked_at = noise_looked_at(found)
    if looked_at is None:
        return []
    names, level = looked_at
    turned, rmse = level.mean_flips, level.rmse.mean(axis=0)
    if not np.isfinite(turned).any():
        return []
    best, worst = int(np.nanargmin(turned)), int(np.nanargmax(turned))
    begin = (
        f"Under label noise ({level.model}, {level.level}; mean IoU with the labels as they are {level.mean_iou:.2f}) "
        "two systems change places"
    )
    if turned[worst] - turned[best] <= ROUNDING:
        whom = names[best] if np.isfinite(turned).sum() == 1 else "every measure"
        return [f"{begin} in {percent(turned[best], 1)} of the cases by {whom}."]
    of_best, of_worst = (points(rmse[at], 1) for at in (best, worst))
    known = np.isfinite(rmse[best]) and np.isfinite(rmse[worst])
    return [
        f"{begin} least by {names[best]}, in {percent(turned[best], 1)} of the cases"
        f"{f' (its figures are off by {of_best})' if known else ''}, and most by {names[worst]}, in "
        f"{percent(turned[worst], 1)}{f' ({of_worst})' if known else ''}."
    ]


def _trusted(studies: Studies) -> list[str]:
    return [*_separated(studies.power), *_turned(studies.ambiguity), *_tied(studies)]


def _separated(found: Power | None) -> list[str]:
    """Which pairs of systems differ, by how many measures, and whether the measures say the same."""
    if found is None:
        return []
    defined = np.flatnonzero(np.isfinite(found.p_holm).any(axis=0))
    if not len(defined):
        return []
    names = [str(found.systems.measures[at]) for at in defined]
    is_separated: Bools = np.asarray(found.p_holm[:, defined] <= found.level)  # never of NaN
    sign = np.sign(found.whole.difference[:, defined]) * is_separated
    opposed: Bools = np.asarray((sign > 0).any(axis=1) & (sign < 0).any(axis=1))
    said = [_by_all(names, is_separated, opposed), *_opposed(found, opposed)]
    share = is_separated.mean(axis=0)
    best, worst = int(np.argmax(share)), int(np.argmin(share))
    if share[best] - share[worst] > ROUNDING and len(share) > 1 and len(is_separated) > 1:
        said.append(
            f"{names[best]} tells most pairs apart ({percent(share[best])}), {names[worst]} fewest "
            f"({percent(share[worst])}), at level {found.level:g} after correction."
        )
    return [*said, *_needed(found, names, found.needed_median[defined])]


def _by_all(names: Sequence[str], is_separated: Bools, opposed: Bools) -> str:
    """How many pairs all measures tell apart in the same direction, and how many none does."""
    n_pairs = len(is_separated)
    by_all = np.asarray(is_separated.all(axis=1) & ~opposed)
    none = np.asarray(~is_separated.any(axis=1))
    if n_pairs == 1:
        if none[0]:
            how = f"not differ significantly by {names[0] if len(names) == 1 else 'any measure'}"
        elif by_all[0]:
            how = f"differ significantly by {names[0] if len(names) == 1 else 'all measures in the same direction'}"
        else:
            how = f"differ significantly by {is_separated.sum()} of {len(names)} measures"
        return f"The two systems {'do ' if none[0] else ''}{how}, as far as the choice of videos goes."
    n = int(by_all.sum())
    differ = f"{n:,} of {n_pairs:,} pairs of systems {'differs' if n == 1 else 'differ'} significantly"
    if len(names) == 1:
        return f"As far as the choice of videos goes, {differ} by {names[0]}."
    return (
        f"Trust a difference that every measure shows, as far as the choice of videos goes: {differ} by all measures "
        f"in the same direction, {int(none.sum()):,} by none."
    )


def _opposed(found: Power, opposed: Bools) -> list[str]:
    """Pairs that measures tell apart in opposite directions."""
    if not opposed.any():
        return []
    a, b = (named(found.systems.names[of[np.flatnonzero(opposed)[0]]]) for of in pairs_of(len(found.systems)))
    count = int(opposed.sum())
    if len(opposed) == 1:
        begin = f"{a} and {b} are told apart significantly in opposite directions by different measures"
    else:
        are, such_as = ("is", "") if count == 1 else ("are", "such as ")
        begin = (
            f"{counted(count, 'pair')} {are} told apart significantly in opposite directions by different measures, "
            f"{such_as}{a} and {b}"
        )
    return [f"{begin}: which is better depends on the measure, more than on the choice of videos."]


def _needed(found: Power, names: Sequence[str], needed: Floats) -> list[str]:
    """What half of the pairs cost by the cheapest and by the dearest measure."""
    best, worst = int(np.argmin(needed)), int(np.argmax(needed))
    cheap, dear = rounded_up(float(needed[best])), rounded_up(float(needed[worst]))
    if not np.isfinite(needed).all() or cheap == dear:
        return []
    n_pairs = len(found.p_holm)
    whom = "the two systems" if n_pairs == 1 else "half of the pairs"
    each = "" if n_pairs == 1 else f", each as one of {n_pairs:,} comparisons,"
    seen = "difference is the one" if n_pairs == 1 else "differences are those"
    return [
        f"If the true {seen} seen, {whom} can be told apart{each} with {cheap} queries by {names[best]}, and with "
        f"{dear} by {names[worst]}."
    ]


def _turned(found: Sequence[Ambiguity]) -> list[str]:
    """How often label noise turns pairs of systems."""
    looked_at = noise_looked_at(found)
    if looked_at is None:
        return []
    names, level = looked_at
    known = np.isfinite(level.flips)
    if not known.any():
        return []
    count = known.sum(axis=0)
    often = np.where(known, level.flips > OFTEN, False).sum(axis=0) / np.maximum(count, 1)
    often = np.where(count > 0, often, np.nan)
    best, worst = int(np.nanargmin(often)), int(np.nanargmax(often))
    by = f"{percent(often[best])} of the pairs by {names[best]}, and {percent(often[worst])} by {names[worst]}"
    if often[worst] - often[best] <= ROUNDING:
        whom = names[best] if np.isfinite(often).sum() == 1 else "every measure"
        by = f"{percent(often[best])} of the pairs by {whom}"
    return [
        "Labels alone can turn a difference: under the same noise, pairs that change places in more than "
        f"{percent(OFTEN)} of {len(level.figures):,} noisy sets are {by}."
    ]


def _tied(studies: Studies) -> list[str]:
    found = studies.ties
    if found is None or not np.isfinite(found.all_tied).any():
        return []
    names = [str(measure) for measure in found.systems.measures]
    best, worst = int(np.nanargmin(found.all_tied)), int(np.nanargmax(found.all_tied))
    if found.all_tied[worst] - found.all_tied[best] <= ROUNDING:
        return []
    return [
        f"On {percent(found.all_tied[worst], 1)} of the queries {names[worst]} gives every system the same value, and "
        f"on {percent(found.all_tied[best], 1)} {names[best]}: such queries tell no systems apart."
    ]


def _rewarded(studies: Studies) -> list[str]:
    """Which axioms the measures hold to."""
    held = {axiom: held_by(studies, axiom) for axiom in _AXIOMS}
    names = [str(measure) for measure in studies.systems.measures]
    return list(said_of_axioms({name: {axiom: held[axiom].get(name) for axiom in _AXIOMS} for name in names}))


def held_by(studies: Studies, axiom: Axiom) -> dict[str, bool]:
    """Whether each measure held to an axiom wherever it was tried."""
    held: dict[str, bool] = {}
    for result in studies.axioms:
        if result.axiom == axiom and result.n_pairs:
            name = str(result.measure)
            held[name] = held.get(name, True) and result.holds
    return held


def _notes(studies: Studies, columns: Sequence[Column]) -> tuple[str, ...]:
    scores = studies.systems.first
    said = [
        f"These are findings about {len(studies.systems)} systems on {one_line(scores.dataset)}, "
        f"{one_line(scores.split)}; other systems or data, or another seed, may give others."
    ]
    said = [*map(one_line, studies.notes), *said]
    if len(columns) >= FEWEST_COLUMNS:
        said.append(
            "The best third: of the measures, in every respect studied, each counting alike, although stability, pairs "
            "told apart and ties have much to do with each other. The rule looks at the figures, not at their "
            "intervals: measures close to each other are not shown to differ."
        )
    if studies.agreement is not None:
        said.append(
            "Where the mean tau lies in 95 % of the resamples leans to low values, since a resample adds noise; the "
            "true one may lie above."
        )
    if studies.agreement is not None or studies.selection is not None:
        said.append(
            "Agreement and regret depend on which measures were compared: a family with many members has many votes."
        )
    return tuple(said)


# --------------------------------------------------------------------------------- at a glance, and JSON


def _glance(studies: Studies, standing: Standing) -> Table | None:
    """A row a measure, the best standing first; the best of each column marked."""
    held = {axiom: held_by(studies, axiom) for axiom in _AXIOMS}
    axioms = [axiom for axiom in _AXIOMS if held[axiom]]
    columns = standing.columns
    if not columns and not axioms:
        return None
    best = [np.nanmax(column.merit) for column in columns]
    rows = []
    for at in standing.order:
        name = standing.names[at]
        cells = [Cell(name)]
        cells += [Cell(_HELD[held[axiom].get(name)]) for axiom in axioms]
        for column, top in zip(columns, best, strict=True):
            cells.append(column.cells[at]._replace(marked=bool(column.merit[at] >= top - ROUNDING)))
        if columns:
            cells.append(Cell(f"{standing.in_best_third[:, at].sum()} of {len(columns)}"))
        rows.append(tuple(cells))
    return Table(
        "Measures at a glance, the best standing first; the best of each column is marked. Smaller text: where "
        "95 % of the resamples lie, standard deviation over the subsets (sd), and the RMSE in points under label noise."
        + (" INV asks nothing of a measure that looks at one answer." if "INV" in axioms else ""),
        ("measure", *axioms, *(column.heading for column in columns), *(("in the best third",) if columns else ())),
        (("", tuple(rows)),),
    )


def _document(headline: str, answers: Sequence[Answer], notes: Sequence[str], standing: Standing) -> dict[str, Any]:
    return {
        "headline": headline,
        "answers": [{"question": answer.question, "said": list(answer.said)} for answer in answers],
        "notes": list(notes),
        "recommended": standing.recommended,
        "columns": [
            {"column": column.key, "means": column.means, "better": column.better} for column in standing.columns
        ],
        "measures": [
            {
                "measure": standing.names[at],
                **{column.key: float(column.values[at]) for column in standing.columns},
                "in_best_third": [
                    column.key
                    for column, good in zip(standing.columns, standing.in_best_third[:, at], strict=True)
                    if good
                ],
                "mean_rank": float(standing.mean_rank[at]),
            }
            for at in standing.order
        ],
    }
