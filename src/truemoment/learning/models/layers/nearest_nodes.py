r"""Nearest nodes of a graph, by the Euclidean distance of their features; a node is among its own neighbours.

VLG-Net's code finds the nearest nodes rightly but reads other numbers in their place: it takes the array of features,
(D, N) in memory, as if it were (N, D), so that "node j" is the numbers :math:`jD, \ldots, (j + 1) D - 1` of it. With
D = 512 and N = 64 these are eight channels of all 64 clips. :func:`node_rows` reads either.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

Reading = Literal["nearest", "published"]
"""Features of a neighbour: its own, or those that VLG-Net's code reads."""

FAR = 1e10
"""Distance to a node that does not count."""


class NearestNodes(NamedTuple):
    """The k nearest nodes of each node: positions (B, N, k) and distances (B, N, k)."""

    position: Tensor
    distance: Tensor


def nearest_nodes(nodes: Tensor, k: int, counts: Tensor | None = None) -> NearestNodes:
    """Return the nearest of nodes (B, D, N); all N where there are fewer than k.

    Parameters
    ----------
    nodes : (B, D, N)
    k
        Number of neighbours.
    counts : (B, N) bool
        Which nodes count; the distance to and from others is :data:`FAR`. None for all.
    """
    with torch.autocast(nodes.device.type, enabled=False):
        rows = nodes.transpose(1, 2)
        rows = rows.to(torch.promote_types(rows.dtype, torch.float32))
        distance = torch.cdist(rows, rows, compute_mode="donot_use_mm_for_euclid_dist")
    if counts is not None:
        distance = distance.masked_fill(~(counts[:, :, None] & counts[:, None]), FAR)
    nearest, position = distance.topk(min(k, nodes.shape[2]), dim=2, largest=False)
    return NearestNodes(position, nearest)


def node_rows(nodes: Tensor, reading: Reading) -> Tensor:
    """Return the features of each node (B, D, N) as a row, (B, N, D); or what VLG-Net's code reads in their place."""
    rows = nodes.transpose(1, 2)
    return nodes.contiguous().view(rows.shape) if reading == "published" else rows
