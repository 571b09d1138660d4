"""Dropout whose draws are quick on a processor: four numbers of 16 bits from each random word.

PyTorch draws a word a number there, which takes a quarter of a training step of a transformer. The rate is rounded to a
multiple of 2^-16. On other devices it is PyTorch's dropout.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

LANES, LEVELS = 4, 1 << 16
"""Numbers of a random word, and values of each."""


class QuickDropout(nn.Module):
    """Dropout at a rate, in training."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    @property
    def drops(self) -> bool:
        """Whether it does anything now."""
        return self.training and self.rate > 0

    def forward(self, rows: Tensor) -> Tensor:
        """Return rows, some of them 0 and the others as much larger."""
        if not self.drops:
            return rows
        if rows.device.type != "cpu":
            return functional.dropout(rows, self.rate)
        return rows * kept(rows.shape, self.rate).to(rows.dtype).div_(1 - self.rate)


def kept(shape: torch.Size, rate: float) -> Tensor:
    """Return True for numbers that are kept, each dropped with this probability.

    Examples
    --------
    >>> _ = torch.manual_seed(0)
    >>> round(float(kept(torch.Size([300, 300]), 0.1).float().mean()), 2)
    0.9
    """
    size = shape.numel()
    words = torch.empty(-(-size // LANES), dtype=torch.int64).random_(-(1 << 63), None)
    return (words.view(torch.int16)[:size] >= round(rate * LEVELS) - LEVELS // 2).view(shape)
