r"""GCNeXt: a block of a graph of clips, with an edge to the clips beside and to the clips nearest in features.

.. math::
    y_i = \text{ReLU}\left( x_i + T(x)_i + \max_{j \in \mathcal N(i)} S[x_j \,\Vert\, x_i] \right),

where T and S are a map to few numbers, a grouped convolution (over 3 clips in T, over 1 in S) and a map back, and N(i)
are the k nearest clips (Xu et al., G-TAD, CVPR 2020, section 3.2, as VLG-Net uses it). There is no normalisation.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from truemoment.learning.models.layers.nearest_nodes import Reading, nearest_nodes, node_rows


class GroupedMap(nn.Module):
    """A map to `groups` times `width` numbers, a grouped convolution, and a map back: (B, D, N) to (B, H, N).

    Parameters
    ----------
    n_in, n_out
        D and H.
    groups, width
        Groups of the convolution, and numbers of each.
    kernel
        Kernel of the convolution, odd.
    """

    def __init__(self, n_in: int, n_out: int, *, groups: int, width: int, kernel: int = 1) -> None:
        super().__init__()
        between = groups * width
        self.first = nn.Conv1d(n_in, between, 1)
        self.grouped = nn.Conv1d(between, between, kernel, padding=kernel // 2, groups=groups)
        self.last = nn.Conv1d(between, n_out, 1)

    def forward(self, nodes: Tensor, counts: Tensor | None = None) -> Tensor:
        """Map nodes (B, D, N); those that do not count, by (B, N), reach no other node."""
        between = self.first(nodes)
        if counts is not None:
            between = between.masked_fill(~counts[:, None], 0.0)
        return self.map_last(between)

    def map_last(self, between: Tensor) -> Tensor:
        """Return what follows the first map, (B, groups * width, N) to (B, H, N)."""
        mapped: Tensor = self.last(self.grouped(between.relu()).relu())
        return mapped


class GCNeXt(nn.Module):
    """A block on clips (B, H, N).

    Parameters
    ----------
    hidden
        H.
    neighbours
        k, at most N are used.
    groups, width
        Groups and width of the grouped convolutions.
    reading
        What is read as the features of a neighbour.
    """

    def __init__(self, hidden: int, *, neighbours: int, groups: int, width: int, reading: Reading) -> None:
        super().__init__()
        self.neighbours, self.reading = neighbours, reading
        self.temporal = GroupedMap(hidden, hidden, groups=groups, width=width, kernel=3)
        self.semantic = GroupedMap(2 * hidden, hidden, groups=groups, width=width)

    def forward(self, clips: Tensor) -> Tensor:
        """Return clips of the same shape."""
        joined: Tensor = clips + self.temporal(clips) + self.edges(clips)
        return joined.relu()

    def edges(self, clips: Tensor) -> Tensor:
        """Return the maximum over the edges to the nearest clips; each end is mapped once, not once an edge."""
        first, hidden = self.semantic.first, clips.shape[1]
        position = nearest_nodes(clips.detach(), self.neighbours).position
        of_neighbour, of_self = first.weight[:, :hidden, 0], first.weight[:, hidden:]
        ends = functional.linear(node_rows(clips, self.reading), of_neighbour)  # (B, N, W)
        node = functional.conv1d(clips, of_self, first.bias)  # (B, W, N)
        n_pairs, n_clips, k = position.shape
        at = position.flatten(1)[:, :, None].expand(-1, -1, ends.shape[2])
        neighbour = ends.gather(1, at).transpose(1, 2).reshape(n_pairs, -1, n_clips, k)  # (B, W, N, k)
        edges = self.semantic.map_last((neighbour + node[..., None]).flatten(2))
        return edges.view(n_pairs, hidden, n_clips, k).amax(dim=3)
