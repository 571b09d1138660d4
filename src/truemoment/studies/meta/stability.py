"""Stability: self-agreement of the ranking by a measure on pairs of subsets of the queries.

Two subsets of n queries are drawn, and the systems are ranked on each. The *self-agreement* is Kendall's tau-b between
the two rankings. Subsets are disjoint, or drawn independently; they have single queries, or whole videos. A subset
that ties all systems has a self-agreement of 0. The sizes of one trial are nested. Guide: ``docs/meta.md``.

References
----------
AxIoU (Togashi et al. 2022), section 6.3 and Fig. 6; C. Buckley and E. M. Voorhees, Retrieval evaluation with incomplete
information, SIGIR 2004.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats, Ints
from truemoment.evaluation.measures import Measure
from truemoment.studies.meta.rankings import kendall_tau_b, order_of_pairs
from truemoment.studies.meta.systems import Systems, Unit, figures_of
from truemoment.studies.meta.workers import map_in_order

BLOCK_TRIALS = 25
"""Number of trials that share a generator."""

SMALLEST = 50
"""Default number of queries of the smallest subset."""

N_SIZES = 10


@dataclass(frozen=True, eq=False)
class Stability:
    """Self-agreement of M measures on pairs of subsets of N sizes.

    Parameters
    ----------
    overlapping
        Whether two subsets may share queries.
    sizes : (N,)
        Units of a subset, rising.
    queries : (N,)
        Queries of a subset, on average.
    mean, variance : (N, M)
        Mean and variance of Kendall's tau-b over the trials.
    undefined : (N, M)
        Share of trials in which all systems tie on a subset; they count as 0.

    A measure that is undefined for every system has NaN throughout.
    """

    measures: tuple[Measure, ...]
    n_systems: int
    unit: Unit
    overlapping: bool
    sizes: Ints
    queries: Floats
    trials: int
    mean: Floats
    variance: Floats
    undefined: Floats

    @property
    def middle(self) -> int:
        """Row of the middle size, which the sentences use."""
        return len(self.sizes) // 2


def default_sizes(n_units: int, *, overlapping: bool = False) -> Ints:
    """Return sizes in equal steps of their logarithm, up to half of the units, or up to all if subsets may overlap."""
    largest = n_units if overlapping else n_units // 2
    return np.unique(np.geomspace(min(SMALLEST, largest), largest, N_SIZES).round().astype(np.int64))


def stability(
    systems: Systems,
    rng: np.random.Generator,
    *,
    sizes: Sequence[int] | Ints | None = None,
    trials: int = 5000,
    unit: Unit = "query",
    overlapping: bool = False,
    workers: int | None = 1,
    progress: bool = False,
) -> Stability:
    """Rank the systems on pairs of subsets of the queries, and compute the agreement of the rankings.

    `sizes` are units of a subset, by default :func:`default_sizes`. With `overlapping`, the two subsets are drawn
    independently; else they are disjoint. The result does not depend on `workers`.
    """
    if trials < 2:
        raise UsageError(f"got {trials} trials, expected 2 or more")
    numerator, weight = systems.units(unit)
    n_units, n_systems, n_measures = numerator.shape
    sizes = _check_sizes(sizes, n_units, unit, overlapping=overlapping)
    always = bool((weight == 1).all())  # then the weights of a subset are its size
    table = np.concatenate([numerator, weight], axis=1) if not always else numerator
    table = np.ascontiguousarray(table.transpose(0, 2, 1)).reshape(n_units, -1)  # (U, M x S) or (U, M x 2 S)
    direction = systems.direction[:, None]
    largest = int(sizes[-1])

    def tau_of(block: tuple[np.random.Generator, int]) -> tuple[Floats, Floats]:
        child, n_trials = block
        tau = np.empty((n_trials, len(sizes), n_measures))
        for trial in range(n_trials):
            orders = []
            drawn = child.permutation(n_units)
            second = child.permutation(n_units)[:largest] if overlapping else drawn[largest : 2 * largest]
            for rows in (drawn[:largest], second):
                sums = running_sums(table, rows, sizes).reshape(len(sizes), n_measures, -1)
                weights = sizes[:, None, None].astype(np.float64) if always else sums[..., n_systems:]
                orders.append(order_of_pairs(direction * figures_of(sums[..., :n_systems], weights)))
            tau[trial] = kendall_tau_b(*orders)
        return np.nan_to_num(tau, nan=0.0), np.isnan(tau)

    counts = [BLOCK_TRIALS] * (trials // BLOCK_TRIALS) + [trials % BLOCK_TRIALS] * bool(trials % BLOCK_TRIALS)
    blocks = list(zip(rng.spawn(len(counts)), counts, strict=True))
    results = list(map_in_order(tau_of, blocks, workers=workers, description="drawing subsets", progress=progress))
    tau, undefined = (np.concatenate([result[part] for result in results]) for part in (0, 1))
    nowhere = np.where(np.isnan(systems.figures).all(axis=0), np.nan, 0.0)
    return Stability(
        measures=systems.measures,
        n_systems=n_systems,
        unit=unit,
        overlapping=overlapping,
        sizes=sizes,
        queries=sizes * (len(systems.first) / n_units),
        trials=trials,
        mean=tau.mean(axis=0) + nowhere,
        variance=tau.var(axis=0, ddof=1) + nowhere,
        undefined=undefined.mean(axis=0) + nowhere,
    )


def units_of(queries: Sequence[int], systems: Systems, unit: Unit, *, overlapping: bool = False) -> Ints:
    """Return the numbers of units with the requested numbers of queries, on average; 1 at least."""
    most = len(systems.first)
    if max(queries) > most:
        raise UsageError(f"got a subset of {max(queries):,} queries, expected at most the {most:,} that there are")
    n_units = systems.first.n_videos if unit == "video" else most
    units = np.maximum(np.round(np.asarray(queries) * (n_units / most)), 1).astype(np.int64)
    if not overlapping and units.max() > n_units // 2:
        raise UsageError(
            f"got a subset of {max(queries):,} queries, expected at most {most // 2:,}, half of those that there are: "
            "the two subsets are disjoint"
        )
    return np.unique(units)


def running_sums(table: Floats, rows: Ints, sizes: Ints) -> Floats:
    """Return the sums of the first n of some rows of a table, (U, C), for every n of the rising `sizes`: (N, C).

    `rows` are the numbers of rows, in order.
    """
    taken = np.take(table, rows[: sizes[-1]], axis=0)
    return np.asarray(np.cumsum(np.add.reduceat(taken, np.append(0, sizes[:-1]), axis=0), axis=0))


def _check_sizes(sizes: Sequence[int] | Ints | None, n_units: int, unit: Unit, *, overlapping: bool) -> Ints:
    """Return the sizes, each once and rising."""
    most = n_units if overlapping else n_units // 2
    if most < 1:
        raise UsageError(f"got {n_units} {unit}, expected 2 or more to draw two subsets of")
    if sizes is None:
        return default_sizes(n_units, overlapping=overlapping)
    counts = np.unique(np.asarray(sizes, dtype=np.int64))
    wrong = counts[(counts < 1) | (counts > most)]
    if len(counts) == 0 or len(wrong):
        unit_words = "of the data" if overlapping else "of the data, two disjoint subsets"
        got = "no size" if len(counts) == 0 else f"a subset of {wrong[0]}"
        raise UsageError(f"got {got}, expected 1 to {most:,} (in units of one {unit}; {unit_words})")
    return counts
