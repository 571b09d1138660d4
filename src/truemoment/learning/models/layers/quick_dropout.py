"""Dropout whose draws are quick on a processor: four numbers of 16 bits from each random word.

PyTorch draws a word a number there, which takes a quarter of a training step of a transformer. The rate is rounded to a
multiple of 2^-16. On other devices it is PyTorch's dropout.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

LANES, LEVELS = 4, 1 << 16
"""Numbers of a random word, and values of each."""


class QuickDropout(nn.Module):
    """Dropout at a rate, in training.

    Parameters
    ----------
    rate
        Share of the numbers that become 0.
    inplace
        Whether the rows that come in are changed: nothing else may need them, nor their gradient.
    """

    def __init__(self, rate: float, *, inplace: bool = False) -> None:
        super().__init__()
        self.rate = rate
        self.inplace = inplace

    @property
    def drops(self) -> bool:
        """Whether it does anything now."""
        return self.training and self.rate > 0

    def forward(self, rows: Tensor) -> Tensor:
        """Return rows, some of them 0 and the others as much larger."""
        if not self.drops:
            return rows
        if rows.device.type != "cpu":
            return functional.dropout(rows, self.rate, inplace=self.inplace)
        factors = drawn_factors(rows.shape, self.rate).to(rows.dtype)
        return rows.mul_(factors) if self.inplace else rows * factors


def drawn_factors(shape: torch.Size, rate: float) -> Tensor:
    """Return 0 for numbers that are dropped, each with this probability, and 1 / (1 - rate) for the others.

    Examples
    --------
    >>> _ = torch.manual_seed(0)
    >>> factors = drawn_factors(torch.Size([300, 300]), 0.1)
    >>> round(float(factors.mean()), 2), round(float(factors.max()), 2)
    (1.0, 1.11)
    """
    size = shape.numel()
    stream = np.random.SFC64(int(torch.randint(1 << 62, ())))  # three times as quick as PyTorch's own
    numbers = stream.random_raw(-(-size // LANES)).view(np.int16)[:size]
    factors = np.empty(size, dtype=np.float32)
    np.multiply(numbers >= round(rate * LEVELS) - LEVELS // 2, np.float32(1 / (1 - rate)), out=factors)
    return torch.from_numpy(factors).view(shape)
