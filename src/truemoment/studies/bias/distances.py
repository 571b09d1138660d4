r"""Distance between the locations of two splits, and its value by chance.

Two measures: the *energy distance* depends on how near locations are to each other, needs no cells, and is 0 only for
equal distributions; the *Jensen-Shannon divergence* is in bits, at most 1.

Queries of one video depend on each other, so the permutations exchange whole videos.

References
----------
G. J. Szekely and M. L. Rizzo, Energy statistics, J. Statist. Plann. Inference 143 (2013); J. Lin, Divergence measures
based on the Shannon entropy, IEEE Trans. Inf. Theory 37 (1991).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truemoment.base.cells import cell_of, coarser, n_cells
from truemoment.base.intervals import Floats, Ints
from truemoment.studies.bias.chance import check_draws, jensen_shannon_bits, p_value
from truemoment.studies.bias.locations import Locations

N_STEPS = 60
"""Steps per axis of the cells of the energy distance: 1 2/3 % of the video."""

COARSER = 3
"""Number of them in a step of the cells of the Jensen-Shannon divergence: 5 % of the video, 210 cells."""


@dataclass(frozen=True)
class SplitDistance:
    """Distance between the locations of two sets of moments.

    Parameters
    ----------
    energy, energy_by_chance, energy_p
        Energy distance of (start, end), in fractions of the video: 0 (equal) to 2 sqrt(2); its mean over permutations
        of whole videos, and its p-value among them.
    jensen_shannon_bits, jensen_shannon_by_chance, jensen_shannon_p
        Jensen-Shannon divergence of the shares in cells of 5 % of the video, 0 (equal) to 1 bit, without correction;
        its mean over the permutations, and its p-value.
    """

    energy: float
    energy_by_chance: float
    energy_p: float
    jensen_shannon_bits: float
    jensen_shannon_by_chance: float
    jensen_shannon_p: float
    n_a: int
    n_b: int
    permutations: int


def split_distance(a: Locations, b: Locations, rng: np.random.Generator, *, permutations: int = 1000) -> SplitDistance:
    r"""Measure the distance between two sets of moments.

    .. math::

       E &= 2\,\mathrm{E}|X - Y| - \mathrm{E}|X - X'| - \mathrm{E}|Y - Y'| = -(p - q)^\top D\,(p - q) \\
       JS &= H\left(\tfrac{p + q}{2}\right) - \tfrac12 \left(H(p) + H(q)\right)

    with X, X' of `a` and Y, Y' of `b` drawn with replacement, :math:`|\cdot|` the Euclidean norm of (start, end), and
    p, q the two sets' shares in cells. For E each moment is replaced by the mean of all moments in its cell, and D
    contains the distances between those means, so E is never below 0. It differs from the sum over all pairs by at most
    about 1e-4 on common splits. The permutations use the same cells, so the p-value is not affected.

    Parameters
    ----------
    a, b
        Locations of two sets of videos; a video in both counts as two.
    permutations
        Number of permutations of whole videos; the number of videos of each side stays; 1 or more.
    """
    check_draws(permutations, "permutations")
    pooled = np.concatenate([a.start_end_norm, b.start_end_norm])
    video = np.concatenate([a.video, b.video + a.n_videos])
    cell = cell_of(pooled, N_STEPS)
    n_fine = n_cells(N_STEPS)
    total = np.bincount(cell, minlength=n_fine)
    counts = np.empty((1 + permutations, n_fine))  # of side a; the first row is observed
    counts[0] = np.bincount(cell[: len(a)], minlength=n_fine)
    for row in range(1, 1 + permutations):
        first = np.zeros(a.n_videos + b.n_videos, dtype=bool)
        first[rng.permutation(len(first))[: a.n_videos]] = True
        counts[row] = np.bincount(cell[first[video]], minlength=n_fine)
    shares = _shares(counts), _shares(total - counts)
    energy = _energy(shares[0] - shares[1], _means(pooled, cell, total))
    nested = coarser(N_STEPS, COARSER)
    merged = np.zeros((n_fine, int(nested.max()) + 1))  # 1 where a cell is in a coarser one
    merged[np.arange(n_fine), nested] = 1
    divergence = jensen_shannon_bits(*(share @ merged for share in shares))
    return SplitDistance(
        energy=float(energy[0]),
        energy_by_chance=float(energy[1:].mean()),
        energy_p=p_value(float(energy[0]), energy[1:]),
        jensen_shannon_bits=float(divergence[0]),
        jensen_shannon_by_chance=float(divergence[1:].mean()),
        jensen_shannon_p=p_value(float(divergence[0]), divergence[1:]),
        n_a=len(a),
        n_b=len(b),
        permutations=permutations,
    )


def energy_distances(a: Floats, b: Floats, moments: Floats, n_steps: int) -> Floats:
    """Return energy distances between counts in cells, (R, K) each, as in :func:`split_distance`: shape (R,).

    A single row is compared with all rows of the other side. The means of `moments`, (N, 2), represent their cells.
    """
    cell = cell_of(moments, n_steps)
    place = _means(moments, cell, np.bincount(cell, minlength=n_cells(n_steps)))
    return _energy(_shares(a) - _shares(b), place)


def _shares(counts: Floats) -> Floats:
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _means(points: Floats, cell: Ints, total: Ints) -> Floats:
    """Return the mean of the points in each cell, shape (K, 2); the origin for empty cells, which are never used."""
    sums = np.stack([np.bincount(cell, weights=axis, minlength=len(total)) for axis in points.T], axis=1)
    return np.asarray(sums / np.maximum(total, 1)[:, None])


def _energy(difference: Floats, place: Floats) -> Floats:
    """Return energy distances of differences of shares, (R, K), at points (K, 2): shape (R,)."""
    nonzero = np.any(difference != 0, axis=0)
    place, difference = place[nonzero], difference[:, nonzero]
    distance = np.hypot(place[:, :1] - place[:, 0], place[:, 1:] - place[:, 1])
    return np.asarray(np.maximum(-np.einsum("rk,rk->r", difference @ distance, difference), 0))
