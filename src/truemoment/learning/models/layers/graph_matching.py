r"""Graph matching: clips and words are updated from neighbours, from similar nodes, and from the other kind.

With nodes x of one kind and y of the other, and sub-networks O (over 3 nodes), S and M (over 1) for each kind,

.. math::
    x'_i &= x_i + O(x)_i + S[x_i \,\Vert\, \bar x_i] + M[x_i \,\Vert\, \hat x_i], \\
    \bar x_i &= \sum_{j \in \mathcal N(i)} \text{softmax}_j(-\lVert x_i - x_j \rVert) \, x_j, \quad
    \hat x_i = \sum_j \text{softmax}_j(x_i^\top y_j) \, y_j

(ordering, semantic and matching edges of VLG-Net, Soldan et al. 2021; details from its code.) The clips are mapped once
more at the end. Words behind a sentence count for no clip and no word.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from truemoment.learning.models.layers.gcnext import GroupedMap
from truemoment.learning.models.layers.nearest_nodes import Reading, nearest_nodes, node_rows


class _NodeUpdate(nn.Module):
    """New nodes of one kind."""

    def __init__(self, hidden: int, *, neighbours: int, groups: int, width: int, reading: Reading) -> None:
        super().__init__()
        self.neighbours, self.reading = neighbours, reading
        self.ordering = GroupedMap(hidden, hidden, groups=groups, width=width, kernel=3)
        self.semantic = GroupedMap(2 * hidden, hidden, groups=groups, width=width)
        self.matching = GroupedMap(2 * hidden, hidden, groups=groups, width=width)

    def forward(self, nodes: Tensor, matched: Tensor, counts: Tensor | None, in_order: Tensor | None) -> Tensor:
        """Return nodes (B, H, N) of nodes and of what each attends to among the other kind, (B, H, N).

        `counts` (B, N) are the nodes that may be neighbours, `in_order` those that may reach the nodes beside them.
        """
        semantic = self.semantic(torch.cat([nodes, self.alike(nodes, counts)], dim=1))
        matching = self.matching(torch.cat([nodes, matched], dim=1))
        joined: Tensor = semantic + matching + self.ordering(nodes, in_order) + nodes
        return joined

    def alike(self, nodes: Tensor, counts: Tensor | None) -> Tensor:
        """Return the weighted mean of the nearest nodes of each node, (B, H, N)."""
        position, distance = nearest_nodes(nodes, self.neighbours, counts)
        rows = node_rows(nodes, self.reading)
        share = (-distance).softmax(dim=2).to(rows.dtype)
        shares = share.new_zeros(*position.shape[:2], rows.shape[1]).scatter(2, position, share)
        return (shares @ rows).transpose(1, 2)


class GraphMatching(nn.Module):
    """One layer of graph matching.

    Parameters
    ----------
    hidden
        H.
    neighbours
        Nearest nodes of a node, itself among them.
    groups, width
        Groups and width of the sub-networks.
    reading
        What is read as the features of a neighbour.
    padding
        "masked", or "published": as in the code, the last word of a sentence then also hears of the padding behind it.
    """

    def __init__(
        self,
        hidden: int,
        *,
        neighbours: int,
        groups: int,
        width: int,
        reading: Reading = "nearest",
        padding: Literal["masked", "published"] = "masked",
    ) -> None:
        super().__init__()
        self.padding = padding
        self.of_clips, self.of_words = (
            _NodeUpdate(hidden, neighbours=neighbours, groups=groups, width=width, reading=reading) for _ in range(2)
        )
        self.last = nn.Conv1d(hidden, hidden, 1)

    def forward(self, clips: Tensor, words: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
        """Return updated clips (B, H, N) and words (B, H, L); `counts` (B, L) are real words."""
        alike = clips.transpose(1, 2) @ words
        of_word = alike.masked_fill(~counts[:, None], torch.finfo(alike.dtype).min).softmax(dim=2)
        of_clip = alike.softmax(dim=1)
        new_clips = self.of_clips(clips, words @ of_word.transpose(1, 2), None, None)
        in_order = counts if self.padding == "masked" else None
        new_words = self.of_words(words, clips @ of_clip, counts, in_order)
        return self.last(new_clips).relu(), new_words
