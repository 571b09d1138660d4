r"""The recurrent cell of SCDM's code: its gates read the input alone, and its state is squashed.

With :math:`x' = W x` and :math:`(f, r) = \sigma(V x + b)`,

.. math::
    c_t &= \tanh(f c_{t-1} + (1 - f)\, x'_t) \\
    h_t &= r c_t + (1 - r)\, x'_t,

from :math:`c_0 = 0`. The simple recurrent unit (Lei et al. 2018) has no tanh in the first line.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from truemoment.learning.models.layers.recurrent import BothDirections


class SquashedSRU(BothDirections):
    """A bidirectional encoder of these cells.

    Parameters
    ----------
    n_in, hidden
        D, and H of each direction.
    """

    def __init__(self, n_in: int, hidden: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(2, n_in, 3 * hidden))  # W, then V of f and of r
        self.bias = nn.Parameter(torch.zeros(2, 2 * hidden))  # of f and r
        for direction in range(2):
            nn.init.xavier_uniform_(self.weight[direction, :, :hidden])
            nn.init.xavier_uniform_(self.weight[direction, :, hidden:])

    def scan(self, rows: Tensor) -> Tensor:
        """Return the states (2, B, T, H) of rows (2, B, T, D)."""
        hidden = self.weight.shape[2] // 3
        driven = torch.einsum("abtd,adh->abth", rows, self.weight)
        x = driven[..., :hidden]
        forget, keep = torch.sigmoid(driven[..., hidden:] + self.bias[:, None, None]).chunk(2, dim=3)
        fresh = (1 - forget) * x
        cell, cells = torch.zeros_like(x[:, :, 0]), []
        for gate, step in zip(forget.unbind(dim=2), fresh.unbind(dim=2), strict=True):
            cell = torch.tanh(gate * cell + step)
            cells.append(cell)
        return keep * torch.stack(cells, dim=2) + (1 - keep) * x
