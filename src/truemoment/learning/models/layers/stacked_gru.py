"""A GRU of several layers that returns the states of all layers at every step."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn


class RecurrentStates(NamedTuple):
    """Outputs (B, T, H) of the last layer, with the residual if there is one, and states (K, B, T, H) of K layers."""

    outputs: Tensor
    states: Tensor

    def at(self, step: Tensor) -> Tensor:
        """Return the states of all layers at one step of each sequence (B,), (K, B, H)."""
        rows = torch.arange(len(step), device=step.device)
        return self.states[:, rows, step]


class StackedGRU(nn.Module):
    """A GRU that reads forwards, with dropout between its layers, drawn anew for every step.

    Padding at the end changes no state before it.

    Parameters
    ----------
    n_in, hidden
        D and H.
    n_layers
        K.
    dropout
        Dropout of the states between layers.
    residual
        Whether a linear map of the rows, without bias, is added to the outputs.
    """

    def __init__(self, n_in: int, hidden: int, n_layers: int, dropout: float, *, residual: bool = False) -> None:
        super().__init__()
        widths = [n_in, *[hidden] * (n_layers - 1)]
        self.layers = nn.ModuleList(nn.GRU(width, hidden, batch_first=True) for width in widths)
        self.dropout = nn.Dropout(dropout)
        self.residual = nn.Linear(n_in, hidden, bias=False) if residual else None

    def forward(self, rows: Tensor, before: Tensor | None = None) -> RecurrentStates:
        """Read rows (B, T, D) from the states (K, B, H), or from 0."""
        states: list[Tensor] = []
        with torch.autocast(rows.device.type, enabled=False):  # not every processor has a GRU in bfloat16
            read = rows = rows.to(next(self.layers.parameters()).dtype)
            for number, layer in enumerate(self.layers):
                start = None if before is None else before[number : number + 1].to(rows.dtype).contiguous()
                read, _ = layer(self.dropout(read) if states else read, start)
                states.append(read)
            outputs = read if self.residual is None else read + self.residual(rows)
        return RecurrentStates(outputs, torch.stack(states))
