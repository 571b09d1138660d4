r"""How uneven locations are: in bits, and in what the best constant answer scores.

The first is held against an *even* spread: every moment of the video that is no shorter than the shortest one is as
likely as any other. The second is held against moments of the *same lengths* at even starts: a constant hits long
moments more easily than short ones wherever they lie, so against the even spread, with its many long moments, every
dataset of short ones would look free of bias. (Lengths that are all alike do help a constant; that they are, the first
figure tells.)

Chance alone makes every sample look uneven, the more the smaller it is, so the same figure is taken of even samples of
the same size. Sentences that ask for the very same moment are drawn together, one place for
all of them: no sample is more even than its repetitions allow. (Moments of one video are drawn apart, and so are
annotators who mark different moments for one query.)

References
----------
The bias of entropies counted in cells: L. Paninski, Estimation of entropy and mutual information, Neural Computation 15
(2003).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truemoment.baselines.base import grid_of_moments
from truemoment.bias.chance import check_draws, entropy_bits, p_value
from truemoment.bias.locations import Locations
from truemoment.cells import region_of
from truemoment.exceptions import InputError, UsageError
from truemoment.intervals import TIE, Bools, Floats, Ints, temporal_iou
from truemoment.measures import parse_measure
from truemoment.measures.base import HitRule, print_number

N_STEPS = 16
"""Bands of length, and steps of start in each: 256 regions of equal size, so that no sample is more than 8 bits uneven.

One number for all datasets, or figures could not be compared. Fewer regions would see less; with more the correction
for chance, about 255 / (2 N ln 2) bits, outgrows what is to be seen: now it is 0.6 bits at 300 moments and 0.003 at
72,000.
"""

STEP_NORM = 0.05
"""Grid of starts and ends of constant answers, that of BestConstant."""

_N_LENGTHS, _N_STARTS = 250, 100  # placements that stand for all; see constant_bias
_BLOCK_ROWS = 8192  # locations held against all constants at a time
_BLOCK_DRAWS = 50


@dataclass(frozen=True)
class Evenness:
    """How far the spread of locations is from even.

    Parameters
    ----------
    entropy_bits
        Differential entropy of the density of (start, end), in bits, corrected for chance: `even_bits` less
        `below_even_bits`.
    even_bits
        That of the even spread, log2((1 - L)^2 / 2), L the shortest length; no density there has more.
    below_even_bits
        Kullback-Leibler divergence from the even spread, less what chance gives. 0: even (below 0: by chance); a
        spread that fills one part in 2^b of the support has b.
    by_chance_bits
        Mean of the uncorrected divergence over even samples of the same size.
    p_value
        Of the uncorrected divergence among those.
    shortest_norm
        L, as a fraction of the video.
    n_moments, n_distinct
        Locations, and distinct moments among them.
    """

    entropy_bits: float
    even_bits: float
    below_even_bits: float
    by_chance_bits: float
    p_value: float
    shortest_norm: float
    n_moments: int
    n_distinct: int

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
        there.
    excess
        `value` less `even_value`.
    p_value
        Of `value` among those samples.
    """

    measure: str
    start_norm: float
    end_norm: float
    value: float
    even_value: float
    excess: float
    p_value: float


