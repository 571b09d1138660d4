r"""Discriminative power: the pairs of systems that a measure separates, and the number of queries this needs.

*Test*: the normal approximation of :func:`truemoment.evaluation.uncertainty.permutation_p_values`. With :math:`d_v` the
difference of the two systems' sums over video v, W the sum of weights and :math:`D = \sum_v d_v / W`,

.. math:: p = 2 \, \Phi\!\left(- \max(|D| \, W - c, 0) / \sqrt{\textstyle\sum_v d_v^2}\right)

c is 1 for measures that count (R@K): swaps move their sums in steps of 2, and the permutation test counts those that
come exactly as far, which half a step accounts for; it is 0 for all others.

*Planning*: with :math:`e_v = d_v - D w_v`, a true difference :math:`\Delta` is found in a share `power` of test sets of
n queries (for K comparisons, :math:`\alpha` is level / K):

.. math:: \mathrm{Var}(D) = \frac{V}{V - 1} \frac{\sum_v e_v^2}{W^2}, \qquad \sigma^2 = Q \, \mathrm{Var}(D), \qquad
          n = (z_{1 - \alpha / 2} + z_{power})^2 \, \sigma^2 / \Delta^2

Guide: ``docs/meta.md``.

References
----------
Discriminative power: T. Sakai, Evaluating evaluation metrics based on the bootstrap, SIGIR 2006. Variance of a ratio
over clusters: W. G. Cochran, Sampling techniques (1977), chapters 6 and 9; numbers of queries: T. Sakai, Topic set size
design, Information Retrieval Journal 19 (2016).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import numbers_of
from truemoment.evaluation.progress import with_progress
from truemoment.evaluation.uncertainty import LEVEL, NO_WEIGHT, holm, interval95, normal_tail
from truemoment.studies.meta.rankings import pairs_of
from truemoment.studies.meta.systems import Systems, Unit, figures_of

FEWEST_UNITS = 30
"""Minimum number of videos: with fewer, the normal approximation is inaccurate in the tails that Holm's method uses."""

LEAST_LEVEL = 1e-12
"""Minimum level of a test, divided by the comparisons: beyond, the normal tail is not reliable."""

DIFFERENCES = (0.01, 0.02, 0.03, 0.05, 0.1)
"""True differences (fractions) of the planning table."""

QUANTILES = (0.5, 0.9)
"""Quantiles of the standard deviation over the pairs: a typical and a hard pair."""

_SIZES = tuple(step * 10**tens for tens in range(1, 8) for step in (1, 2, 5))

_NEGLIGIBLE = 1e-12
"""Maximum ratio of a sum of squared differences to the squares that is rounding: the two systems are alike."""


@dataclass(frozen=True, eq=False)
class PairedTests:
    """Tests of the P pairs of S systems by M measures on some queries. Differences are fractions.

    Parameters
    ----------
    difference : (P, M)
        Figure of the first less that of the second, so that more is better; NaN if undefined.
    p : (P, M)
        Two-sided p-value; 1 if the two score alike on every unit, NaN if the difference is undefined.
    variance : (P, M)
        Variance of the difference, with the observed difference as the true one; units are clusters.
    """

    difference: Floats
    p: Floats
    variance: Floats


