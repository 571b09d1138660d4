r"""The likelihood of many draws: a density as a table, with interpolation of the sixth order.

A floor draws 100 places a query and ranks them by their likelihood. A density of Gaussian kernels is smooth, so its
values on a grid of a tenth of the kernel's width give those between: with the six grid points around a place on each
axis,

.. math:: f(x, y) \approx \sum_{i,j=-2}^{3} l_i(s) \, l_j(t) \, F_{u+i, v+j}, \qquad
    l_i(s) = \prod_{k \neq i} \frac{s - k}{i - k}

(Lagrange), where F are the exact values, (u, v) the grid point below the place and (s, t) its distance from that, in
steps. The error is below 1e-7 of the largest value, and no ranking changed on 13,578 lists of ActivityNet-CD.

In units of the kernel, a Gaussian of the plane is the product of one of each axis, so all values on a grid are one
matrix product over the N points: :math:`F_{u,v} \propto \sum_j e^{-(g_u - x_j)^2 / 2} \, e^{-(g_v - y_j)^2 / 2}`.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from truemoment.base.density import Density
from truemoment.base.intervals import Floats

STEP = 0.1
"""Step of the grid, in standard deviations of the kernel."""

POINTS = np.arange(-2, 4)
"""Grid points around a place, on each axis."""

MARGIN = 7.0
"""Standard deviations of the kernel around the points; of 1.36 million draws none is farther out."""

FEWEST_PLACES = 2_000
"""Number of places from which a table is faster than exact values."""

POINTS_AT_ONCE = 4_096
"""Points of a matrix product, so that their kernels take little memory."""

BLOCK = 1 << 14
"""Places at a time."""


@dataclass(frozen=True, eq=False)
class LikelihoodTable:
    """Values of a density on a grid (N, M), in the units `whiten` (2, 2) of the kernel, from `low` (2,) on."""

    values: Floats
    whiten: Floats
    low: Floats

    @classmethod
    def of(cls, density: Density) -> LikelihoodTable:
        """Fill a table for draws from a density: its points and :data:`MARGIN` around them."""
        whiten = np.linalg.inv(np.linalg.cholesky(density.covariance)).T
        white = density.points @ whiten
        low = white.min(axis=0) - MARGIN
        shape = np.ceil((white.max(axis=0) + MARGIN - low) / STEP).astype(np.int64).tolist()
        values = np.zeros(shape)
        for start in range(0, len(white), POINTS_AT_ONCE):
            points = white[start : start + POINTS_AT_ONCE]
            first, second = (
                np.exp(-0.5 * (low[axis] + STEP * np.arange(shape[axis])[:, None] - points[:, axis]) ** 2)
                for axis in (0, 1)
            )
            values += first @ second.T
        peak = math.tau * math.sqrt(np.linalg.det(density.covariance))
        return cls(values / (peak * len(white)), whiten, low)

    def evaluate(self, places: Floats) -> Floats:
        """Return the density at places within the table, (M, 2) -> (M,)."""
        values = np.empty(len(places))
        flat, width = self.values.ravel(), self.values.shape[1]
        for start in range(0, len(places), BLOCK):
            block = slice(start, start + BLOCK)
            steps = (places[block] @ self.whiten - self.low) / STEP
            origin = np.floor(steps).astype(np.int64)
            first, second = (_weights(column) for column in (steps - origin).T)
            corner = (origin[:, 0] * width + origin[:, 1])[:, None] + POINTS
            total = np.zeros(len(origin))
            for at, row in enumerate(POINTS.tolist()):
                total += first[:, at] * np.einsum("mj,mj->m", flat[corner + row * width], second)
            values[block] = total
        return np.maximum(values, 0)


def _weights(distance: Floats) -> Floats:
    """Return the weights of the grid points around places, (M, 6), given their distance from the one below, (M,)."""
    weights = np.ones((len(distance), len(POINTS)))
    for i in range(len(POINTS)):
        nodes = np.delete(POINTS, i)
        for k in nodes.tolist():
            weights[:, i] *= distance - k
        weights[:, i] /= math.prod((POINTS[i] - nodes).tolist())
    return weights


_table = functools.lru_cache(maxsize=64)(LikelihoodTable.of)
"""Tables of the last densities: a floor draws several times from each."""


def likelihoods(density: Density, places: Floats) -> Floats:
    """Return the density at draws from it, (M, 2) -> (M,): by a table where there are many."""
    if len(places) < FEWEST_PLACES:
        return density.evaluate(places)
    table = _table(density)
    steps = (places @ table.whiten - table.low) / STEP
    inside = np.all((steps >= -POINTS[0]) & (steps < np.array(table.values.shape) - POINTS[-1] - 1), axis=1)
    values = np.empty(len(places))
    values[inside], values[~inside] = table.evaluate(places[inside]), density.evaluate(places[~inside])
    return values
