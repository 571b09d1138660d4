r"""What every location of a pyramid over time learns: whether it lies in the moment, and how far off both ends are.

The FCOS rule (Tian et al. 2019) in one dimension. Level l has the locations :math:`t = (k + 1/2) \, 2^l`, in clips.
With the distances :math:`d_s = t - s` and :math:`d_e = e - t` to a moment from s to e, a location is positive if

.. math:: \min(d_s, d_e) > 0 \quad\text{and}\quad a_l \le \max(d_s, d_e) \le b_l.

DRN (Zeng et al. 2020) has the ranges [-1, 6], [5.6, 11] and from 11 for 32 clips; they are scaled for other numbers of
clips. Ranges overlap, so that two levels can have positive locations for one moment.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

RANGES = ((-1.0, 6.0), (5.6, 11.0), (11.0, math.inf))
"""Smallest and largest distance of each level to an end of the moment, in clips of :data:`RANGES_OF`."""

RANGES_OF = 32
"""Clips of a video that the ranges are stated for."""

STRIDES = tuple(2**level for level in range(len(RANGES)))
"""Clips from one location of a level to the next."""


class PyramidLocations(NamedTuple):
    """The P locations of all levels: time, least and greatest distance, each (P,), in clips."""

    at: Tensor
    least: Tensor
    most: Tensor


class DenseTargets(NamedTuple):
    """Which locations are positive, (B, P), and distances to start and end in clips, (B, P, 2)."""

    positive: Tensor
    distances: Tensor


def pyramid_locations(n_clips: int) -> PyramidLocations:
    """Return the locations of each level, the finest first, in float64.

    Parameters
    ----------
    n_clips
        Clips of a video, a multiple of 4.

    Examples
    --------
    >>> locations = pyramid_locations(8)
    >>> locations.at.tolist()
    [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 1.0, 3.0, 5.0, 7.0, 2.0, 6.0]
    >>> locations.most[[0, 8, 12]].tolist()
    [1.5, 2.75, inf]
    """
    rows = [
        (stride * (k + 0.5), least * n_clips / RANGES_OF, most * n_clips / RANGES_OF)
        for stride, (least, most) in zip(STRIDES, RANGES, strict=True)
        for k in range(n_clips // stride)
    ]
    return PyramidLocations(*torch.tensor(rows, dtype=torch.float64).unbind(dim=1))


def dense_targets(moment: Tensor, locations: PyramidLocations) -> DenseTargets:
    """Return the targets of moments (B, 2) in clips; a moment of NaN has no positive location.

    Examples
    --------
    >>> locations = pyramid_locations(32)
    >>> targets = dense_targets(torch.tensor([[8.0, 24.0]]), locations)
    >>> locations.at[targets.positive[0]].tolist()
    [13.0, 15.0, 17.0, 19.0, 10.0, 22.0]
    """
    distances = torch.stack([locations.at - moment[:, :1], moment[:, 1:] - locations.at], dim=2)
    nearest, furthest = distances.amin(dim=2), distances.amax(dim=2)
    positive = (nearest > 0) & (furthest >= locations.least) & (furthest <= locations.most)
    return DenseTargets(positive, distances)


def segments_at(distances: Tensor, at: Tensor) -> Tensor:
    """Return start and end (..., P, 2) of the segments that reach `distances` (..., P, 2) around times (P,)."""
    return torch.stack([at - distances[..., 0], at + distances[..., 1]], dim=-1)
