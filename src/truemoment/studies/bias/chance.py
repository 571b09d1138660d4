"""p-values, entropies and divergences.

References
----------
B. Phipson and G. K. Smyth, Permutation p-values should never be zero, SAGMB 9 (2010).
"""

from __future__ import annotations

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats

ROUNDING = 1e-12
"""Tolerance for equal sums in float64."""


def p_value(observed: float, by_chance: Floats) -> float:
    r"""Return the share of D draws at least as large as the observed value, which counts as one draw.

    .. math:: p = \frac{1 + \#\{i : x^*_i \ge x\}}{1 + D}

    Examples
    --------
    >>> import numpy as np
    >>> p_value(3.0, np.array([1.0, 2.0, 3.0]))
    0.5
    """
    return float((1 + np.count_nonzero(by_chance >= observed - ROUNDING)) / (1 + len(by_chance)))


def check_draws(n: int, noun: str) -> None:
    """Refuse a number of draws below 1."""
    if n < 1:
        raise UsageError(f"got {n} {noun}, expected 1 or more")


def entropy_bits(counts: Floats) -> Floats:
    r"""Return the entropy :math:`-\sum_k p_k \log_2 p_k` with :math:`p_k = c_k / \sum c` over the last axis, in bits.

    Examples
    --------
    >>> import numpy as np
    >>> entropy_bits(np.array([2.0, 1.0, 1.0])).item()
    1.5
    """
    share = counts / counts.sum(axis=-1, keepdims=True)
    return np.asarray(np.abs(np.sum(share * np.log2(np.where(share > 0, share, 1)), axis=-1)))


def jensen_shannon_bits(a: Floats, b: Floats) -> Floats:
    r"""Return the Jensen-Shannon divergence of two lists of shares or counts over the last axis: 0 (equal) to 1 bit.

    .. math:: JS(p, q) = H\left(\tfrac{p + q}{2}\right) - \frac{H(p) + H(q)}{2}

    J. Lin, IEEE Trans. Inf. Theory 37 (1991).

    Examples
    --------
    >>> import numpy as np
    >>> jensen_shannon_bits(np.array([1.0, 0.0]), np.array([0.0, 3.0])).item()
    1.0
    """
    p, q = (counts / counts.sum(axis=-1, keepdims=True) for counts in (a, b))
    return np.asarray(np.clip(entropy_bits(p + q) - (entropy_bits(p) + entropy_bits(q)) / 2, 0, 1))