def evenness(
    locations: Locations, rng: np.random.Generator, *, draws: int = 200, shortest_norm: float | None = None
) -> Evenness:
    r"""Measure how far the spread of locations is from even.

    .. math:: D = \sum_k p_k \log_2 (K p_k) = \log_2 K - H(p)

    over K regions of equal size (:data:`N_STEPS`), :math:`p_k` the share of the locations in region k. That is the
    Kullback-Leibler divergence of the histogram from the even spread, and the differential entropy of the even spread
    less that of the histogram's density (even within each region).

    Parameters
    ----------
    locations
        N locations.
    rng
        Generator of the draws; the same seed gives the same figures.
    draws
        Even samples, 1 or more.
    shortest_norm
        Shortest length of the even spread, as a fraction of the video; by default that of the shortest moment.

    Raises
    ------
    UsageError
        If `draws` is less than 1, or a moment is shorter than `shortest_norm`.
    InputError
        If every moment is a whole video, of which there is but one.
    """
    check_draws(draws, "draws")
    shortest_norm = _shortest(locations, shortest_norm)
    n_regions = N_STEPS**2
    region = region_of(locations.start_end_norm, shortest_norm, N_STEPS)
    raw = _below_even(np.bincount(region, minlength=n_regions))
    by_chance = np.array([float(_below_even(_even_counts(locations, n_regions, rng))) for _ in range(draws)])
    even_bits = float(2 * np.log2(1 - shortest_norm) - 1)
    below_even_bits = float(raw - by_chance.mean())
    return Evenness(
        entropy_bits=even_bits - below_even_bits,
        even_bits=even_bits,
        below_even_bits=below_even_bits,
        by_chance_bits=float(by_chance.mean()),
        p_value=p_value(float(raw), by_chance),
        shortest_norm=shortest_norm,
        n_moments=len(locations),
        n_distinct=len(locations.multiplicity),
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
    drawn from 100 equal steps; on the field's splits that moves the best constant's figure by less than 0.001.

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
    """
    check_draws(draws, "draws")
    several = len(np.unique(locations.query)) < len(locations)
    measure = parse_measure(f"R@1,IoU={print_number(threshold)}{'[ref=rows]' if several else ''}")
    constants = grid_of_moments(STEP_NORM)
    moments, times = np.unique(locations.start_end_norm, axis=0, return_counts=True)
    hits = _hits(moments, times, constants, threshold)
    best = _best_by_chance(locations, constants, threshold, draws, rng) / len(locations)
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
    )


def _best_by_chance(
    locations: Locations, constants: Floats, threshold: float, draws: int, rng: np.random.Generator
) -> Floats:
    """Most locations that one constant hits in each of some samples at even starts, shape (draws,)."""
    multiplicity = locations.multiplicity.astype(np.float64)
    length = np.empty(len(multiplicity))
    length[locations.moment] = np.diff(locations.start_end_norm, axis=1)[:, 0]
    group, placed = placements(length)
    hit_by = _hit_table(placed, constants, threshold).astype(np.float64)
    best = np.empty(draws)
    for low in range(0, draws, _BLOCK_DRAWS):
        high = min(low + _BLOCK_DRAWS, draws)
        counts = np.empty((high - low, len(placed)))
        for row in counts:
            place = group * _N_STARTS + rng.integers(_N_STARTS, size=len(group))
            row[:] = np.bincount(place, weights=multiplicity, minlength=len(placed))
        best[low:high] = (counts @ hit_by).max(axis=1)
    return best


def placements(length_norm: Floats) -> tuple[Ints, Floats]:
    """Moments of given lengths at even starts: all that a sample of them is drawn from.

    Parameters
    ----------
    length_norm : (M,)
        Fractions of the video.

    Returns
    -------
    group : (M,)
        Group of each length, from 0 to G - 1; G is 250, or M where that is less.
    start_end_norm : (100 G, 2)
        A hundred moments of the mean length of each group, the first group's first, at evenly spaced starts. Groups
        begin at different fractions of a step (multiples of the golden ratio), so that no edge lies alike for all.
    """
    n_groups = min(len(length_norm), _N_LENGTHS)
    group = np.empty(len(length_norm), dtype=np.int64)
    group[np.argsort(length_norm, kind="stable")] = np.arange(len(length_norm)) * n_groups // len(length_norm)
    length = (np.bincount(group, weights=length_norm) / np.bincount(group))[:, None]
    offset = ((np.arange(n_groups) + 0.5) * (5**0.5 - 1) / 2 % 1)[:, None]
    start = (np.arange(_N_STARTS) + offset) / _N_STARTS * (1 - length)
    return group, np.stack([start.ravel(), (start + length).ravel()], axis=1)


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


def _below_even(counts: Ints | Floats) -> Floats:
    """Bits below the even spread of counts in K regions of one size, (K,) -> ()."""
    return np.asarray(np.log2(len(counts)) - entropy_bits(np.asarray(counts, dtype=np.float64)))


def _even_counts(locations: Locations, n_places: int, rng: np.random.Generator) -> Floats:
    """Draw one of the places for each distinct moment; return how many locations each place gets, (n_places,)."""
    multiplicity = locations.multiplicity.astype(np.float64)
    place = rng.integers(n_places, size=len(multiplicity))
    return np.asarray(np.bincount(place, weights=multiplicity, minlength=n_places), dtype=np.float64)


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
