r"""Where events lie: the dials `location_prior` and `query_prior`, each with a meaning of its own.

A *place* :math:`(u, v)` in the unit square is drawn, then mapped to a start and a length (fractions of the video).

**Place (query_prior q).** The square has one cell for each action, as large as the action is frequent (:func:`cells`).
With probability q the place is uniform in the action's cell, else uniform in the square. So the overall distribution
does not depend on q. Verb and location are independent at 0; at 1 the verb leaves one cell of 32.

**Map (location_prior p).** :func:`locate` moves each location along a straight line, from its spot in an even world to
its spot in a clumped one:

.. math::

   \ell &= (1 - p)\,\ell_0 + p\,\ell_1, & \ell_0 &= 0.05 + 0.95\,(1 - \sqrt{1 - v}), & \ell_1 &= 0.15 + 0.1\,v \\
   s &= (1 - p)\,s_0 + p\,s_1, & s_0 &= u\,(1 - \ell_0), & s_1 &= 0.2\,u^2

At 0, (start, end) is uniform over all moments of at least 5 % of the video. At 1, lengths are 15 to 25 % and starts
crowd at 0. The map is one to one, so the information of the verb does not depend on p. The entropy of the location
falls as p rises.

**Out of distribution.** Cells start half the square further on, and the clump lies at the end of the video
(:math:`s_1 = 1 - \ell_1 - 0.2\,(1 - u)^2`). With both dials at 0 nothing changes.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from truemoment.base.intervals import Bools, Floats, Ints

N_ROWS = 4
"""Rows of cells, by length of the moment; each is cut by start into as many cells as there are actions to place."""

SHORTEST_NORM = 0.05
"""Shortest moment, as a fraction of the video."""

Clump = Literal["beginning", "end"]
"""Where a full location prior gathers the moments."""


def cells(frequency: Floats, order: Ints) -> Floats:
    """Divide the unit square into one cell per action: low u, high u, low v, high v, (A, 4).

    `frequency`, (A,), are the areas, which sum to 1; `order`, (A,), is the order of the actions, row by row.
    """
    table = np.zeros((len(frequency), 4))
    low = 0.0
    for row in np.array_split(order, N_ROWS):
        height = float(frequency[row].sum())
        edges = np.concatenate([[0.0], np.cumsum(frequency[row]) / height])
        table[row] = np.stack([edges[:-1], edges[1:], np.full(len(row), low), np.full(len(row), low + height)], axis=1)
        low += height
    return np.minimum(table, 1.0)


def moved(order: Ints) -> Ints:
    """Order of the actions in which each cell lies about half the square away, in u and in v."""
    rows = np.array_split(order, N_ROWS)
    half = N_ROWS // 2
    return np.concatenate([np.roll(row, len(row) // 2) for row in rows[half:] + rows[:half]])


def places(within: Floats, cell: Floats, bound: Bools) -> Floats:
    """Return the places (u, v) of events, (N, 2), from uniform random numbers in [0, 1), (N, 2).

    `cell`, (N, 4), is the cell of each event's action; `bound`, (N,), whether the event lies in it.
    """
    low, high = cell[:, [0, 2]], cell[:, [1, 3]]
    return np.where(bound[:, None], low + within * (high - low), within)


def locate(place: Floats, location_prior: float, clump: Clump = "beginning") -> tuple[Floats, Floats]:
    """Map places (u, v), (N, 2), to start and end, (N,) each: fractions of the video, 0 <= start < end <= 1.

    `location_prior` is from 0 (even) to 1 (clumped); `clump` is the place of the clump.
    """
    u, v = place[:, 0], place[:, 1]
    even_length = SHORTEST_NORM + (1 - SHORTEST_NORM) * (1 - np.sqrt(1 - v))
    even_start = u * (1 - even_length)
    clumped_length = 0.15 + 0.1 * v
    clumped_start = 0.2 * u**2 if clump == "beginning" else 1 - clumped_length - 0.2 * (1 - u) ** 2
    length = (1 - location_prior) * even_length + location_prior * clumped_length
    start = (1 - location_prior) * even_start + location_prior * clumped_start
    return start, np.minimum(start + length, 1.0)
