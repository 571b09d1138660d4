"""How the measures stand over all studies: a figure of merit from each, and the rule of recommendation.

The rule of recommendation
--------------------------
Every study that was made gives each measure a figure of merit (a *column*): mean tau with the other measures,
self-agreement on subsets, all-tied queries, pairs that change places under label noise, pairs of systems
separated, mean regret of its choices. In each column a measure is *in the best third* if its figure is at least as good
as that of place ceil(M / 3) of the M measures that have one. Recommended is a measure that is in the best third of all
columns, where there are :data:`FEWEST_COLUMNS` or more columns and :data:`FEWEST_MEASURES` or more measures: with
fewer, chance alone would often put one there. If there is none, none is recommended: what is told is which comes
closest (in most best thirds, then by mean rank), and where it falls short.

The axioms are no column: they are properties, told beside. All columns count alike, although some have to do with each
other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from truemoment.intervals import Floats, Ints
from truemoment.reports.model import Cell
from truemoment.reports.text import low_to_high, number
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

_MODELS = ("annotators", "shift", "published")
"""Models of label noise from the most to the least like real annotators; others come last."""


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
        Cell(number(times * value, decimals), small if math.isfinite(value) else "")
        for value, small in zip(values, below, strict=True)
    )


def _agreement_column(studies: Studies) -> Column | None:
    found = studies.agreement
    if found is None:
        return None
    below = [low_to_high(interval, 2) for interval in found.mean_interval]
    return Column(
        "mean_tau",
        "mean tau with the others",
        "agreement with the other measures",
        "more",
        found.mean,
        _cells(found.mean, 2, below),
    )


def _stability_column(found: Stability | None, names: Sequence[str]) -> Column | None:
    if found is None:
        return None
    at = found.middle
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
    below = [low_to_high(interval, 1, times=100) for interval in zip(*ends, strict=True)]
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
        return _MODELS.index(one.model) if one.model in _MODELS else len(_MODELS)

    one = min(found, key=closeness)
    level = one.levels[-1] if one.model == _MODELS[0] else one.levels[len(one.levels) // 2]
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
    values = _aligned(found.validation, found.mean_lost, names)
    ends = [_aligned(found.validation, found.mean_lost_interval[:, end], names) for end in (0, 1)]
    below = [low_to_high(interval, 2, times=100) for interval in zip(*ends, strict=True)]
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
        """Whether there are enough columns, and measures with a figure, to speak of the best."""
        return len(self.columns) >= FEWEST_COLUMNS and np.isfinite(self.mean_rank).sum() >= FEWEST_MEASURES

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
