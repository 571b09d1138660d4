r"""A pyramid over the clips of a video, its points, and what each point learns.

Level l has a point every :math:`s_l = 2^l` clips, the first at 0; at the edges of clips, point k is at :math:`k s_l`.
With the distances :math:`d_s` and :math:`d_e` to the ends of a moment, a point is positive if it lies in the moment
and at most 1.5 strides from its middle, and if :math:`\max(d_s, d_e)` is in the range of its level: up to 2, 2 to 4, 4
to 8, and above 8 clips. Where moments overlap, the shortest counts. (R2-Tuning, Liu et al. 2024, and FlashVTG, Cao et
al. 2025, as their authors' code has it.)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

STRIDES = (1, 2, 4, 8)
"""Clips from one point of a level to the next."""

RADIUS = 1.5
"""Strides from the middle of a moment within which a point is positive."""


class PyramidPoints(NamedTuple):
    """The P points of all levels: time, least and greatest distance, and stride, each (P,), in clips."""

    at: Tensor
    least: Tensor
    most: Tensor
    stride: Tensor

    def inside(self, n_rows: Tensor) -> Tensor:
        """Return which points cover clips of videos with `n_rows` (B,) alone, (B, P)."""
        return self.at + self.stride <= n_rows[:, None]


class PointTargets(NamedTuple):
    """Which points are positive, (B, P), and distances to both ends in strides, (B, P, 2)."""

    positive: Tensor
    distances: Tensor


class _Halving(nn.Module):
    """A convolution over every two rows, layer norm and ReLU."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.convolve = nn.Conv1d(hidden, hidden, 2, stride=2)
        self.norm = nn.LayerNorm(hidden)

    def forward(self, rows: Tensor) -> Tensor:
        halved: Tensor = self.norm(self.convolve(rows.transpose(1, 2)).transpose(1, 2)).relu()
        return halved


class ClipPyramid(nn.ModuleList):
    """Maps of the rows of a video at each stride, each by its own halvings of the first."""

    def __init__(self, hidden: int) -> None:
        super().__init__(
            nn.Sequential(*(_Halving(hidden) for _ in range(int(math.log2(stride))))) for stride in STRIDES[1:]
        )

    def forward(self, rows: Tensor) -> list[Tensor]:
        """Return the levels (B, T / stride, H), rounded down, of rows (B, T, H); those with a row at least."""
        levels = [rows]
        levels += [level(rows) for stride, level in zip(STRIDES[1:], self, strict=True) if rows.shape[1] >= stride]
        return levels


def pyramid_points(n_rows: int, like: Tensor) -> PyramidPoints:
    """Return the points of a video of T rows, of the type and on the device of a tensor.

    Examples
    --------
    >>> len(pyramid_points(75, torch.zeros(1)).at)
    139
    """
    edges = [0.0, *map(float, STRIDES[1:]), math.inf]
    points = [
        (float(k * stride), edges[level], edges[level + 1], float(stride))
        for level, stride in enumerate(STRIDES)
        for k in range(n_rows // stride)
    ]
    return PyramidPoints(*torch.tensor(points, dtype=like.dtype, device=like.device).unbind(dim=1))


def point_targets(moments: Tensor, points: PyramidPoints) -> PointTargets:
    """Return the targets of moments (B, M, 2) in clips; NaN where there is none.

    Examples
    --------
    >>> targets = point_targets(torch.tensor([[[4.0, 7.0]]]), pyramid_points(8, torch.zeros(1)))
    >>> targets.positive[0].nonzero().ravel().tolist(), targets.distances[0, 5].tolist()
    ([5, 6, 10, 11], [1.0, 2.0])
    """
    start, end = (column[:, None] for column in moments.unbind(dim=2))  # (B, 1, M)
    at, least, most, stride = (column[:, None] for column in points)  # (P, 1)
    distances = torch.stack([at - start, end - at], dim=3)  # (B, P, M, 2)
    middle = (start + end) / 2
    low, high = torch.maximum(middle - RADIUS * stride, start), torch.minimum(middle + RADIUS * stride, end)
    furthest = distances.amax(dim=3)
    fits = (low <= at) & (at <= high) & (least <= furthest) & (furthest <= most)  # false for NaN
    length = torch.where(fits, end - start, torch.inf)
    shortest, moment = length.min(dim=2)
    distances = torch.nan_to_num(distances / stride[..., None])
    own = distances.gather(2, moment[..., None, None].expand(-1, -1, 1, 2)).squeeze(2)
    return PointTargets(torch.isfinite(shortest), own)