@dataclass(frozen=True, eq=False)
class Power:
    """Share of P pairs of systems that M measures separate on subsets of N sizes, and the queries that this needs.

    Parameters
    ----------
    unit
        Unit that is drawn and that is independent in the test: videos, or single queries.
    sizes : (N,)
        Requested numbers of queries, rising; the last one is the whole split.
    queries, units : (N,)
        Mean numbers of queries and of units in the subsets.
    separated : (N, M)
        Share of the pairs whose corrected p is at most `level`, mean over the subsets; NaN for a measure that is
        undefined for every system.
    separated_interval : (N, M, 2)
        Central 95 % of the subsets.
    wrong_way : (N, M)
        Share of the pairs that are separated in the direction opposite to the figures on the whole split.
    whole
        Tests on the whole split.
    p_holm : (P, M)
        p-values on the whole split, corrected over the pairs of each measure.
    clustering : (M,)
        Variance with clusters over the variance without, median over the pairs: the factor on the number of queries
        compared with one query per video. NaN if no pair differs.
    level, comparisons, power
        Significance level; number of comparisons of the planning; share of test sets in which a difference is shown.
    """

    systems: Systems
    unit: Unit
    sizes: Ints
    queries: Floats
    units: Floats
    repetitions: int
    separated: Floats
    separated_interval: Floats
    wrong_way: Floats
    whole: PairedTests
    p_holm: Floats
    clustering: Floats
    level: float
    comparisons: int
    power: float

    @functools.cached_property
    def sigma(self) -> Floats:
        """Standard deviation of a pair's difference per query, with the clustering by video, (P, M); a fraction."""
        return np.asarray(np.sqrt(self.whole.variance * len(self.systems.first)))

    @functools.cached_property
    def needed(self) -> Floats:
        """Number of queries that separate each pair if the observed difference is the true one, (P, M).

        The level is that of P comparisons (level / P, near Holm's method), and the number is never below
        :data:`FEWEST_UNITS` units. It is infinite for a pair that scores alike on every unit, and NaN if the difference
        is undefined. Observed differences are larger than the true ones on average, so the number is too low.
        """
        needed = queries_needed(
            self.whole.difference, self.sigma, level=self.level, power=self.power, comparisons=len(self.p_holm)
        )
        return np.maximum(needed, self.least_queries)

    @property
    def least_queries(self) -> float:
        """Number of queries in the minimum number of units."""
        return FEWEST_UNITS * float(self.queries[-1] / self.units[-1])

    @functools.cached_property
    def needed_median(self) -> Floats:
        """Median over the pairs of `needed`, (M,): comparable between measures, because the pairs are the same."""
        return np.asarray(np.nanmedian(np.where(np.isnan(self.needed), np.inf, self.needed), axis=0))

    def planned(self, differences: Sequence[float] = DIFFERENCES) -> Floats:
        """Return the queries that show K true differences for a typical (median) and a hard pair (90 %): (K, M, 2).

        They are NaN for a measure by which no pair differs, and never below :data:`FEWEST_UNITS` units.
        """
        sigma = self.sigma
        spread = np.full((len(sigma[0]), len(QUANTILES)), np.nan)
        for row, deviations in enumerate(sigma.T):
            differing = deviations[deviations > 0]  # neither 0 nor NaN
            if len(differing):
                spread[row] = np.quantile(differing, QUANTILES)
        planned = queries_needed(
            np.asarray(differences, dtype=np.float64)[:, None, None],
            spread,
            level=self.level,
            power=self.power,
            comparisons=self.comparisons,
        )
        return np.maximum(planned, self.least_queries)


def queries_needed(
    difference: Floats, sigma: Floats, *, level: float = LEVEL, power: float = 0.8, comparisons: int = 1
) -> Floats:
    """Return the queries on which a true difference is significant in a share `power` of test sets; infinite for 0.

    `difference` and `sigma`, the standard deviation of the difference per query, have the same unit. `level` is that of
    the two-sided test; it is divided by `comparisons`.

    Examples
    --------
    >>> float(queries_needed(np.array(0.05), np.array(0.5)).round(1))  # 2.80 squared, a hundred times
    784.9
    """
    for name, value in (("level", level / max(comparisons, 1)), ("power", power)):
        if not LEAST_LEVEL < value < 1 - LEAST_LEVEL:
            raise UsageError(f"got {name} {value}, expected more than 0 ({LEAST_LEVEL:g} at least) and less than 1")

    if comparisons < 1:
        raise UsageError(f"got {comparisons} comparisons, expected 1 or more")
    normal = NormalDist()
    times = normal.inv_cdf(1 - level / comparisons / 2) + normal.inv_cdf(power)
    differs = np.abs(difference) > 0
    needed = (times * sigma / np.where(differs, difference, 1)) ** 2
    return np.asarray(np.where(np.isnan(difference * sigma), np.nan, np.where(differs, needed, np.inf)))


