r"""How uneven locations are: in bits, and in what the best constant answer scores.

The first is held against an *even* spread: every moment of the video that is no shorter than the shortest one is as
likely as any other. The second is held against moments of the *same lengths* at even starts: a constant hits long
moments more easily than short ones wherever they lie, so against the even spread, with its many long moments, every
dataset of short ones would look free of bias. (Lengths that are all alike do help a constant; that they are, the first
figure tells.)

Where moments lie on a grid (:mod:`truemoment.bias.grids`), both are held against what is even *on the grid*: every pair
of a start and a later end as likely; or every start, for moments of as many steps. So even moments have 0 bits and no
excess, on a grid as off it.

Chance alone makes every sample look uneven, the more the smaller it is, so the same figure is taken of even samples of
the same size. Sentences that ask for the very same moment are drawn together, one place for
all of them: no sample is more even than its repetitions allow. (Moments of one video are drawn apart, and so are
annotators who mark different moments for one query; on a grid two of them never get the same place, as they would be
one moment then.)

References
----------
The bias of entropies counted in cells: L. Paninski, Estimation of entropy and mutual information, Neural Computation 15
(2003).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from truemoment.baselines.base import grid_of_moments
from truemoment.bias.chance import check_draws, p_value
from truemoment.bias.grids import ROUNDED, Grid, GridMoments, draw_apart, grid_moments
from truemoment.bias.locations import Locations
from truemoment.bias.regions import EVEN, N_STEPS, below_even_bits, even_on_steps
from truemoment.bias.starts import Starts, starts_anywhere, starts_on_grid
from truemoment.cells import region_of
from truemoment.exceptions import InputError, UsageError
from truemoment.intervals import TIE, Bools, Floats, Ints, temporal_iou
from truemoment.keyed import print_number
from truemoment.measures import parse_measure
from truemoment.measures.base import HitRule

STEP_NORM = 0.05
"""Grid of starts and ends of constant answers, that of BestConstant."""

_BLOCK_ROWS = 8192  # moments held against all constants at a time
_BLOCK_DRAWS = 50


@dataclass(frozen=True)
class Evenness:
    """How far the spread of locations is from even.

    Parameters
    ----------
    entropy_bits
        Differential entropy of the density of (start, end), in bits, corrected for chance: `even_bits` less
        `below_even_bits`. On a grid, entropy of the pair of start and end.
    even_bits
        That of the even spread, log2((1 - L)^2 / 2), L the shortest length; no density there has more. On a grid,
        mean over the locations of the logarithm of how many moments their video has.
    below_even_bits
        Kullback-Leibler divergence from the even spread, less what chance gives. 0: even (below 0: by chance); a
        spread that fills one part in 2^b of the support has b.
    by_chance_bits
        Mean of the uncorrected divergence over even samples of the same size.
    p_value
        Of the uncorrected divergence among those.
    shortest_norm
        L, as a fraction of the video; on a grid that of the shortest moment the grid has.
    n_moments, n_distinct
        Locations, and distinct moments among them.
    grid
        The grid that moments lie on and that the even spread is drawn on; None where there is none.
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
    """What the best constant share of the video scores, and how much of that is bias.

    Parameters
    ----------
    measure
        What it is best for; ``[ref=rows]`` where a query has several moments, as each counts.
    start_norm, end_norm
        The constant, as fractions of the video; of equal ones the earliest, then the shortest.
    value
        Its figure, a fraction of the moments.
    even_value
        Mean, over samples of moments of the same lengths at even starts, of what the best constant of each scores
        there. On a grid, starts of the grid, and lengths in steps.
    excess
        `value` less `even_value`.
    p_value
        Of `value` among those samples.
    grid
        The grid that moments lie on and that samples are drawn on; None where there is none.
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
    r"""Measure how far the spread of locations is from even.

    .. math:: D = \sum_k p_k \log_2 (p_k / q_k)

    over K regions of equal size (:data:`truemoment.bias.regions.N_STEPS`), :math:`p_k` the share of the locations in
    region k, and :math:`q_k` that of the even spread: 1 / K, or on a grid the share of the grid's moments that lie
    there. That is the Kullback-Leibler divergence of the histogram from the even spread. Off a grid it is the
    differential entropy of the even spread less that of the histogram's density (even within each region). On DiDeMo,
    of whose videos of six segments the 21 moments lie in 21 regions, it is :math:`\log_2 21 - H`.

    Parameters
    ----------
    locations
        N locations.
    rng
        Generator of the draws; the same seed gives the same figures.
    draws
        Even samples, 1 or more.
    shortest_norm
        Shortest length of the even spread, as a fraction of the video; by default that of the shortest moment, on a
        grid one step.

    Raises
    ------
    UsageError
        If `draws` is less than 1, or a moment is shorter than `shortest_norm`.
    InputError
        If every moment is a whole video, of which there is but one; or nearly all lie on a grid, and some do not.
    """
    check_draws(draws, "draws")
    shortest_found = _shortest(locations, shortest_norm)
    on_grid = grid_moments(locations)
    if on_grid is None:
        even = _even_anywhere(locations, shortest_found)
    else:
        even = _even_on_grid(locations, on_grid, shortest_norm or 0.0)
    raw = below_even_bits(np.bincount(even.region, minlength=len(even.share)), even.share)
    by_chance = np.array([below_even_bits(even.draw(rng), even.share) for _ in range(draws)])
    below = raw - float(by_chance.mean())
    return Evenness(
        entropy_bits=even.bits - below,
        even_bits=even.bits,
        below_even_bits=below,
        by_chance_bits=float(by_chance.mean()),
        p_value=p_value(raw, by_chance),
        shortest_norm=even.shortest_norm,
        n_moments=len(locations),
        n_distinct=even.n_distinct,
        grid=None if on_grid is None else on_grid.grid,
    )


@dataclass(frozen=True, eq=False)
class _Even:
    """The even spread that locations are held against.

    Parameters
    ----------
    region : (N,)
        Region of each location.
    share : (K,)
        Share of each region in the even spread.
    draw
        Draws an even sample: how many locations lie in each region, (K,).
    bits, shortest_norm, n_distinct
        As of :class:`Evenness`.
    """

    region: Ints
    share: Floats
    draw: Callable[[np.random.Generator], Floats]
    bits: float
    shortest_norm: float
    n_distinct: int


def _even_anywhere(locations: Locations, shortest_norm: float) -> _Even:
    """Make the even spread over all moments no shorter than the shortest."""
    return _Even(
        region_of(locations.start_end_norm, shortest_norm, N_STEPS),
        EVEN,
        partial(_even_counts, locations.multiplicity, len(EVEN)),
        float(2 * np.log2(1 - shortest_norm) - 1),
        shortest_norm,
        len(locations.multiplicity),
    )


def _even_on_grid(locations: Locations, at: GridMoments, shortest_norm: float) -> _Even:
    """Make the even spread over all pairs of start and end that the grid has in each video.

    A region is that of first and last step as shares of the steps, which are those of the video where it is a multiple
    of the step.
    """
    fewest = np.maximum(np.ceil(shortest_norm * at.steps_of_video - 2 * ROUNDED), 1).astype(np.int64)
    shortest_norm = float(np.min(fewest / at.n_steps))
    one, multiplicity = at.distinct(locations.video)
    video, n_steps, least = locations.video[one], at.n_steps[one], fewest[one]
    n_pairs = _triangle(at.n_steps - fewest + 1)

    def draw(rng: np.random.Generator) -> Floats:
        pair = draw_apart(video, n_pairs[one], rng)
        last = (np.sqrt(8.0 * pair + 1) - 1) // 2  # pairs are counted by their last step, then by their first
        first = pair - _triangle(last)
        drawn = np.stack([first, last + least], axis=1) / n_steps[:, None]
        region = region_of(drawn, shortest_norm, N_STEPS)
        return np.asarray(np.bincount(region, weights=multiplicity.astype(np.float64), minlength=len(EVEN)))

    return _Even(
        region_of(np.stack([at.first, at.last + 1], axis=1) / at.n_steps[:, None], shortest_norm, N_STEPS),
        even_on_steps(at.n_steps, fewest, shortest_norm),
        draw,
        float(np.log2(n_pairs).mean()),
        shortest_norm,
        len(one),
    )


def constant_bias(
    locations: Locations, rng: np.random.Generator, *, threshold: float = 0.5, draws: int = 200
) -> ConstantBias:
    r"""Score the best constant share of the video, and hold it against what is best where starts are even.

    A constant hits a moment when their IoU is more than the threshold (the default protocol's rule and tolerance).
    Constants are those of :class:`truemoment.baselines.BestConstant`, whose figure this is wherever moments lie within
    their videos. It is chosen on the data it is scored on; so it is, anew, in each sample of chance, so that the
    optimism of choosing is in both figures.

    In these samples each distinct moment keeps its length :math:`\ell` and its start is even from 0 to
    :math:`1 - \ell`. For speed lengths are gathered in 250 groups of equal numbers, each at its mean, and starts are
    drawn from 100 equal steps; on the field's splits that moves the best constant's figure by less than 0.001. On a
    grid each moment keeps its number of steps, and every start that leaves room for them is as likely.

    An excess below 0 does not say that locations are even: where moments crowd at the beginning and at the end (the
    ActivityNet datasets), one constant serves but one crowd, and even starts would serve it better.

    Parameters
    ----------
    locations
        N locations.
    rng
        Generator of the draws; the same seed gives the same figures.
    threshold
        IoU, more than 0 and less than 1.
    draws
        Samples, 1 or more.

    Raises
    ------
    UsageError, MeasureError
        If `draws` is less than 1, or the threshold is none.
    InputError
        If nearly all moments lie on a grid, and some do not.
    """
    check_draws(draws, "draws")
    several = len(np.unique(locations.query)) < len(locations)
    measure = parse_measure(f"R@1,IoU={print_number(threshold)}{'[ref=rows]' if several else ''}")
    constants = grid_of_moments(STEP_NORM)
    moments, times = np.unique(locations.start_end_norm, axis=0, return_counts=True)
    hits = _hits(moments, times, constants, threshold)
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
    """Most locations that one constant hits in each of some samples at even starts, shape (draws,)."""
    multiplicity = starts.multiplicity.astype(np.float64)
    n_placed = len(starts.placed)
    best = np.empty(draws)
    for low in range(0, draws, _BLOCK_DRAWS):
        counts = np.empty((min(_BLOCK_DRAWS, draws - low), n_placed))
        for row in counts:
            row[:] = np.bincount(starts.draw(rng), weights=multiplicity, minlength=n_placed)
        hits = np.zeros((len(counts), len(constants)))
        for first in range(0, n_placed, _BLOCK_ROWS):
            rows = slice(first, first + _BLOCK_ROWS)
            hits += counts[:, rows] @ _hit_table(starts.placed[rows], constants, threshold).astype(np.float64)
        best[low : low + len(counts)] = hits.max(axis=1)
    return best


def _triangle(n: Ints | Floats) -> Ints:
    """How many pairs of a first and a last step there are among n steps: n (n + 1) / 2."""
    return np.asarray(n * (n + 1) // 2, dtype=np.int64)


def _shortest(locations: Locations, given: float | None) -> float:
    """Shortest length of the even spread; refused where it is none."""
    found = float(np.diff(locations.start_end_norm, axis=1).min())
    if given is not None and not 0 <= given <= found + TIE:
        raise UsageError(
            f"got a shortest moment of {given:g} of the video, expected 0 to {found:g}: the shortest there is"
        )
    shortest = found if given is None else given
    if shortest > 1 - TIE:
        raise InputError("every moment is its whole video, so their locations cannot be even or uneven")
    return shortest


def _even_counts(multiplicity: Ints, n_places: int, rng: np.random.Generator) -> Floats:
    """Draw one of the places for each distinct moment; return how many locations each place gets, (n_places,)."""
    place = rng.integers(n_places, size=len(multiplicity))
    return np.asarray(np.bincount(place, weights=multiplicity.astype(np.float64), minlength=n_places), dtype=np.float64)


def _hit_table(moments: Floats, constants: Floats, threshold: float) -> Bools:
    """Which constants, (C, 2), hit which moments, (N, 2): shape (N, C)."""
    iou = temporal_iou(constants[:, 0], constants[:, 1], moments[:, :1], moments[:, 1:])
    return HitRule()(iou, threshold)


def _hits(moments: Floats, times: Ints, constants: Floats, threshold: float) -> Ints:
    """How many moments each constant hits, shape (C,); moment i counts `times[i]`."""
    hits = np.zeros(len(constants), dtype=np.int64)
    for low in range(0, len(moments), _BLOCK_ROWS):
        rows = slice(low, low + _BLOCK_ROWS)
        hits += times[rows] @ _hit_table(moments[rows], constants, threshold)
    return hits
