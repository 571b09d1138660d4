"""Figures of a sweep: curves over the values of the dial, means and spreads over seeds, differences of methods."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.evaluation.student import two_sided_quantile

IID, OOD = "test-iid", "test-ood"

Place = tuple[float | None, int]
"""Value of the dial (None where it changes nothing) and seed."""

Figures = Mapping[tuple[str, str], float]
"""Fraction by split and measure; NaN where it is undefined."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Figures of a method, a floor or a ceiling.

    Parameters
    ----------
    name, title
        Name in files and in reports.
    kind
        Which of the three it is.
    sees
        Whether it sees the video; a floor that does reads no sentence.
    points
        Its figures at each place.
    config
        Hash of its recipe; ``floor`` for a floor or a ceiling.
    """

    name: str
    title: str
    kind: Literal["method", "floor", "ceiling"]
    sees: bool
    points: Mapping[Place, Figures]
    config: str

    @property
    def level(self) -> bool:
        """Whether the dial changes nothing for it."""
        return all(value is None for value, _ in self.points)

    def table(self, values: Sequence[float], seeds: Sequence[int], split: str, measure: str) -> Floats:
        """Return the fractions by value and seed, (V, S); NaN where there is none."""
        key = (split, measure)
        return np.array(
            [[self._at(value, seed).get(key, math.nan) for seed in seeds] for value in values], dtype=np.float64
        ).reshape(len(values), len(seeds))

    def _at(self, value: float, seed: int) -> Figures:
        return self.points.get((value, seed)) or self.points.get((None, seed)) or {}


class EmptyCell(NamedTuple):
    """A cell without figures: method, value of the dial, seed, and why."""

    method: str
    value: float | None
    seed: int
    why: str


@dataclass(frozen=True, eq=False)
class SweepResult:
    """The result of a sweep, which may have empty cells.

    Parameters
    ----------
    dial, values, seeds
        Name of the dial, its values, and the seeds of training.
    source
        The data: name of a dataset, or settings of a world.
    splits
        Test splits.
    measures, headline
        All measures, and the one that the report shows.
    methods, floors, ceilings
        Curves of what was trained, and of what it is compared with.
    failed
        Cells without figures.
    notes
        What a reader of the figures has to know.
    """

    dial: str
    values: tuple[float, ...]
    seeds: tuple[int, ...]
    source: Mapping[str, Any]
    splits: tuple[str, ...]
    measures: tuple[str, ...]
    headline: str
    methods: tuple[Curve, ...]
    floors: tuple[Curve, ...]
    ceilings: tuple[Curve, ...] = ()
    failed: tuple[EmptyCell, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def references(self) -> tuple[Curve, ...]:
        """The floors and ceilings."""
        return (*self.floors, *self.ceilings)

    @property
    def curves(self) -> tuple[Curve, ...]:
        """Methods, floors and ceilings."""
        return (*self.methods, *self.references)

    def table(self, curve: Curve, split: str, measure: str | None = None) -> Floats:
        """Return fractions by value and seed, (V, S); by its own seeds, for a floor or a ceiling."""
        seeds = self.seeds if curve.kind == "method" else sorted({seed for _, seed in curve.points})
        return curve.table(self.values, seeds, split, measure or self.headline)

    def losses(self, curve: Curve) -> Floats:
        """Return what is lost from test-iid to test-ood by value and seed, fractions, (V, S)."""
        return self.table(curve, IID) - self.table(curve, OOD)

    @property
    def has_two(self) -> bool:
        """Whether the sweep has both test-iid and test-ood."""
        return IID in self.splits and OOD in self.splits

    def strongest_floor(self, split: str, at: int) -> Curve | None:
        """Return the floor with the highest figure on a test split, at the value of this number."""
        figures = [(mean_and_spread(self.table(floor, split))[0][at], floor) for floor in self.floors]
        defined = [(mean, floor) for mean, floor in figures if math.isfinite(mean)]
        return max(defined, key=lambda pair: pair[0])[1] if defined else None


def mean_and_spread(table: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation (n - 1) over the seeds with a figure.

    Parameters
    ----------
    table : (V, S)
        NaN where there is no figure.

    Returns
    -------
    mean, spread : (V,)
        NaN where there is no figure, and where there is but one.

    Examples
    --------
    >>> mean, spread = mean_and_spread(np.array([[0.25, 0.75], [0.5, np.nan]]))
    >>> mean.tolist(), spread.round(4).tolist()
    ([0.5, 0.5], [0.3536, nan])
    """
    finite = np.isfinite(table)
    count = finite.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(finite, table, 0).sum(axis=1) / count
        square = np.where(finite, (table - mean[:, None]) ** 2, 0).sum(axis=1) / (count - 1)
    return np.where(count > 0, mean, np.nan), np.where(count > 1, np.sqrt(np.where(count > 1, square, 0)), np.nan)


_ROUNDING = 1e-9
"""Figures are kept to six decimals."""


class Difference(NamedTuple):
    """Mean of a difference over seeds, and its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes 0 by more than rounding."""
        return self.low > _ROUNDING or self.high < -_ROUNDING


def difference(a: Floats, b: Floats) -> Difference | None:
    r"""Difference of two methods, paired by seed, with its 95 % interval by Student's t.

    .. math:: \bar d \pm t_{0.975, S - 1} \, s_d / \sqrt{S}, \quad d_s = a_s - b_s

    Parameters
    ----------
    a, b : (S,)
        A figure a seed; NaN where there is none.

    Returns
    -------
    Difference
        None if fewer than two seeds have both.

    Examples
    --------
    >>> difference(np.array([0.3, 0.5, 0.4]), np.array([0.1, 0.2, 0.3])).is_clear
    False
    """
    paired = (a - b)[np.isfinite(a - b)]
    if len(paired) < 2:
        return None
    half = float(two_sided_quantile(0.05, len(paired) - 1) * paired.std(ddof=1)) / math.sqrt(len(paired))
    mean = float(paired.mean())
    return Difference(mean, mean - half, mean + half)
