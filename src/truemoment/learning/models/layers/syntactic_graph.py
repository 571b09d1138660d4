r"""Convolution over the dependencies of a sentence: each word is updated from its heads and its dependents.

.. math::
    e_{ij} = w^\top \text{ReLU}(W_1 [h_i \,\Vert\, h_j]), \quad
    h'_i = \text{ReLU}\left( h_i + \sum_{j \sim i} \text{softmax}_j(e_{ij}) \, W_d h_j \right) + h_i

without biases, where j ~ i are both ends of a dependency (VLG-Net, Soldan et al. 2021, SyntacGCN of its code). A word
without dependencies keeps :math:`\text{ReLU}(h_i) + h_i`. Labels of dependencies are not used.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

NO_EDGE = -100.0
"""Logit of a pair of words without a dependency, as in the published code."""


class SyntacticGraph(nn.Module):
    """One convolution.

    Parameters
    ----------
    hidden
        H.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.pair = nn.Linear(2 * hidden, hidden, bias=False)
        self.score = nn.Linear(hidden, 1, bias=False)
        self.message = nn.Linear(hidden, hidden, bias=False)

    def forward(self, words: Tensor, heads: Tensor) -> Tensor:
        """Return updated words (B, L, H).

        Parameters
        ----------
        words : (B, L, H)
        heads : (B, L)
            Position of the word that each word depends on; -1 for none.
        """
        received: Tensor = self.edge_weights(words, heads) @ self.message(words)
        return (words + received).relu() + words

    def edge_weights(self, words: Tensor, heads: Tensor) -> Tensor:
        """Return the weight of word j for word i, (B, L, L); 0 where there is no dependency.

        A sentence of L words has less than 2 L edges, so that scores are of edges and not of all pairs of words.
        """
        of_receiver, of_sender = self.pair.weight.chunk(2, dim=1)
        receiver, sender = words @ of_receiver.T, words @ of_sender.T
        real = heads >= 0
        head = heads.clamp(min=0)
        number = torch.arange(heads.shape[1], device=heads.device).expand_as(heads)
        # Where two words depend on each other, the edge back is the other one's edge to its head.
        back = real & (heads.gather(1, head) != number)
        at_head = head[:, :, None].expand_as(receiver)
        to_head = self.score((receiver + sender.gather(1, at_head)).relu()).squeeze(2)
        from_head = self.score((receiver.gather(1, at_head) + sender).relu()).squeeze(2)
        length = heads.shape[1]
        cell = torch.cat([number * length + head, head * length + number], dim=1)
        is_edge, score = torch.cat([real, back], dim=1), torch.cat([to_head, from_head], dim=1)
        behind = length * length  # a cell for what is no edge
        cell = cell.where(is_edge, behind)
        logits = score.new_full((len(words), behind + 1), NO_EDGE).scatter(1, cell, score)[:, :behind]
        edges = is_edge.new_zeros(len(words), behind + 1).scatter(1, cell, is_edge)[:, :behind]
        table = (-1, length, length)
        return logits.reshape(table).softmax(dim=2) * edges.reshape(table)
