"""The answer over all studies: which measures agree, which are stable, which to select by, what can be trusted.

The rule of recommendation
--------------------------
Every study that was made gives each measure a figure of merit (a *column*): mean tau with the other measures,
self-agreement on subsets, all-tied queries, pairs that change places under label noise, pairs of systems
separated, mean regret of its choices. In each column a measure is *in the best third* if its figure is at least as good
as that of place ceil(M / 3) of the M measures that have one. Recommended is a measure that is in the best third of all
columns, where there are :data:`FEWEST_COLUMNS` or more columns and :data:`FEWEST_MEASURES` or more measures: with
fewer, chance alone would often put one there. If there is none, none is recommended: what is told is which comes
closest (in most best thirds, then by mean rank), and where it falls short. "Select by" is said only where the study of
selection shows it.

The axioms are no column: they are properties, told beside. All columns count alike, although some have to do with each
other. What is found is found of these systems on this split.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from truemoment.intervals import Floats, Ints
from truemoment.metaevaluation.rankings import pairs_of
from truemoment.reports.drawing import shortened
from truemoment.reports.metaevaluation import agreement as of_agreement
from truemoment.reports.template import Cell, Table
from truemoment.reports.text import one_line
from truemoment.uncertainty import ROUNDING

if TYPE_CHECKING:
    from truemoment.measures import Measure
    from truemoment.metaevaluation.ambiguity import Ambiguity, NoiseLevel
    from truemoment.metaevaluation.power import Power
    from truemoment.metaevaluation.selection import Selection
    from truemoment.metaevaluation.stability import Stability
    from truemoment.metaevaluation.studies import Studies

FEWEST_COLUMNS = 5
"""Columns below which nothing is recommended: of 3, chance names a measure in half of the cases, of 5 in a tenth."""

FEWEST_MEASURES = 6
"""Measures below which nothing is recommended: the best third of one measure is that measure."""

LEVEL_TAU = 0.02
"""Self-agreements no further apart are told as level: so much they vary from one pool of queries to the next."""

OFTEN = 0.05
"""Label noise turns a pair of systems often if it does so in more than this share of the noisy sets."""

_AXIOMS = ("INV", "MON")
_REWARDS = {
    (True, True): "ignore redundant answers and reward every better best one (neither axiom broken in any pair tried)",
    (True, False): "ignore redundant answers, but do not reward every better best one (MON is broken)",
    (False, True): "reward every better best answer, but count redundant ones too (INV is broken)",
    (False, False): "count redundant answers, and do not reward every better best one (both axioms are broken)",
}
"""What keeping to INV and to MON means; a measure that looks at one answer keeps to INV, having no other to look at."""

_HELD = {True: "holds", False: "broken", None: "-"}
_MODELS = ("annotators", "shift", "published")
"""Models of label noise from the most to the least like real annotators; others come last."""


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


@dataclass(frozen=True, eq=False)
class Column:
    """A figure of merit of each measure.

    Parameters
    ----------
    key
        In JSON.
    heading, means
        In the table, and in words.
    better
        Whether more or less of it is better.
    values : (M,)
        NaN where the study does not have the measure.
    cells
        How they are written, M of them.
    """

    key: str
    heading: str
    means: str
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
        """Mean rank of each measure, 1 the best, equal ones sharing theirs; NaN where it has no figure, (M,)."""
        merit = self.merit
        better = (merit[None, :] > merit[:, None] + ROUNDING).sum(axis=1)
        equal = (np.abs(merit[None, :] - merit[:, None]) <= ROUNDING).sum(axis=1)
        return np.asarray(np.where(np.isfinite(merit), better + (equal + 1) / 2, np.nan))


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


# ------------------------------------------------------------------------------------------- columns


def columns_of(studies: Studies) -> tuple[Column, ...]:
    """List what each study that was made says of each measure."""
    names = [str(measure) for measure in studies.systems.measures]
    found: list[Column | None] = [
        _agreement_column(studies),
        _stability_column(studies.stability, names),
        _ties_column(studies, names),
        _ambiguity_column(studies.ambiguity, names),
        _power_column(studies.power, names),
        _selection_column(studies.selection, names),
    ]
    return tuple(column for column in found if column is not None and np.isfinite(column.values).any())


def _aligned(measures: Sequence[Measure | str], values: Floats, names: Sequence[str]) -> Floats:
    """Values of other measures in the order of ours, (M,); NaN for those that are not among them."""
    by_name = {str(measure): float(value) for measure, value in zip(measures, values, strict=True)}
    return np.array([by_name.get(name, np.nan) for name in names])


def _cells(values: Floats, decimals: int, below: Sequence[str] | None = None, *, times: float = 1) -> tuple[Cell, ...]:
    below = [""] * len(values) if below is None else below
    return tuple(
        Cell(f"{times * value + 0:.{decimals}f}", small) if math.isfinite(value) else Cell("-")
        for value, small in zip(values, below, strict=True)
    )


def _to(interval: Floats, decimals: int, *, times: float = 1) -> str:
    low, high = (times * end for end in interval)
    return f"{low:.{decimals}f} to {high:.{decimals}f}" if math.isfinite(low) and math.isfinite(high) else ""


def _agreement_column(studies: Studies) -> Column | None:
    found = studies.agreement
    if found is None:
        return None
    below = [_to(interval, 2) for interval in found.mean_interval]
    return Column(
        "mean_tau",
        "mean tau with the others",
        "agreement with the other measures",
        "more",
        found.mean,
        _cells(found.mean, 2, below),
    )


def middle(stability: Stability) -> int:
    """Number of the subset size that is looked at: the one in the middle."""
    return len(stability.sizes) // 2


def _stability_column(found: Stability | None, names: Sequence[str]) -> Column | None:
    if found is None:
        return None
    at = middle(found)
    values = _aligned(found.measures, found.mean[at], names)
    spread = _aligned(found.measures, np.sqrt(found.variance[at]), names)
    return Column(
        "self_agreement",
        f"self-agreement on {found.queries[at]:,.0f} queries",
        "stability on other queries",
        "more",
        values,
        _cells(values, 2, [f"sd {sd:.2f}" if math.isfinite(sd) else "" for sd in spread]),
    )


def _ties_column(studies: Studies, names: Sequence[str]) -> Column | None:
    found = studies.ties
    if found is None:
        return None
    values = _aligned(found.systems.measures, found.all_tied, names)
    ends = [_aligned(found.systems.measures, found.interval[:, end], names) for end in (0, 1)]
    below = [_to(np.array(interval), 1, times=100) for interval in zip(*ends, strict=True)]
    return Column(
        "all_tied",
        "all-tied queries, %",
        "queries that tell systems apart",
        "less",
        values,
        _cells(values, 1, below, times=100),
    )


def noise_looked_at(found: Sequence[Ambiguity]) -> tuple[tuple[str, ...], NoiseLevel] | None:
    """The level of noise that the table shows, and the measures it has: of the model most like real annotators.

    One annotator's noise, which is the real one; of other models the middle level. None where there is no model.
    """
    if not found:
        return None

    def closeness(one: Ambiguity) -> int:
        return next((at for at, name in enumerate(_MODELS) if name in one.model.lower()), len(_MODELS))

    one = min(found, key=closeness)
    level = one.levels[-1] if one.model == "annotators" else one.levels[len(one.levels) // 2]
    return tuple(map(str, one.measures)), level


def _ambiguity_column(found: Sequence[Ambiguity], names: Sequence[str]) -> Column | None:
    looked_at = noise_looked_at(found)
    if looked_at is None:
        return None
    measures, level = looked_at
    values = _aligned(measures, level.mean_flips, names)
    rmse = _aligned(measures, level.rmse.mean(axis=0), names)
    return Column(
        "change_places",
        "label noise: pairs that change places, %",
        "steadiness under label noise",
        "less",
        values,
        _cells(values, 1, [f"off by {100 * error:.1f}" if math.isfinite(error) else "" for error in rmse], times=100),
    )


def _power_column(found: Power | None, names: Sequence[str]) -> Column | None:
    if found is None:
        return None
    values = _aligned(found.systems.measures, found.separated[-1], names)
    return Column(
        "separated",
        "pairs separated, %",
        "pairs of systems told apart",
        "more",
        values,
        _cells(values, 0, times=100),
    )


def _selection_column(found: Selection | None, names: Sequence[str]) -> Column | None:
    if found is None:
        return None
    lost = found.lost.mean(axis=0)
    values = _aligned(found.validation, lost, names)
    ends = [_aligned(found.validation, np.quantile(found.lost, q, axis=0), names) for q in (0.025, 0.975)]
    below = [_to(np.array(interval), 2, times=100) for interval in zip(*ends, strict=True)]
    return Column(
        "mean_regret",
        "mean regret, points",
        "what selecting by it loses",
        "less",
        values,
        _cells(values, 2, below, times=100),
    )


# ------------------------------------------------------------------------------------------- the rule


@dataclass(frozen=True, eq=False)
class Standing:
    """How the measures stand over all columns.

    Parameters
    ----------
    names
        M measures.
    columns
        C figures of merit.
    in_best_third : (C, M)
        Whether each is in the best third of each.
    mean_rank : (M,)
        Over the columns that have it; NaN where none does.
    order : (M,)
        Numbers of the measures, the best standing first.
    """

    names: Sequence[str]
    columns: tuple[Column, ...]
    in_best_third: Ints
    mean_rank: Floats
    order: Ints

    @classmethod
    def of(cls, names: Sequence[str], columns: tuple[Column, ...]) -> Standing:
        """Rank the measures in every column."""
        thirds = np.array([column.in_best_third for column in columns], dtype=np.int64).reshape(-1, len(names))
        ranks = np.array([column.ranks for column in columns]).reshape(-1, len(names))
        known = np.isfinite(ranks)
        total = np.where(known, ranks, 0).sum(axis=0)
        mean_rank = np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)
        by_rank = np.where(np.isnan(mean_rank), np.inf, mean_rank)
        return cls(names, columns, thirds, mean_rank, np.lexsort((by_rank, -thirds.sum(axis=0))))

    @property
    def is_ranked(self) -> bool:
        """Whether there are enough columns and measures to speak of the best."""
        return len(self.columns) >= FEWEST_COLUMNS and len(self.names) >= FEWEST_MEASURES

    @property
    def recommended(self) -> list[str]:
        """Measures in the best third of every column, the best first; none where there are too few columns."""
        if not self.is_ranked:
            return []
        return [self.names[at] for at in self.order if self.in_best_third[:, at].all()]

    def short_of(self, measure: int) -> list[str]:
        """What a measure is not in the best third of, in words."""
        return [
            column.means
            for column, is_good in zip(self.columns, self.in_best_third[:, measure], strict=True)
            if not is_good
        ]


def _headline(standing: Standing) -> str:
    if standing.recommended:
        stand = "stands" if len(standing.recommended) == 1 else "stand"
        return f"{_listed(standing.recommended)} {stand} in the best third in all {len(standing.columns)} respects"
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
                f"{_listed(standing.recommended)} {are} in the best third of the measures in all {n} respects that "
                f"were studied: {_listed([column.means for column in standing.columns])}."
            )
        else:
            count = int(standing.in_best_third[:, best].sum())
            level = [standing.names[at] for at in standing.order[1:] if standing.in_best_third[:, at].sum() == count]
            beside = f" {_few(level)} {'is' if len(level) == 1 else 'are'} in as many." if level else ""
            said.append(
                f"No measure is in the best third in all {n} respects that were studied. {standing.names[best]} is in "
                f"{count}, and falls short in {_listed(standing.short_of(best))}.{beside}"
            )
    if studies.selection is None and said:
        said.append("What a measure's choices are worth was not studied: that takes variants on two splits.")
    return said + _regret(studies.selection, simulated=studies.simulated_variants)


def _regret(found: Selection | None, *, simulated: bool) -> list[str]:
    """What choosing by each measure loses."""
    if found is None or not np.isfinite(found.lost).all():
        return []
    variants = f"{len(found.variants)} {'simulated ' if simulated else ''}variants"
    lost = 100 * found.lost.mean(axis=0)
    names = [str(measure) for measure in found.validation]
    best, worst = int(np.argmin(lost)), int(np.argmax(lost))
    if lost[worst] - lost[best] <= ROUNDING:
        return [f"All measures choose equally well among {variants}: {lost[best]:.2f} points lost."]
    more = 100 * (found.lost[:, worst] - found.lost[:, best])
    low, high = np.quantile(more, (0.025, 0.975))
    sure = "" if low > 0 else ", which holds 0: that may be chance"
    return [
        f"Choosing among {variants}, {names[best]} loses least, {lost[best]:.2f} points on average "
        f"over {len(found.test)} test measures, and {names[worst]} most, {lost[worst]:.2f}: {more.mean():.2f} more "
        f"(95 % interval {low:.2f} to {high:.2f}{sure}). One drawn by lot loses "
        f"{100 * float(np.nanmean(found.by_lot)):.2f}."
    ]


def _agreeing(studies: Studies) -> list[str]:
    return [] if studies.agreement is None else of_agreement.said(studies.agreement)[:3]


def _stable(studies: Studies) -> list[str]:
    return [*_stable_on_queries(studies.stability), *_stable_on_labels(studies.ambiguity)]


def _stable_on_queries(found: Stability | None) -> list[str]:
    if found is None:
        return []
    at = middle(found)
    mean, names = found.mean[at], [str(measure) for measure in found.measures]
    best, worst = int(np.argmax(mean)), int(np.argmin(mean))
    if mean[best] - mean[worst] <= ROUNDING:
        return [f"On {found.queries[at]:,.0f} queries all measures rank the systems equally alike ({mean[best]:.2f})."]
    level = [name for at, name in enumerate(names) if at != best and mean[at] >= mean[best] - LEVEL_TAU]
    beside = f" ({_few(level)} within {LEVEL_TAU:g})" if level else ""
    return [
        f"On other {found.queries[at]:,.0f} queries {names[best]} ranks the systems most alike: self-agreement "
        f"{mean[best]:.2f}{beside}; {names[worst]} least, {mean[worst]:.2f}."
    ]


def _stable_on_labels(found: Sequence[Ambiguity]) -> list[str]:
    looked_at = noise_looked_at(found)
    if looked_at is None:
        return []
    names, level = looked_at
    turned, rmse = 100 * level.mean_flips, 100 * level.rmse.mean(axis=0)
    if not np.isfinite(turned).any():
        return []
    best, worst = int(np.nanargmin(turned)), int(np.nanargmax(turned))
    return [
        f"Under label noise ({level.model}, {level.level}; mean IoU with the labels as they are "
        f"{level.mean_iou:.2f}) two systems change places least by {names[best]}, in {turned[best]:.1f} % of the cases "
        f"(its figures are off by {rmse[best]:.1f} points), and most by {names[worst]}, in {turned[worst]:.1f} % "
        f"({rmse[worst]:.1f} points)."
    ]


def _trusted(studies: Studies) -> list[str]:
    return [*_separated(studies.power), *_turned(studies.ambiguity), *_tied(studies)]


def _separated(found: Power | None) -> list[str]:
    """Which pairs of systems differ, by how many measures, and whether the measures say the same."""
    if found is None:
        return []
    names = [str(measure) for measure in found.systems.measures]
    is_separated = found.p_holm <= found.level  # never of NaN
    sign = np.sign(found.whole.difference) * is_separated
    up, down = (sign > 0).any(axis=1), (sign < 0).any(axis=1)
    n_pairs, opposed = len(sign), int((up & down).sum())
    by_all = int((is_separated.all(axis=1) & ~(up & down)).sum())
    none = int((~is_separated.any(axis=1)).sum())
    share = 100 * is_separated.mean(axis=0)
    best, worst = int(np.argmax(share)), int(np.argmin(share))
    few = f"{n_pairs:,} pair{'' if n_pairs == 1 else 's'} of systems"
    said = [
        f"Trust a difference that every measure shows, as far as the choice of videos goes: {by_all:,} of {few} differ "
        f"significantly by all measures in the same direction, {none:,} by none."
    ]
    if opposed:
        first, second = (of[np.flatnonzero(up & down)[0]] for of in pairs_of(len(found.systems)))
        a, b = (_named(found.systems.names[at]) for at in (first, second))
        said.append(
            f"{opposed:,} pair{' is' if opposed == 1 else 's are'} told apart significantly in opposite directions by "
            f"different measures, such as {a} and {b}: which is better depends on the measure, more than on the choice "
            "of videos."
        )
    if share[best] - share[worst] > ROUNDING:
        said.append(
            f"{names[best]} tells most pairs apart ({share[best]:.0f} %), {names[worst]} fewest "
            f"({share[worst]:.0f} %), at level {found.level:g} after correction."
        )
    needed = found.needed_median
    best, worst = int(np.argmin(needed)), int(np.argmax(needed))
    if np.isfinite(needed).all() and needed[best] < needed[worst]:
        said.append(
            f"If the true differences are those seen, half of the pairs can be told apart, each as one of {n_pairs:,} "
            f"comparisons, with {needed[best]:,.0f} queries by {names[best]}, and with {needed[worst]:,.0f} by "
            f"{names[worst]}."
        )
    return said


def _turned(found: Sequence[Ambiguity]) -> list[str]:
    """How often label noise turns pairs of systems."""
    looked_at = noise_looked_at(found)
    if looked_at is None:
        return []
    names, level = looked_at
    flips = level.flips
    known = np.isfinite(flips)
    if not known.any():
        return []
    often = np.where(known, flips > OFTEN, False).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    best, worst = int(np.argmin(often)), int(np.argmax(often))
    sets = len(level.figures)
    return [
        f"Labels alone can turn a difference: under the same noise, pairs that change places in more than "
        f"{100 * OFTEN:.0f} % of {sets:,} noisy sets are {100 * often[best]:.0f} % of the pairs by {names[best]}, and "
        f"{100 * often[worst]:.0f} % by {names[worst]}."
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
        f"On {100 * found.all_tied[worst]:.1f} % of the queries {names[worst]} gives every system the same value, and "
        f"on {100 * found.all_tied[best]:.1f} % {names[best]}: such queries tell no systems apart."
    ]


def _rewarded(studies: Studies) -> list[str]:
    """Which axioms the measures hold to."""
    names = [str(measure) for measure in studies.systems.measures]
    held = {axiom: held_by(studies, axiom) for axiom in _AXIOMS}
    tried = [name for name in names if name in held["MON"]]
    kinds: dict[tuple[bool, bool], list[str]] = {}
    for name in tried:
        kinds.setdefault((held["INV"].get(name, True), held["MON"][name]), []).append(name)
    return [f"{_few(members)} {_REWARDS[kind]}." for kind, members in kinds.items()]


def held_by(studies: Studies, axiom: str) -> dict[str, bool]:
    """Whether each measure held to an axiom wherever it was tried."""
    held: dict[str, bool] = {}
    for result in studies.axioms:
        if result.axiom == axiom and result.n_pairs:
            name = str(result.measure)
            held[name] = held.get(name, True) and result.holds
    return held


def _few(names: Sequence[str]) -> str:
    return _listed(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"


def _listed(parts: Sequence[str], word: str = "and") -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {word} {parts[-1]}"


def _named(name: str) -> str:
    return shortened(one_line(name), 40)


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
