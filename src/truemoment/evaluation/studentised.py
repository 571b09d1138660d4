r"""Confidence intervals for few videos: ratios of sums by video, by the studentised bootstrap.

Every figure of a verdict is a ratio of two sums over videos. A difference of two methods is
:math:`\sum_v (s_v - f_v) / \sum_v w_v` with s and f their numerators and w the weights; a skill is
:math:`\sum_v (s_v - f_v) / \sum_v (c_v - f_v)` with c the ceiling's. For a ratio
:math:`\theta = \sum x_v / \sum y_v` over V videos the standard error by linearisation is

.. math:: \mathrm{SE} = \frac{1}{\left|\sum_v y_v\right|} \sqrt{\frac{V}{V - 1} \sum_v (x_v - \theta y_v)^2}.

Videos are drawn with replacement; with :math:`t^* = (\theta^* - \theta) / \mathrm{SE}^*` over the draws, the interval
is :math:`[\theta - q_{1 - \alpha / 2}(t^*)\,\mathrm{SE},\; \theta - q_{\alpha / 2}(t^*)\,\mathrm{SE}]`. A percentile
interval of 20 videos is too short; this one is not (``benchmarks/verdict.py``).

References
----------
B. Efron and R. Tibshirani, An Introduction to the Bootstrap (1993), chapter 12; standard error of a ratio: W. G.
Cochran, Sampling Techniques (1977), chapter 6.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from truemoment.base.intervals import Floats, Ints
from truemoment.evaluation.uncertainty import LEVEL, NO_WEIGHT, ROUNDING, normal_tail, resample_sums


@dataclass(frozen=True, eq=False)
class Ratios:
    """C ratios of sums by video, and B draws of the videos.

    Parameters
    ----------
    value : (C,)
        NaN where the denominator is 0.
    error : (C,)
        Standard errors.
    drawn : (B, C)
        Values in the draws.
    t : (B, C)
        Studentised values in the draws; infinite where a draw has no error, NaN where it does not define the ratio.
    """

    value: Floats
    error: Floats
    drawn: Floats
    t: Floats

    def __getitem__(self, columns: slice) -> Ratios:
        return Ratios(self.value[columns], self.error[columns], self.drawn[:, columns], self.t[:, columns])

    def bounds(self, level: float, spread: Floats | float = 0.0) -> tuple[Floats, Floats]:
        """Return the ends of an interval, each missed with a chance of `level` / 2.

        Parameters
        ----------
        spread : (C,)
            Further standard deviation besides that of the videos, such as that of a floor over seeds.

        Returns
        -------
        lower, upper : (C,)
            NaN where the value is undefined, or is undefined in some draw; with a single video; the value itself where
            it does not vary from video to video. Where too many draws have no error, as when all but a few videos are
            alike, an end is that of the percentile interval.
        """
        low, high = self._quantiles(level)
        percentiles = np.zeros((2, len(self.value)))
        needed = ~(np.isfinite(low) & np.isfinite(high))
        percentiles[:, needed] = np.quantile(self.drawn[:, needed], [level / 2, 1 - level / 2], axis=0)
        with np.errstate(invalid="ignore"):
            lower = np.where(np.isfinite(high), self.value - high * self.error, percentiles[0])
            upper = np.where(np.isfinite(low), self.value - low * self.error, percentiles[1])
        z = NormalDist().inv_cdf(1 - level / 2)
        defined = ~np.isnan(self.error) & ~np.isnan(self.drawn).any(axis=0)
        wider = [np.hypot(end - self.value, z * spread) - np.abs(end - self.value) for end in (lower, upper)]
        return np.where(defined, lower - wider[0], np.nan), np.where(defined, upper + wider[1], np.nan)

    def p_values(self) -> Floats:
        """Return one-sided p-values of the ratios being below 0 and above 0, (2, C).

        They are those of a normal deviate that is scaled to have the 2.5 % and 97.5 % quantiles of the draws: a p-value
        is 0.025 where an end of the 95 % interval is 0, and smaller ones do not need more draws. NaN where an interval
        is undefined, or would not be studentised.
        """
        low, high = self._quantiles(LEVEL)
        z = NormalDist().inv_cdf(1 - LEVEL / 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(
                (self.error > ROUNDING) & ~np.isnan(self.drawn).any(axis=0), self.value / self.error, np.nan
            )
            scaled = [np.where(np.isfinite(end) & (end != 0), z * value / end, np.nan) for end in (low, high)]
        return normal_tail(np.stack(scaled))

    def _quantiles(self, level: float) -> tuple[Floats, Floats]:
        """Return the quantiles of t at level / 2 and 1 - level / 2, which may be infinite, (C,) each."""
        last = len(self._ordered_t) - 1
        low, high = (self._ordered_t[round(last * share)] for share in (level / 2, 1 - level / 2))
        return low, high

    @functools.cached_property
    def _ordered_t(self) -> Floats:
        return np.sort(np.where(np.isnan(self.t), 0.0, self.t), axis=0)


def resample_ratios(
    numerator: Floats,
    denominator: Floats,
    rng: np.random.Generator,
    *,
    resamples: int = 1000,
    above: Ints | None = None,
    below: Ints | None = None,
) -> Ratios:
    """Draw videos with replacement and studentise C ratios of sums by video, numerators (V, N) and denominators (V, D).

    `above` and `below` are the numbers of the numerator and the denominator of each ratio, (C,); None for one each, in
    order.

    Examples
    --------
    >>> import numpy as np
    >>> hits, queries = np.array([[1.0], [0.0], [2.0], [1.0]]), np.array([[2.0], [1.0], [2.0], [2.0]])
    >>> ratios = resample_ratios(hits, queries, np.random.default_rng(0), resamples=1000)
    >>> round(float(ratios.value[0]), 3), round(float(ratios.error[0]), 3)
    (0.571, 0.173)
    """
    n_videos, n_above = numerator.shape
    n_below = denominator.shape[1]
    above = np.arange(n_above) if above is None else above
    below = np.arange(n_below) if below is None else below
    products = numerator[:, above] * denominator[:, below]
    columns = np.concatenate([numerator, numerator**2, denominator, denominator**2, products], axis=1)
    ends = np.cumsum([n_above, n_above, n_below, n_below])

    def ratios_of(sums: Floats) -> tuple[Floats, Floats]:
        x, xx, y, yy, xy = np.split(sums, ends, axis=-1)
        return _ratio_and_error((x[..., above], y[..., below], xx[..., above], xy, yy[..., below]), n_videos)

    value, error = ratios_of(columns.sum(axis=0))
    drawn, errors = ratios_of(resample_sums(columns, rng, resamples=resamples))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (drawn - value) / np.where(errors > ROUNDING, errors, 0.0)
    return Ratios(
        value, error, drawn, np.where(np.abs(drawn - value) > ROUNDING, t, drawn - drawn)
    )  # 0, or NaN as drawn


def interval_of_least(ratios: Ratios, n: int, spread: Floats | float = 0.0) -> Floats:
    """Return the 95 % interval, (M, 2), of the least of `n` ratios, which is selected on the same data; NaN if any is.

    `ratios` has those of M measures, n times; `spread` is as for :meth:`Ratios.bounds`. The lower end is the lowest of
    their lower ends at level 0.05 (an intersection-union test, Berger 1982). The upper end is the lowest of their upper
    ends at level 0.05 / n (Bonferroni).
    """
    lower, _, highest = ends_of_each(ratios, n, spread)
    return np.stack([end.min(axis=0) for end in (lower, highest)], axis=-1)


def ends_of_each(ratios: Ratios, n: int, spread: Floats | float = 0.0) -> tuple[Floats, Floats, Floats]:
    """Return lower and upper ends at level 0.05, and upper ends at level 0.05 / n, of n times M ratios, (n, M)."""
    lower, upper = ratios.bounds(LEVEL, spread)
    highest = np.maximum(upper, ratios.bounds(LEVEL / n, spread)[1])  # where that is a percentile, it may be lower
    return lower.reshape(n, -1), upper.reshape(n, -1), highest.reshape(n, -1)


def _ratio_and_error(sums: tuple[Floats, ...], n_videos: int) -> tuple[Floats, Floats]:
    """Return ratios and their standard errors from the sums over videos of x, y, x x, x y and y y; (..., C) each."""
    x, y, xx, xy, yy = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(np.abs(y) > NO_WEIGHT, x / y, np.nan)
        squares = xx - 2 * value * xy + value**2 * yy
        squares = np.where(squares > ROUNDING * (xx + value**2 * yy), squares, 0.0)  # only rounding remains
        return value, np.sqrt(squares * np.divide(n_videos, n_videos - 1)) / np.abs(y)
