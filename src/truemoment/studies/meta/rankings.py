r"""Kendall's tau-b: the agreement of two rankings of the same systems.

With :math:`a_p, b_p \in \{-1, 0, 1\}` the order of each of :math:`P = S (S - 1) / 2` pairs of systems in two rankings,

.. math:: \tau_b = \frac{\sum_p a_p b_p}{\sqrt{\sum_p a_p^2 \; \sum_p b_p^2}}

It is undefined if one ranking ties all systems. Figures within 1e-12 tie.

References
----------
M. G. Kendall, The treatment of ties in ranking problems, Biometrika 33 (1945); A. Agresti, Analysis of ordinal
categorical data (2010), which the AxIoU paper (Togashi et al. 2022, section 6.2) cites.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from truemoment.base.intervals import Floats, Ints
from truemoment.evaluation.uncertainty import ROUNDING

Signs = NDArray[np.int8]  # which system of each pair is better: 1 the first, -1 the second, 0 neither


def pairs_of(n_systems: int) -> tuple[Ints, Ints]:
    """Return the rows of the first and second system of each pair, (P,) each, the first before the second."""
    first, second = np.triu_indices(n_systems, k=1)
    return first, second


def order_of_pairs(figures: Floats) -> Signs:
    """Return which of each pair of systems has the higher figure, (..., P): 1 the first, -1 the second, 0 a tie.

    An undefined figure (NaN) ties with all others.
    """
    first, second = pairs_of(figures.shape[-1])
    difference = figures[..., first] - figures[..., second]
    return (difference > ROUNDING).astype(np.int8) - (difference < -ROUNDING).astype(np.int8)


def kendall_tau_b(a: Signs, b: Signs) -> Floats:
    """Return Kendall's tau-b of two rankings from the orders of pairs, (..., P), of :func:`order_of_pairs`.

    It is NaN if either ranking ties all systems.

    Examples
    --------
    >>> ours, theirs = order_of_pairs(np.array([[0.3, 0.2, 0.1], [0.3, 0.1, 0.1]]))
    >>> float(kendall_tau_b(ours, theirs).round(4))  # 2 of the pairs, and one that only ours separates
    0.8165
    """
    agree, untied_a, untied_b = (
        np.einsum("...p,...p->...", x, y, dtype=np.float64) for x, y in ((a, b), (a, a), (b, b))
    )
    return _tau_b(agree, untied_a, untied_b)


def tau_matrix(signs: Signs) -> Floats:
    """Return Kendall's tau-b between each two of M rankings, (..., M, P) to (..., M, M).

    `signs` are those of :func:`order_of_pairs`. Tau is NaN if one ranking ties all systems.

    Examples
    --------
    >>> tau_matrix(order_of_pairs(np.array([[0.3, 0.2, 0.1], [0.1, 0.2, 0.3]]))).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    number = signs.astype(np.float32 if signs.shape[-1] < 1 << 24 else np.float64)  # whole numbers, exact up to 2^24
    agree = (number @ np.swapaxes(number, -1, -2)).astype(np.float64)
    untied = np.diagonal(agree, axis1=-2, axis2=-1)
    return _tau_b(agree, untied[..., :, None], untied[..., None, :])


def _tau_b(agree: Floats, untied_a: Floats, untied_b: Floats) -> Floats:
    """Return tau-b from the three sums of its formula; NaN if a ranking ties all pairs."""
    product = untied_a * untied_b
    return np.asarray(np.where(product > 0, agree / np.sqrt(np.where(product > 0, product, 1)), np.nan))
