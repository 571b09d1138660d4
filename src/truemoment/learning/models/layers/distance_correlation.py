r"""Distance correlation: how far two lists of vectors depend on each other, in any way.

With :math:`A` and :math:`B` the matrices of distances between the rows of x and between those of y, each less its row
means and column means and plus its mean, :math:`d(x, y) = \text{mean}(A B)` over all n^2 entries, and

.. math::
    \text{dCor}(x, y) = \sqrt{d(x, y)} / \sqrt{\sqrt{d(x, x)} \sqrt{d(y, y)} + 10^{-9}}

(Székely, Rizzo and Bakirov, Measuring and testing dependence by correlation of distances, Annals of Statistics 35,
2007), with distances :math:`\sqrt{\max(\delta^2, 0) + 10^{-9}}` as TCN-DCM (Yang et al. 2021) has them.

This estimate is biased: for *independent* Gaussians of 512 numbers it is about 0.7 at 2,000 rows. A value of 0.7 does
not mean that x and y depend on each other.
"""

from __future__ import annotations

import torch
from torch import Tensor

EPSILON = 1e-9
"""Keeps roots differentiable, as in the formula above."""

LEAST = EPSILON**2
"""No distance covariance counts as less: rounding may take it below 0, where there is no root; and at 0 no slope."""


def _centred_distances(rows: Tensor) -> Tensor:
    """Return the distances between rows (n, d), doubly centred: (n, n)."""
    rows = rows - rows.mean(dim=0)
    square = rows.square().sum(dim=1)
    distance = ((square[:, None] + square - 2 * rows @ rows.T).clamp(min=0) + EPSILON).sqrt()
    mean = distance.mean(dim=0)
    return distance - mean[:, None] - (mean - mean.mean())


def distance_correlation(
    x: Tensor, y: Tensor, *, rows: int | None = None, generator: torch.Generator | None = None
) -> Tensor:
    """Return the distance correlation of two lists of vectors, 0 to 1, in single precision or better.

    Memory and time grow with the square of the number of rows.

    Parameters
    ----------
    x, y : (n, d) and (n, e)
        Paired rows.
    rows
        Size of a random sample of rows, without replacement. Fewer rows bias the estimate up.
    generator
        Random generator on the device of `x`; None for PyTorch's own.
    """
    if rows is not None and rows < len(x):
        sample = torch.randperm(len(x), generator=generator, device=x.device)[:rows]
        x, y = x[sample], y[sample]
    with torch.autocast(x.device.type, enabled=False):  # squares of half precision are no distances
        a, b = (_centred_distances(side if side.dtype == torch.float64 else side.float()) for side in (x, y))
        covariance, of_x, of_y = (
            (left * right).mean().clamp(min=LEAST).sqrt() for left, right in ((a, b), (a, a), (b, b))
        )
        return covariance / (of_x * of_y + EPSILON).sqrt()
