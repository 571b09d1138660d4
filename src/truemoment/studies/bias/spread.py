"""Unevenness of locations, in bits, and the best constant prediction.

Unevenness is relative to an *even* spread: all moments of the video no shorter than the shortest one are equally
likely. The best constant is compared with moments of the *same lengths* at even starts, because a constant hits long
moments more easily anywhere. On a grid (:mod:`truemoment.studies.bias.grids`), all pairs of a start and a later end on
the grid are equally likely, or all starts for moments of the same number of steps.

Small samples are uneven by chance, so the same value is computed for even samples of the same size. Sentences about the
same moment are drawn together. Different moments of one video are drawn independently, but never equal on a grid.

References
----------
Bias of entropies counted in cells: L. Paninski, Estimation of entropy and mutual information, Neural Computation 15
(2003).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from truemoment.base.boundary.keyed import print_number
from truemoment.base.cells import region_of
from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import TIE, Floats, Ints, temporal_iou
from truemoment.baselines.base import grid_of_moments
from truemoment.evaluation.measures import parse_measure
from truemoment.evaluation.measures.base import HitRule
from truemoment.studies.bias.chance import check_draws, p_value
from truemoment.studies.bias.grids import (
    EVEN,
    N_STEPS,
    ROUNDED,
    Grid,
    GridMoments,
    below_even_bits,
    draw_distinct,
    even_on_steps,
    grid_moments,
)
from truemoment.studies.bias.locations import Locations

STEP_NORM = 0.05
"""Grid of starts and ends of constant predictions, as in BestConstant."""

_BLOCK_ROWS = 256  # moments compared with all constants at a time; what is computed of them fits the cache
_BLOCK_DRAWS = 200  # samples for which moments and constants are compared once; at most 80 MB


@dataclass(frozen=True)
class Evenness:
    """Unevenness of locations.

    Parameters
    ----------
    entropy_bits, even_bits
        Differential entropy of the density of (start, end), in bits, corrected for chance: `even_bits` minus
        `below_even_bits`; and that of the even spread, log2((1 - L)^2 / 2), L the shortest length; the maximum. On a
        grid, entropy of the pair of start and end, and mean over the locations of the logarithm of the number of
        possible moments of their video.
    below_even_bits
        Kullback-Leibler divergence from the even spread, minus the mean by chance. 0: even (below 0: by chance); b if
        the spread fills one part in 2^b of the support.
    by_chance_bits, p_value
        Mean of the uncorrected divergence over even samples of the same size, and its p-value among them.
    shortest_norm
        L, as a fraction of the video; on a grid, length of the shortest moment of the grid.
    grid
        Grid of the moments and of the even spread; None if there is none.
    """

    entropy_bits: float
    even_bits: float
    below_even_bits: float
    by_chance_bits: float
    p_value: float
    shortest_norm: float
    n_moments: int
    n_distinct: int
    grid: Grid | None = None

    @property
    def raw_bits(self) -> float:
        """The divergence before the correction for chance."""
        return self.below_even_bits + self.by_chance_bits


@dataclass(frozen=True)
class ConstantBias:
    """The best constant prediction, and the part of its score that is bias.

    Parameters
    ----------
    measure
        The measure that it maximises; with ``[ref=rows]`` if a query has several moments, because each counts.
    start_norm, end_norm
        The constant, as fractions of the video; of equal ones the earliest, then the shortest.
    value, even_value, excess
        Share of the moments that it hits; mean value of the best constant of each sample of moments of the same lengths
        at even starts (on a grid, in steps); their difference.
    p_value
        p value of `value` among those samples.
    grid
        Grid of the moments and of the samples; None if there is none.
    """

    measure: str
    start_norm: float
    end_norm: float
    value: float
    even_value: float
    excess: float
    p_value: float
    grid: Grid | None = None


def evenness(
    locations: Locations, rng: np.random.Generator, *, draws: int = 200, shortest_norm: float | None = None
) -> Evenness:
    r"""Measure the unevenness of locations.

    .. math:: D = \sum_k p_k \log_2 (p_k / q_k)

    over K regions of equal size (:data:`truemoment.studies.bias.grids.N_STEPS`), :math:`p_k` the share of the
    locations in region k, and :math:`q_k` that of the even spread: 1 / K, or on a grid the share of the grid's moments
    in region k. That is the Kullback-Leibler divergence of the histogram from the even spread. Without a grid it is the
    differential entropy of the even spread minus that of the histogram's density (even within each region). On DiDeMo,
    where the 21 moments of six segments are in 21 regions, it is :math:`\log_2 21 - H`.

    Parameters
    ----------
    shortest_norm
        Shortest length of the even spread, as a fraction of the video; by default the length of the shortest moment, or
        one step of the grid.

    Raises
    ------
    InputError
        If every moment is a whole video, or nearly all moments are on a grid and some are not.
    """
    check_draws(draws, "draws")
    shortest = _shortest(locations, shortest_norm)
    on_grid = grid_moments(locations)
    if on_grid is None:
        spread = _even_anywhere(locations, shortest)
    else:
        spread = _even_on_grid(locations, on_grid, shortest_norm or 0.0)
    raw = below_even_bits(np.bincount(spread.region, minlength=len(spread.share)), spread.share)
    by_chance = np.array([below_even_bits(spread.draw(rng), spread.share) for _ in range(draws)])
    bits = raw - float(by_chance.mean())
    return Evenness(
        entropy_bits=spread.bits - bits,
        even_bits=spread.bits,
        below_even_bits=bits,
        by_chance_bits=float(by_chance.mean()),
        p_value=p_value(raw, by_chance),
        shortest_norm=spread.shortest_norm,
        n_moments=len(locations),
        n_distinct=spread.n_distinct,
        grid=None if on_grid is None else on_grid.grid,
    )


@dataclass(frozen=True, eq=False)
class _Even:
    """The even spread that locations are compared with; the other fields are those of :class:`Evenness`."""

    region: Ints  # (N,), of each location
    share: Floats  # (K,), of each region in the even spread
    draw: Callable[[np.random.Generator], Floats]  # of an even sample: number of locations in each region, (K,)
    bits: float
    shortest_norm: float
    n_distinct: int


def _even_anywhere(locations: Locations, shortest_norm: float) -> _Even:
    return _Even(
        region_of(locations.start_end_norm, shortest_norm, N_STEPS),
        EVEN,
        partial(_even_counts, locations.multiplicity, len(EVEN)),
        float(2 * np.log2(1 - shortest_norm) - 1),
        shortest_norm,
        len(locations.multiplicity),
    )


def _even_on_grid(locations: Locations, at: GridMoments, shortest_norm: float) -> _Even:
    """Return the even spread over all pairs of start and end on the grid; regions use shares of the steps."""
    fewest = np.maximum(np.ceil(shortest_norm * at.steps_of_video - 2 * ROUNDED), 1).astype(np.int64)
    shortest_norm = float(np.min(fewest / at.n_steps))
    index, multiplicity = at.distinct(locations.video)
    video, n_steps, least = locations.video[index], at.n_steps[index], fewest[index]
    n_pairs = _triangle(at.n_steps - fewest + 1)

    def draw(rng: np.random.Generator) -> Floats:
        pair = draw_distinct(video, n_pairs[index], rng)
        last = (np.sqrt(8.0 * pair + 1) - 1) // 2  # pairs are counted by their last step, then by their first
        first = pair - _triangle(last)
        moments = np.stack([first, last + least], axis=1) / n_steps[:, None]
        region = region_of(moments, shortest_norm, N_STEPS)
        return np.asarray(np.bincount(region, weights=multiplicity.astype(np.float64), minlength=len(EVEN)))

    return _Even(
        region_of(np.stack([at.first, at.last + 1], axis=1) / at.n_steps[:, None], shortest_norm, N_STEPS),
        even_on_steps(at.n_steps, fewest, shortest_norm),
        draw,
        float(np.log2(n_pairs).mean()),
        shortest_norm,
        len(index),
    )


def constant_bias(
    locations: Locations, rng: np.random.Generator, *, threshold: float = 0.5, draws: int = 200
) -> ConstantBias:
    r"""Score the best constant prediction, and compare it with the best one if starts are even.

    A constant hits a moment if their IoU is more than the threshold (rule and tolerance of the default protocol). The
    constants are those of :class:`truemoment.baselines.BestConstant`. The best one is selected on the data on which it
    is scored, and again in each sample by chance, so that both values have the same optimism.

    In these samples each distinct moment keeps its length :math:`\ell`, and its start is even from 0 to
    :math:`1 - \ell`. For speed, lengths are in 250 groups of equal numbers, each at its mean, and starts are drawn from
    100 equal steps; on common splits this changes the value by less than 0.001. On a grid each moment keeps its number
    of steps, and all starts that leave room for them are equally likely.

    An excess below 0 does not mean that locations are even: if moments are frequent at the beginning and at the end
    (the ActivityNet datasets), a constant can hit only one of the two.

    Parameters
    ----------
    threshold
        IoU, more than 0 and less than 1.

    Raises
    ------
    InputError
        If nearly all moments are on a grid and some are not.
    """
    check_draws(draws, "draws")
    several = len(np.unique(locations.query)) < len(locations)
    measure = parse_measure(f"R@1,IoU={print_number(threshold)}{'[ref=rows]' if several else ''}")
    constants = grid_of_moments(STEP_NORM)
    moments, times = np.unique(locations.start_end_norm, axis=0, return_counts=True)
    hits = _hits(moments, times[None], constants, threshold)[0]
    on_grid = grid_moments(locations)
    starts = starts_anywhere(locations) if on_grid is None else starts_on_grid(locations, on_grid)
    best = _best_by_chance(starts, constants, threshold, draws, rng) / len(locations)
    at = int(np.argmax(hits))
    value = float(hits[at] / len(locations))
    return ConstantBias(
        measure=str(measure),
        start_norm=float(constants[at, 0]),
        end_norm=float(constants[at, 1]),
        value=value,
        even_value=float(best.mean()),
        excess=value - float(best.mean()),
        p_value=p_value(value, best),
        grid=None if on_grid is None else on_grid.grid,
    )


def _best_by_chance(
    starts: Starts, constants: Floats, threshold: float, draws: int, rng: np.random.Generator
) -> Floats:
    """Return the number of hits of the best constant in each sample at even starts, shape (draws,)."""
    multiplicity = starts.multiplicity.astype(np.float64)
    n_moments = len(starts.moments)
    best = np.empty(draws)
    for low in range(0, draws, _BLOCK_DRAWS):
        counts = np.empty((min(_BLOCK_DRAWS, draws - low), n_moments))
        for row in counts:
            row[:] = np.bincount(starts.draw(rng), weights=multiplicity, minlength=n_moments)
        best[low : low + len(counts)] = _hits(starts.moments, counts, constants, threshold).max(axis=1)
    return best


def _triangle(n: Ints | Floats) -> Ints:
    """Return the number of pairs of a first and a last step among n steps: n (n + 1) / 2."""
    return np.asarray(n * (n + 1) // 2, dtype=np.int64)


def _shortest(locations: Locations, limit: float | None) -> float:
    least = float(np.diff(locations.start_end_norm, axis=1).min())
    if limit is not None and not 0 <= limit <= least + TIE:
        raise UsageError(
            f"got a shortest moment of {limit:g} of the video, expected 0 to {least:g}, the shortest moment"
        )
    shortest = least if limit is None else limit
    if shortest > 1 - TIE:
        raise InputError("every moment is its whole video, so their locations cannot be even or uneven")
    return shortest


def _even_counts(multiplicity: Ints, n_places: int, rng: np.random.Generator) -> Floats:
    """Draw a place for each distinct moment; return the number of locations at each place, (n_places,)."""
    place = rng.integers(n_places, size=len(multiplicity))
    return np.asarray(np.bincount(place, weights=multiplicity.astype(np.float64), minlength=n_places), dtype=np.float64)


def _hits(moments: Floats, times: Ints | Floats, constants: Floats, threshold: float) -> Floats:
    """Return how many moments, (N, 2), each constant, (C, 2), hits: shape (S, C); moment i counts `times[:, i]`."""
    hits = np.zeros((len(times), len(constants)))
    for low in range(0, len(moments), _BLOCK_ROWS):
        rows = slice(low, low + _BLOCK_ROWS)
        iou = temporal_iou(constants[:, 0], constants[:, 1], moments[rows, :1], moments[rows, 1:])
        hits += times[:, rows] @ HitRule()(iou, threshold).astype(np.float64)
    return hits


_N_LENGTHS, _N_STARTS = 250, 100  # of the placements that are drawn
_MOST_ROWS = 50_000  # of the placements on a grid, or one group per number of steps


@dataclass(frozen=True, eq=False)
class Starts:
    """Moments of the same lengths as M distinct moments, at even starts."""

    moments: Floats  # (P, 2), all possible moments of a sample
    draw: Callable[[np.random.Generator], Ints]  # of a row of `moments` for each distinct moment, (M,)
    multiplicity: Ints  # (M,), number of locations of each


def starts_anywhere(locations: Locations) -> Starts:
    """Return moments with even starts, from 0 to the last start that fits into the video."""
    multiplicity = locations.multiplicity
    length = np.empty(len(multiplicity))
    length[locations.moment] = np.diff(locations.start_end_norm, axis=1)[:, 0]
    group, moments = placements(length)
    return Starts(moments, lambda rng: group * _N_STARTS + rng.integers(_N_STARTS, size=len(group)), multiplicity)


def starts_on_grid(locations: Locations, at: GridMoments) -> Starts:
    """Return moments with even starts over the steps of the grid that fit into the video."""
    index, multiplicity = at.distinct(locations.video)
    length = (at.last - at.first + 1)[index]
    n_starts = at.n_steps[index] - length + 1
    _, owner = np.unique(np.stack([locations.video[index], length]), axis=1, return_inverse=True)
    off_step = locations.start_end_norm[index] * at.steps_of_video[index, None]
    off_step -= np.stack([at.first, at.last + 1], axis=1)[index]
    first_row, moments = grid_placements(at.n_steps[index], length, at.steps_of_video[index], off_step)

    def draw(rng: np.random.Generator) -> Ints:
        start = draw_distinct(owner.reshape(-1), n_starts, rng)
        return np.asarray(first_row + start * np.minimum(n_starts, _N_STARTS) // n_starts)

    return Starts(moments, draw, multiplicity)


def placements(length_norm: Floats) -> tuple[Ints, Floats]:
    """Return possible moments of given lengths, (M,), at even starts: `group` and `start_end_norm`.

    `group`, (M,), is the group of each length, from 0 to G - 1, G = min(250, M). `start_end_norm`, (100 G, 2), has for
    each group 100 moments of its mean length at evenly spaced starts. Groups start at different fractions of a step
    (multiples of the golden ratio), so that groups do not share edges.
    """
    n_groups = min(len(length_norm), _N_LENGTHS)
    group = np.empty(len(length_norm), dtype=np.int64)
    group[np.argsort(length_norm, kind="stable")] = np.arange(len(length_norm)) * n_groups // len(length_norm)
    length = (np.bincount(group, weights=length_norm) / np.bincount(group))[:, None]
    offset = ((np.arange(n_groups) + 0.5) * (5**0.5 - 1) / 2 % 1)[:, None]
    start = (np.arange(_N_STARTS) + offset) / _N_STARTS * (1 - length)
    return group, np.stack([start.ravel(), (start + length).ravel()], axis=1)


def grid_placements(n_steps: Ints, length: Ints, steps_of_video: Floats, off_step: Floats) -> tuple[Ints, Floats]:
    """Return possible moments of given numbers of steps at even starts of a grid: `first_row` and `start_end_norm`.

    Moments with the same number of steps in videos with the same number can still differ, by the duration of the video
    and by rounding. They are in groups of equal numbers, each represented by its middle moment, moved by whole steps.

    `off_step`, (M, 2), is the distance of start and end from their steps, in steps. `first_row`, (M,), is the first row
    of the placements of each moment. `start_end_norm`, (P, 2), has every start, or 100 evenly selected ones if there
    are more.
    """
    off_step = np.where(np.abs(off_step) <= ROUNDED, off_step, 0)  # not where the video ends between two steps
    table = np.column_stack([n_steps, length, steps_of_video, off_step]).round(6)
    members, member = np.unique(table, axis=0, return_inverse=True)
    n_rows = np.minimum(members[:, 0] - members[:, 1] + 1, _N_STARTS).astype(np.int64)
    _, first, kind, size = np.unique(members[:, :2], axis=0, return_index=True, return_inverse=True, return_counts=True)
    kind = kind.reshape(-1)
    n_groups = np.minimum(size, max(1, _MOST_ROWS // int(n_rows[first].sum())))[kind]
    group = (np.arange(len(members)) - first[kind]) * n_groups // size[kind]
    middle = first[kind] + (2 * group + 1) * size[kind] // (2 * n_groups)
    middles, at = np.unique(middle, return_inverse=True)
    first_row = np.cumsum(n_rows[middles]) - n_rows[middles]
    place = np.repeat(np.arange(len(middles)), n_rows[middles])
    n, covered, duration, *offset = members[middles[place]].T
    start = (2 * (np.arange(len(place)) - first_row[place]) + 1) * (n - covered + 1) // (2 * n_rows[middles[place]])
    ends = np.stack([start + offset[0], start + covered + offset[1]], axis=1) / duration[:, None]
    return first_row[at.reshape(-1)[member.reshape(-1)]], np.clip(ends, 0, 1)
