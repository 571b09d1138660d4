"""Effectiveness and agreement: the figures of the systems, and the agreement of the rankings by each two measures.

The agreement of two measures is Kendall's tau-b (:mod:`truemoment.studies.meta.rankings`). All systems and measures
use the same resamples of videos. Guide: ``docs/meta.md``. Source: AxIoU (Togashi et al. 2022), section 6.2, Fig. 4, 5.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.evaluation.uncertainty import ROUNDING, interval95, resample_figures
from truemoment.studies.meta.rankings import order_of_pairs, tau_matrix
from truemoment.studies.meta.systems import Systems

_BLOCK = 1 << 23
"""Maximum number of values in memory of a table of resamples, measures and pairs of systems."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """Figures of S systems by M measures, and the agreement of the measures.

    Parameters
    ----------
    tau : (M, M)
        Kendall's tau-b between the rankings by each pair of measures; 1 on the diagonal, NaN if a measure ties all
        systems.
    interval : (M, M, 2)
        95 % percentile interval of each; NaN if tau is undefined in any resample. Noise and ties pull tau of a resample
        towards 0, so that an interval may lie below its tau.
    figure_interval : (S, M, 2)
        95 % interval of each figure, a fraction.
    mean_interval : (M, 2)
        95 % interval of each measure's mean tau with the others.
    highest : (M,)
        Share of the resamples in which each measure has the highest mean tau with the others; measures that tie share
        the resample. The sum is 1 if any is defined.
    """

    systems: Systems
    tau: Floats
    interval: Floats
    figure_interval: Floats
    mean_interval: Floats
    highest: Floats
    resamples: int

    @functools.cached_property
    def mean(self) -> Floats:
        """Mean tau of each measure with the others, NaN without others; shape (M,)."""
        return mean_with_others(self.tau)


def agreement(
    systems: Systems, rng: np.random.Generator, *, resamples: int = 1000, progress: bool = False
) -> Agreement:
    """Rank systems by every measure, and compute the agreement of the rankings.

    Examples
    --------
    >>> from truemoment import Annotations, Predictions
    >>> from truemoment.evaluation.evaluate import evaluate
    >>> a = Annotations.from_rows([(f"{v}#0", v, 30.0, "a door opens", 2.0, 6.0) for v in "abcd"])
    >>> def scores(end_s):
    ...     return evaluate(a, Predictions.from_lists({f"{v}#0": [(2.0, end_s)] for v in "abcd"}), "mIoU; R@1,IoU=0.3")
    >>> result = agreement(
    ...     Systems({"near": scores(5.0), "middle": scores(4.0), "far": scores(3.0)}), np.random.default_rng(0)
    ... )
    >>> float(result.tau[0, 1].round(4))  # two of three pairs, in the same order; R@1 ties the third
    0.8165
    """
    resampled = resample_figures(list(systems.scores.values()), rng, resamples=resamples, progress=progress)
    resampled_tau = _taus(resampled * systems.direction)
    mean = mean_with_others(resampled_tau)
    return Agreement(
        systems=systems,
        tau=_taus(systems.figures * systems.direction),
        interval=interval95(resampled_tau),
        figure_interval=interval95(resampled),
        mean_interval=interval95(mean),
        highest=_highest(mean),
        resamples=resamples,
    )


def mean_with_others(tau: Floats) -> Floats:
    """Return the mean tau of each measure with the others, (..., M, M) to (..., M); an undefined tau does not count."""
    counts = ~np.isnan(tau) & ~np.eye(tau.shape[-1], dtype=bool)
    number = counts.sum(axis=-1)
    total = np.where(counts, tau, 0).sum(axis=-1)
    return np.asarray(np.where(number > 0, total / np.maximum(number, 1), np.nan))


def _taus(figures: Floats) -> Floats:
    """Return tau-b between measures, (..., M, M), of figures (..., S, M) for which more is better, block by block."""
    by_measure = np.swapaxes(figures, -1, -2)
    if by_measure.ndim == 2:
        return tau_matrix(order_of_pairs(by_measure))
    n_systems, n_measures = figures.shape[-2:]
    step = max(1, _BLOCK // max(1, n_measures * n_systems * (n_systems - 1) // 2))
    blocks = (by_measure[low : low + step] for low in range(0, len(by_measure), step))
    return np.concatenate([tau_matrix(order_of_pairs(block)) for block in blocks])


def _highest(mean: Floats) -> Floats:
    """Return the share of resamples in which each measure's mean tau is the highest, (M,), of means (B, M)."""
    low = np.where(np.isnan(mean), -np.inf, mean)
    best = low.max(axis=-1, keepdims=True, initial=-np.inf)
    is_best = (low >= best - ROUNDING) & np.isfinite(low)
    sharing = is_best.sum(axis=-1, keepdims=True)
    return np.asarray((is_best / np.maximum(sharing, 1)).mean(axis=0))
