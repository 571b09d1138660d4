r"""Student's t distribution, with any number of degrees of freedom from 1: tail and quantile.

With :math:`t = \sqrt\nu \tan\theta` the density becomes
:math:`\Gamma(\frac{\nu+1}{2}) / (\sqrt\pi\,\Gamma(\frac\nu2)) \cos^{\nu-1}\theta`: smooth, on a bounded range.
Gauss-Legendre quadrature integrates it to 1e-6.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from truemoment.base.intervals import Floats

NODES, WEIGHTS = np.polynomial.legendre.leggauss(100)
REACH = 12.0
"""Beyond this many times :math:`1 / \\sqrt\\nu` the density contains less than 1e-16."""

HALVINGS = 64
"""Of a range of 100: what is left is less than a float64 resolves."""


def two_sided_p(t: ArrayLike, freedom: ArrayLike) -> Floats:
    """Return the chance that a deviate lies as far from 0 as `t`, or farther; NaN where either is; broadcasts.

    Examples
    --------
    >>> two_sided_p([0.0, 12.7062, 2.085963], [5, 1, 20]).round(6).tolist()
    [1.0, 0.05, 0.05]
    """
    t, freedom = np.broadcast_arrays(np.abs(np.asarray(t, dtype=np.float64)), np.asarray(freedom, dtype=np.float64))
    return _tail(t, freedom, _log_scale(freedom))


def _log_scale(freedom: Floats) -> Floats:
    """Return the logarithm of what the density is multiplied by."""
    lgamma = np.vectorize(math.lgamma, otypes=[np.float64])
    return np.asarray(lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - math.log(math.pi) / 2)


def _tail(t: Floats, freedom: Floats, log_scale: Floats) -> Floats:
    first = np.arctan2(t, np.sqrt(freedom))
    last = np.minimum(math.pi / 2, first + REACH / np.sqrt(freedom))
    half = (last - first) / 2
    theta = (first + last)[..., None] / 2 + half[..., None] * NODES
    with np.errstate(divide="ignore"):
        density = np.exp(log_scale[..., None] + (freedom[..., None] - 1) * np.log(np.abs(np.cos(theta))))
    return np.asarray(2 * half * (density @ WEIGHTS))


def two_sided_quantile(p: ArrayLike, freedom: ArrayLike) -> Floats:
    """Return the t that :func:`two_sided_p` gives `p`, which lies between 0 and 1; NaN where either is; broadcasts.

    Examples
    --------
    >>> two_sided_quantile(0.05, [1, 2.5, 20]).round(4).tolist()
    [12.7062, 3.5747, 2.086]
    """
    p, freedom = np.broadcast_arrays(np.asarray(p, dtype=np.float64), np.asarray(freedom, dtype=np.float64))
    low, high = np.full(p.shape, -50.0), np.full(p.shape, 50.0)  # of the logarithm
    log_scale = _log_scale(freedom)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        above = _tail(np.exp(middle), freedom, log_scale) > p
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(np.isnan(p) | np.isnan(freedom), np.nan, np.exp((low + high) / 2))
