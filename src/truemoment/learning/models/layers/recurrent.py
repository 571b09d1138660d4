"""Recurrent encoders that read a sequence in both directions, both at once.

The second direction reads the real rows reversed and starts at the true last one, so that padding has no effect. Its
states are put back in the order of the rows.
"""

from __future__ import annotations

import abc

import torch
from torch import Tensor, nn


class BothDirections(nn.Module, abc.ABC):
    """An encoder that reads rows forwards and backwards; a subclass defines :meth:`scan`."""

    @abc.abstractmethod
    def scan(self, rows: Tensor) -> Tensor:
        """Return the states (2, B, T, H) of rows (2, B, T, D), in which the second direction is reversed already."""

    def forward(self, rows: Tensor, n_rows: Tensor | None = None) -> Tensor:
        """Return the states of both directions side by side, (B, T, 2 H); 0 in the padding.

        Parameters
        ----------
        rows : (B, T, D)
        n_rows : (B,)
            Real rows of each sequence; None for all.
        """
        n_steps = rows.shape[1]
        step = torch.arange(n_steps, device=rows.device)
        if n_rows is None:
            n_rows = torch.full((len(rows),), n_steps, device=rows.device)
        mirrored = torch.where(step < n_rows[:, None], n_rows[:, None] - 1 - step, step)[:, :, None]
        backwards = rows.gather(1, mirrored.expand(-1, -1, rows.shape[2]))
        forth, back = self.scan(torch.stack([rows, backwards]))
        back = back.gather(1, mirrored.expand(-1, -1, back.shape[2]))
        return torch.cat([forth, back], dim=2).masked_fill((step >= n_rows[:, None])[:, :, None], 0.0)


class PeepholeLSTM(BothDirections):
    r"""A bidirectional LSTM whose gates look at the cell (Gers and Schmidhuber 2000), as in the code of ABLR.

    With :math:`(i, j, f, o) = W [x_t; h] + b`, vectors :math:`p` and :math:`\sigma` the sigmoid,

    .. math::
        c' &= \sigma(f + 1 + p_f c)\, c + \sigma(i + p_i c) \tanh(j) \\
        h' &= \sigma(o + p_o c') \tanh(c').

    Parameters
    ----------
    n_in, hidden
        D, and H of each direction.
    """

    def __init__(self, n_in: int, hidden: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(2, n_in + hidden, 4 * hidden))
        self.bias = nn.Parameter(torch.zeros(2, 4 * hidden))
        self.peepholes = nn.Parameter(torch.empty(2, 3, hidden))  # of the gates i, f and o
        for direction in self.weight:
            nn.init.xavier_uniform_(direction)
        nn.init.uniform_(self.peepholes, -((3 / hidden) ** 0.5), (3 / hidden) ** 0.5)

    def scan(self, rows: Tensor) -> Tensor:
        """Return the states (2, B, T, H) of rows (2, B, T, D)."""
        n_in = rows.shape[3]
        driven = torch.einsum("abtd,adh->tabh", rows, self.weight[:, :n_in]) + self.bias[:, None]
        recurrent = self.weight[:, n_in:]
        of_i, of_f, of_o = self.peepholes[:, :, None].unbind(dim=1)
        hidden = cell = driven.new_zeros(*driven.shape[1:3], recurrent.shape[1])
        states = []
        for step in driven:
            i, j, f, o = (step + hidden @ recurrent).chunk(4, dim=2)
            cell = torch.sigmoid(f + 1 + of_f * cell) * cell + torch.sigmoid(i + of_i * cell) * torch.tanh(j)
            hidden = torch.sigmoid(o + of_o * cell) * torch.tanh(cell)
            states.append(hidden)
        return torch.stack(states, dim=2)


class BidirectionalLSTM(BothDirections):
    """A bidirectional LSTM without peepholes, as PyTorch has it.

    Parameters
    ----------
    n_in, hidden
        D, and H of each direction.
    """

    def __init__(self, n_in: int, hidden: int) -> None:
        super().__init__()
        self.forth = nn.LSTM(n_in, hidden, batch_first=True)
        self.back = nn.LSTM(n_in, hidden, batch_first=True)

    def scan(self, rows: Tensor) -> Tensor:
        """Return the states (2, B, T, H) of rows (2, B, T, D)."""
        with torch.autocast(rows.device.type, enabled=False):  # not every processor has an LSTM in bfloat16
            rows = rows.to(next(self.forth.parameters()).dtype)
            return torch.stack([lstm(inputs)[0] for lstm, inputs in zip((self.forth, self.back), rows, strict=True)])
