r"""Location of a cell, as a fixed vector of sines and cosines.

Row a of the map (the first clip) and column b (the last) each give half of the numbers, the row first. Among the h/2
for clip c of N, counted from 1, number i is

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

from truemoment.base.errors import UsageError
from truemoment.baselines.proposals import SparseMap

TEMPERATURE = 10000.0
"""The slowest wave is this many times slower than the first, nearly."""


def _axis_codes(n_clips: int, hidden: int) -> Tensor:
    """Return the codes of the clips of one axis, (N, H / 2)."""
    if hidden < 4 or hidden % 4:
        raise UsageError(f"got {hidden} hidden numbers, expected a multiple of 4: a sine and a cosine for each axis")
    return waves(2 * math.pi * torch.arange(1, n_clips + 1).double() / n_clips, hidden // 2).float()


def waves(at: Tensor, size: int) -> Tensor:
    """Return sines (even numbers) and cosines (odd numbers) of places (...) at `size` / 2 rates, (..., size).

    Whole numbers are read as float64.
    """
    at = at if at.is_floating_point() else at.double()
    rate = TEMPERATURE ** (-2.0 * torch.arange((size + 1) // 2, dtype=at.dtype, device=at.device) / size)
    angle = at[..., None] * rate
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)[..., :size]


def index_codes(proposals: SparseMap, hidden: int) -> Tensor:
    """Return codes of the cells, (C, H) float64, by the numbers of their clips from 0, the last clip before the first.

    (VLG-Net's code, which neither divides by the number of clips nor multiplies with 2 pi.) H is a multiple of 2.
    """
    of_first, of_last = (waves(torch.as_tensor(clip), hidden // 2) for clip in proposals.cells)
    return torch.cat([of_last, of_first], dim=-1)


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

    As in TCN-DCM's code: not squared, and 1e-6 is added to each difference. (MDD, eq. 8, does not define how
    the distances are reduced; one norm over all of them would outweigh the loss of the scores a hundred times.)
    """
    return functional.pairwise_distance(predicted, codes.expand_as(predicted)).mean()
