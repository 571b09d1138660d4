r"""Ties: the number of queries on which a measure gives all systems the same value.

The all-tied query ratio of a measure is the share of queries on which every system has exactly the same value,

.. math:: \frac{\#\{q : x_{1 q} = x_{2 q} = ... = x_{S q}\}}{Q}

with :math:`x_{s q}` the numerator over the weight of system s on query q. Such a query distinguishes no two systems. It
is tied for one of two opposite reasons: all systems fail (the measure is too strict), or all are fully right (it is too
loose). The second figure is the mean share of *pairs* of systems that tie on a query, which does not fall by itself as
systems are added.

Values tie if they differ by at most 1e-12. Queries on which no system has weight do not count. A system without weight
on a query on which others have weight ties with none.

References
----------
R. Togashi, M. Otani, Y. Nakashima, E. Rahtu, J. Heikkilä and T. Sakai, AxIoU: an axiomatically justified measure for
video moment retrieval, CVPR 2022: appendix B and Fig. 9.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.records import numbers_of
from truemoment.evaluation.uncertainty import ROUNDING, interval95, resample_sums
from truemoment.studies.meta.systems import Systems, figures_of


@dataclass(frozen=True, eq=False)
class Ties:
    """Frequency of ties of S systems by M measures. Shares are fractions of the queries that count, NaN without any.

    Parameters
    ----------
    all_tied : (M,)
        All-tied query ratio: share of queries on which all systems have the same value.
    interval : (M, 2)
        Its 95 % interval, by resampling videos.
    at_zero, at_one : (M,)
        Shares of queries on which all systems have the value 0, and 1: parts of `all_tied`.
    pairs_tied : (M,)
        Share of pairs of systems that tie on a query, mean over queries.
    n_queries : (M,)
        Number of queries that count.
    """

    systems: Systems
    all_tied: Floats
    interval: Floats
    at_zero: Floats
    at_one: Floats
    pairs_tied: Floats
    n_queries: Ints
    resamples: int


def ties(systems: Systems, rng: np.random.Generator, *, resamples: int = 1000) -> Ties:
    """Count the queries on which each measure ties all systems.

    Examples
    --------
    >>> from truemoment import Annotations, Predictions
    >>> from truemoment.evaluation.evaluate import evaluate
    >>> a = Annotations.from_rows([("v#0", "v", 30.0, "a door opens", 2.0, 6.0)])
    >>> def scores(end_s):
    ...     return evaluate(a, Predictions.from_lists({"v#0": [(2.0, end_s)]}), "R@1,IoU=0.5; mIoU")
    >>> systems = Systems({"near": scores(5.5), "nearer": scores(5.9)})
    >>> ties(systems, np.random.default_rng(0), resamples=2).all_tied.tolist()
    [1.0, 0.0]
    """
    n_systems, n_measures = len(systems), len(systems.measures)
    n_pairs = n_systems * (n_systems - 1) / 2
    counted, everybody, at_zero, at_one, pairs = (np.zeros((len(systems.first), n_measures)) for _ in range(5))
    for row in range(n_measures):
        value = _values(systems, row)
        low, groups = value[0], _pairs_tied(value)
        same = groups == n_pairs
        counted[:, row] = ~np.isnan(value).all(axis=0)
        everybody[:, row], pairs[:, row] = same, groups / n_pairs
        at_zero[:, row], at_one[:, row] = same & (np.abs(low) <= ROUNDING), same & (np.abs(low - 1) <= ROUNDING)
    n_queries = counted.sum(axis=0)
    by_video = np.concatenate([_by_video(systems, table) for table in (everybody, counted)], axis=1)
    drawn = resample_sums(by_video, rng, resamples=resamples)
    return Ties(
        systems=systems,
        all_tied=figures_of(everybody.sum(axis=0), n_queries),
        interval=interval95(figures_of(drawn[:, :n_measures], drawn[:, n_measures:])),
        at_zero=figures_of(at_zero.sum(axis=0), n_queries),
        at_one=figures_of(at_one.sum(axis=0), n_queries),
        pairs_tied=figures_of(pairs.sum(axis=0), n_queries),
        n_queries=n_queries.astype(np.int64),
        resamples=resamples,
    )


def _values(systems: Systems, row: int) -> Floats:
    """Return the values of the systems on each query, sorted from low to high, (S, Q); NaN, last, without weight."""
    return np.sort(figures_of(*systems.on_queries(row)), axis=0)


def _pairs_tied(value: Floats) -> Ints:
    """Return the number of pairs of systems that tie on each query, (Q,), of values sorted by query, (S, Q).

    A value ties with the earlier values of its run: neighbours that differ by rounding only.
    """
    earlier = np.zeros(value.shape[1], dtype=np.int64)  # how many of the run are before the value
    tied = np.zeros_like(earlier)
    same: Bools = np.diff(value, axis=0) <= ROUNDING  # false beside NaN
    for step in same:
        earlier = np.where(step, earlier + 1, 0)
        tied += earlier
    return tied


def _by_video(systems: Systems, table: Floats) -> Floats:
    """Return the sums over the queries of each video, (V, M), of a table with one row per query."""
    video = numbers_of(systems.first.video_id)
    return np.stack([np.bincount(video, column) for column in table.T], axis=1)
