r"""Location of a cell, as a fixed vector of sines and cosines.

Row a of the map (the first clip) and column b (the last) each give half of the numbers, the row first. Of the h/2 for
clip c of N, counted from 1, number i is

.. math::
    \sin(2 \pi c / N \cdot 10000^{-2 \lfloor i / 2 \rfloor / (h / 2)}) \text{ for even } i, \cos \text{ for odd } i,

the two-dimensional code of DETR (Carion et al., End-to-End Object Detection with Transformers, 2020) as TCN-DCM uses it
(Yang et al. 2021). Nothing here is learned.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from truemoment.exceptions import UsageError
from truemoment.proposals import SparseMap

TEMPERATURE = 10000.0
"""The slowest wave is this many times slower than the first, nearly."""


def _axis_codes(n_clips: int, hidden: int) -> Tensor:
    """Codes of the clips of one axis, (N, H / 2)."""
    if hidden < 4 or hidden % 4:
        raise UsageError(f"got {hidden} hidden numbers, expected a multiple of 4: a sine and a cosine for each axis")
    number = torch.arange(hidden // 2)
    rate = TEMPERATURE ** (-2.0 * (number // 2).double() / (hidden // 2))
    angle = 2 * math.pi * torch.arange(1, n_clips + 1).double()[:, None] / n_clips * rate
    return torch.where(number % 2 == 0, angle.sin(), angle.cos()).float()


def cell_codes(proposals: SparseMap, hidden: int) -> Tensor:
    """Return the codes of the candidate cells, (C, H); H is a multiple of 4."""
    axis = _axis_codes(proposals.n_clips, hidden)
    first, last = (torch.as_tensor(clip, device=axis.device) for clip in proposals.cells)
    return torch.cat([axis[first], axis[last]], dim=-1)


def map_codes(n_clips: int, hidden: int) -> Tensor:
    """Return the codes of all cells of a map, those below the diagonal too, by rows: (N * N, H)."""
    axis = _axis_codes(n_clips, hidden)
    return torch.cat([axis.repeat_interleave(n_clips, dim=0), axis.repeat(n_clips, 1)], dim=-1)


def position_loss(predicted: Tensor, codes: Tensor) -> Tensor:
    """Return the Euclidean distance of predicted positions (B, C, H) to the codes (C, H), mean over cells and pairs.

    As in TCN-DCM's code: not squared, and 1e-6 is added to each difference. (MDD, eq. 8, does not say how the distances
    are reduced; one norm over all of them would outweigh the loss of the scores a hundred times.)
    """
    return functional.pairwise_distance(predicted, codes.expand_as(predicted)).mean()