def power(
    systems: Systems,
    rng: np.random.Generator,
    *,
    sizes: Sequence[int] | Ints | None = None,
    repetitions: int = 50,
    unit: Unit = "video",
    level: float = LEVEL,
    power: float = 0.8,
    comparisons: int = 1,
    progress: bool = False,
) -> Power:
    """Test all pairs of systems by every measure on subsets of the queries, and plan the number of queries.

    Parameters
    ----------
    sizes
        Queries of a subset, approximately, because whole units are drawn. None for steps of 1, 2 and 5 from 100 upwards
        that are 30 units or more. The whole split is always added. Smaller subsets are parts of larger ones.
    level
        Maximum corrected p-value of a separated pair.
    power
        Share of test sets in which a planned difference is shown.
    """
    if repetitions < 2:
        raise UsageError(f"got {repetitions} repetitions, expected 2 or more")
    queries_needed(np.ones(1), np.ones(1), level=level, power=power, comparisons=comparisons)  # refuses what is wrong
    numerator, weight = systems.units(unit)
    video = systems.first.video_id
    counts = np.ones(len(video), dtype=np.int64) if unit == "query" else np.bincount(numbers_of(video))
    sizes = _check_sizes(sizes, counts, unit)
    sums = _Sums.of(numerator, weight)
    whole = sums.total().test(systems.direction, len(counts))
    undefined = np.isnan(whole.p).all(axis=0)
    separated = np.empty((len(sizes), repetitions, len(systems.measures)))
    turned, queries, units = np.empty_like(separated), np.empty(separated.shape[:2]), np.empty(separated.shape[:2])
    for repetition in with_progress(range(repetitions), "drawing subsets", show=progress):
        order = rng.permutation(len(counts))
        ends = _ends(counts[order], sizes)
        subsets = [
            products.test(systems.direction, int(end))
            for products, end in zip(sums.first(order, ends[:-1]), ends[:-1], strict=True)
        ]
        for row, (tested, end) in enumerate(zip([*subsets, whole], ends, strict=True)):
            corrected = holm(tested.p) <= level  # NaN is not
            separated[row, repetition] = np.where(undefined, np.nan, corrected.mean(axis=0))
            turned[row, repetition] = (corrected & (tested.difference * whole.difference < 0)).mean(axis=0)
            queries[row, repetition], units[row, repetition] = counts[order[:end]].sum(), end
    return Power(
        systems=systems,
        unit=unit,
        sizes=sizes,
        queries=queries.mean(axis=1),
        units=units.mean(axis=1),
        repetitions=repetitions,
        separated=separated.mean(axis=1),
        separated_interval=interval95(separated.swapaxes(0, 1)),
        wrong_way=turned.mean(axis=1),
        whole=whole,
        p_holm=holm(whole.p),
        clustering=_clustering(systems, whole),
        level=level,
        comparisons=comparisons,
        power=power,
    )


@dataclass(frozen=True, eq=False)
class _Sums:
    """Numerators and weights by measure, unit and system, (M, U, S).

    `alike`: all systems have the same weights. `half_step`: half of the step in which swaps move the sums of each
    measure, (M,).
    """

    numerator: Floats
    weight: Floats
    alike: bool
    half_step: Floats

    @classmethod
    def of(cls, numerator: Floats, weight: Floats) -> _Sums:
        by_measure = [np.ascontiguousarray(table.transpose(2, 0, 1)) for table in (numerator, weight)]
        alike = bool((weight == weight[:, :1]).all())
        counts = (numerator == np.rint(numerator)).all(axis=(0, 1)) & alike
        return cls(by_measure[0], by_measure[1], alike, counts.astype(np.float64))

    def total(self) -> _Products:
        """Return the products over all units."""
        return self._products(slice(None))

    def first(self, order: Ints, ends: Ints) -> list[_Products]:
        """Return the products over the first `end` units of an order, for each of rising `ends`, in one pass."""
        products: list[_Products] = []
        begin = 0
        for end in ends:
            step = self._products(order[begin:end])
            products.append(products[-1] + step if products else step)
            begin = int(end)
        return products

    def _products(self, rows: Ints | slice) -> _Products:
        x = self.numerator[:, rows]
        w = self.weight[:, rows, :1] if self.alike else self.weight[:, rows]
        return _Products(
            x.sum(axis=1),
            w.sum(axis=1),
            x.swapaxes(1, 2) @ x,
            x.swapaxes(1, 2) @ w,
            w.swapaxes(1, 2) @ w,
            self.half_step,
        )


