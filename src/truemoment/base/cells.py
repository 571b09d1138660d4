r"""Two ways to cut the locations 0 <= start < end <= 1 into pieces.

**Cells** are squares of a step in start and end, those on the diagonal triangles: n (n + 1) / 2 of them at n steps.
They keep what is near near, and are for distances between sets.

**Regions** have equal shares of the even spread over all moments of length at least L. With the length
:math:`\ell = e - s`, the place

.. math:: u = \frac{s}{1 - \ell}, \qquad v = 1 - \left(\frac{1 - \ell}{1 - L}\right)^2

is uniform in the unit square exactly where (start, end) is uniform over those moments: given the length, starts are
even from 0 to :math:`1 - \ell`; and the share of moments longer than :math:`\ell` is that of a smaller triangle. So a
grid of squares in (u, v) cuts the support into regions of one size, none of them a sliver however L falls among the
steps; they are for entropy.
"""

from __future__ import annotations

import numpy as np

from truemoment.base.intervals import TIE, Floats, Ints


def n_cells(n_steps: int) -> int:
    """Cells of the half square at n steps an axis.

    Examples
    --------
    >>> n_cells(20), n_cells(50)
    (210, 1275)
    """
    return n_steps * (n_steps + 1) // 2


def cell_of(start_end_norm: Floats, n_steps: int) -> Ints:
    """Cell of each location in the half square.

    A start on an edge belongs to the step after it and an end to the step before it, so that 20 to 30 % of the video
    is in the cell of the third of ten steps, and 0 to 100 % in that of the first and the last. Within 1e-9 of an
    edge is on it.

    Parameters
    ----------
    start_end_norm : (N, 2)
        0 <= start < end <= 1.
    n_steps
        Steps an axis.

    Returns
    -------
    array, shape (N,)
        From 0 to n (n + 1) / 2 - 1, by the step of the start, then by that of the end.

    Examples
    --------
    >>> import numpy as np
    >>> cell_of(np.array([[0.0, 0.5], [0.0, 1.0], [0.2, 0.3], [0.5, 0.9]]), 2).tolist()
    [0, 1, 0, 2]
    """
    first, last = _steps(start_end_norm, n_steps)
    return first * n_steps - first * (first - 1) // 2 + last - first


def _steps(start_end_norm: Floats, n_steps: int) -> tuple[Ints, Ints]:
    """Step of the start and of the end of each location, (N,) each."""
    start, end = start_end_norm.T
    first = np.clip(np.floor((start + TIE) * n_steps), 0, n_steps - 1).astype(np.int64)
    last = np.clip(np.ceil((end - TIE) * n_steps) - 1, first, n_steps - 1).astype(np.int64)
    return first, last


def cell_bounds(n_steps: int) -> Ints:
    """Step of the start and step of the end of each cell, shape (n (n + 1) / 2, 2), in the order of :func:`cell_of`.

    Examples
    --------
    >>> cell_bounds(2).tolist()
    [[0, 0], [0, 1], [1, 1]]
    """
    return np.stack(np.triu_indices(n_steps), axis=1)


def coarser(n_steps: int, factor: int) -> Ints:
    """Cell of n / factor steps that contains each cell of n steps; shape (n (n + 1) / 2,).

    Parameters
    ----------
    n_steps
        A multiple of `factor`.

    Examples
    --------
    >>> coarser(4, 2).tolist()
    [0, 0, 1, 1, 0, 1, 1, 2, 2, 2]
    """
    first, last = (cell_bounds(n_steps) // factor).T
    n_coarse = n_steps // factor
    return np.asarray(first * n_coarse - first * (first - 1) // 2 + last - first)


def even_places(start_end_norm: Floats, shortest_norm: float) -> Floats:
    """Places (u, v) of locations: uniform in the unit square where locations are even.

    Parameters
    ----------
    start_end_norm : (N, 2)
        0 <= start < end <= 1, of length `shortest_norm` or more.
    shortest_norm
        L, from 0 to less than 1.

    Returns
    -------
    array, shape (N, 2)
        In [0, 1]. The whole video has no room to move in: its u is 0.5.

    Examples
    --------
    >>> import numpy as np
    >>> even_places(np.array([[0.0, 0.5], [0.5, 1.0], [0.0, 1.0]]), 0.0).tolist()
    [[0.0, 0.75], [1.0, 0.75], [0.5, 1.0]]
    """
    start, end = start_end_norm.T
    room = 1 - (end - start)
    u = np.where(room > TIE, start / np.where(room > TIE, room, 1), 0.5)
    v = 1 - (room / (1 - shortest_norm)) ** 2
    return np.asarray(np.clip(np.stack([u, v], axis=1), 0, 1))


def even_moments(place: Floats, shortest_norm: float) -> Floats:
    """Locations at places (u, v): the way back from :func:`even_places`; shape (N, 2) -> (N, 2).

    Examples
    --------
    >>> import numpy as np
    >>> even_moments(np.array([[0.0, 0.75], [1.0, 0.75]]), 0.0).tolist()
    [[0.0, 0.5], [0.5, 1.0]]
    """
    room = (1 - shortest_norm) * np.sqrt(1 - place[:, 1])
    start = place[:, 0] * room
    return np.stack([start, start + (1 - room)], axis=1)


def region_of(start_end_norm: Floats, shortest_norm: float, n_steps: int) -> Ints:
    """Region of each location, of n x n regions that have equal shares of the even spread.

    Parameters
    ----------
    start_end_norm : (N, 2)
        As for :func:`even_places`.
    n_steps
        Bands of length, and steps of start within each.

    Returns
    -------
    array, shape (N,)
        From 0 to n^2 - 1, by length, then by start. Within 1e-9 of an edge is on it, and belongs to the longer or later
        region.
    """
    u, v = np.clip(np.floor((even_places(start_end_norm, shortest_norm) + TIE) * n_steps), 0, n_steps - 1).T
    return np.asarray(v * n_steps + u, dtype=np.int64)