@dataclass(frozen=True, eq=False)
class _Products:
    x: Floats
    w: Floats
    xx: Floats
    xw: Floats
    ww: Floats
    half_step: Floats

    def __add__(self, other: _Products) -> _Products:
        return _Products(
            self.x + other.x,
            self.w + other.w,
            self.xx + other.xx,
            self.xw + other.xw,
            self.ww + other.ww,
            self.half_step,
        )

    def test(self, direction: Floats, n_units: int) -> PairedTests:
        """Test all pairs on `n_units` units."""
        n_systems = self.x.shape[1]
        x = self.x
        w = np.broadcast_to(self.w, x.shape)
        defined = w > NO_WEIGHT
        over = 1 / np.where(defined, w, 1)  # each system's sums are divided by its own weight
        figure = figures_of(x * defined, w * defined)
        scale = over[:, :, None] * over[:, None, :]
        xx, square = self.xx * scale, (n_systems, n_systems)
        xw = np.broadcast_to(self.xw, (len(x), *square)) * scale
        ww = np.broadcast_to(self.ww, (len(x), *square)) * scale
        a, b = pairs_of(n_systems)
        difference = figure[:, a] - figure[:, b]
        largest = xx[:, a, a] + xx[:, b, b]
        d_x = largest - 2 * xx[:, a, b]  # sums over units of squared differences
        d_xw = xw[:, a, a] + xw[:, b, b] - xw[:, a, b] - xw[:, b, a]
        d_w = ww[:, a, a] + ww[:, b, b] - 2 * ww[:, a, b]
        middle = (figure[:, a] + figure[:, b]) / 2
        swapped = d_x - 2 * middle * d_xw + middle**2 * d_w
        f_a, f_b = figure[:, a], figure[:, b]
        # The square of (x_a - f_a w_a) - (x_b - f_b w_b), with what is in d_x taken out.
        w_part = f_a**2 * ww[:, a, a] + f_b**2 * ww[:, b, b] - 2 * f_a * f_b * ww[:, a, b]
        xw_part = f_a * (xw[:, a, a] - xw[:, b, a]) + f_b * (xw[:, b, b] - xw[:, a, b])
        around = d_x - 2 * xw_part + w_part
        alike = swapped <= _NEGLIGIBLE * largest
        swapped, around = np.where(alike, 0, swapped), np.where(alike | (around < 0), 0, around)
        away = np.abs(difference) - self.half_step[:, None] * over[:, :1]
        z = np.maximum(away, 0) / np.sqrt(np.where(alike, 1, swapped))
        p = np.where(alike, 1.0, 2 * normal_tail(z))
        undefined = np.isnan(difference)
        signed = np.where(alike & ~undefined, 0, difference) * direction[:, None]
        variance = np.where(undefined, np.nan, around) * (n_units / max(n_units - 1, 1))
        return PairedTests(signed.T, np.where(undefined, np.nan, p).T, variance.T)


def _check_sizes(sizes: Sequence[int] | Ints | None, counts: Ints, unit: Unit) -> Ints:
    """Return the sizes, each once and rising, the whole split last."""
    whole, each = int(counts.sum()), float(counts.mean())
    units = "videos" if unit == "video" else "queries"
    if len(counts) < FEWEST_UNITS:
        raise UsageError(f"got {len(counts)} {units}, expected {FEWEST_UNITS} or more to test differences on")
    if sizes is None:
        n_units = np.array([size for size in _SIZES if size >= max(100, FEWEST_UNITS * each) and size < whole])
        return np.append(n_units.astype(np.int64), whole)
    n_units = np.unique(np.asarray(sizes, dtype=np.int64))
    for size in n_units.tolist():
        if size > whole:
            raise UsageError(f"got subsets of {size:,} queries, expected at most the {whole:,} that there are")
        if size < FEWEST_UNITS * each:
            raise UsageError(
                f"got subsets of {size:,} queries, which are of {size / each:.0f} {units}; expected {FEWEST_UNITS} "
                f"{units} or more ({math.ceil(FEWEST_UNITS * each):,} queries): the test is an approximation"
            )
    return n_units if whole in n_units else np.append(n_units, whole)


def _ends(counts: Ints, sizes: Ints) -> Ints:
    """Return the number of units, in order, with about `sizes` queries, (N,): the closest one, the smaller of two."""
    cumulative = np.cumsum(counts)
    after = np.minimum(np.searchsorted(cumulative, sizes), len(cumulative) - 1)
    before = np.maximum(after - 1, 0)
    return np.asarray(np.where(sizes - cumulative[before] <= cumulative[after] - sizes, before, after) + 1)


def _clustering(systems: Systems, whole: PairedTests) -> Floats:
    """Return the variance of the difference with clusters over that without, median over the pairs, (M,)."""
    single = _Sums.of(*systems.units("query")).total().test(systems.direction, len(systems.first)).variance
    differ = (single > 0) & (whole.variance > 0)
    ratio = np.where(differ, whole.variance / np.where(differ, single, 1), np.nan)
    ratios = [column[~np.isnan(column)] for column in ratio.T]
    return np.array([np.median(column) if len(column) else np.nan for column in ratios])
