r"""MDD's gated query: the verbs of a sentence and their nouns, added to the sentence as a whole.

The tree of a sentence has its verbs, and under each verb its nouns. With :math:`q` the sentence and :math:`h` the query
encoder's output at a token (Lan et al. 2023, eqs. 3 to 7; W without biases):

.. math::
    a^v_i &= W_a \tanh[W_p q \,\Vert\, W_c h^v_i], \quad
    \bar h^v = \sum_i \text{softmax}(a^v)_i \, h^v_i \\
    a^n_j &= W_a \tanh[W_p \bar h^v \,\Vert\, W_c h^n_j] \\
    g_k &= \beta_0 h^v_k + \sum_l \beta_l h^n_{c_{k,l}}, \quad
    \beta = \text{softmax}(a^v_k, a^n_{c_{k,1}}, \ldots) \\
    \bar g &= \text{mean}_k \, g_k, \quad q^f = q + q \bar g.

The paper leaves two cases open. A sentence without verbs has :math:`\bar g = 0`; a verb without nouns :math:`g_k =
h^v_k`. A noun may belong to several verbs.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def _softmax_where(logits: Tensor, counts: Tensor) -> Tensor:
    """Softmax over the last axis among the entries that count; 0 elsewhere, and everywhere where none counts."""
    least = torch.finfo(logits.dtype).min
    return logits.masked_fill(~counts, least).softmax(dim=-1) * counts


def _take(rows: Tensor, position: Tensor) -> Tensor:
    """Rows (B, L, ...) at positions (B, ...), (B, ..., rest); at position -1 anything."""
    pair = torch.arange(len(rows), device=rows.device).view(-1, *[1] * (position.ndim - 1))
    return rows[pair, position.clamp(min=0)]


class PhraseAttention(nn.Module):
    """Gate each sentence vector by its verbs and nouns."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.parent = nn.Linear(hidden, hidden, bias=False)
        self.child = nn.Linear(hidden, hidden, bias=False)
        self.score = nn.Linear(2 * hidden, 1, bias=False)

    def forward(self, sentence: Tensor, tokens: Tensor, verbs: Tensor, nouns: Tensor) -> Tensor:
        """Return the gated query :math:`q^f`, (B, H), of `sentence` (B, H) and `tokens` (B, L, H).

        `verbs` (B, V) and `nouns` (B, V, K) are positions among the tokens, padded with -1.
        """
        of_parent, of_child = self.score.weight[0].chunk(2)  # W_a on the two halves: a sum of two scores
        children = self.child(tokens).tanh() @ of_child  # (B, L)
        is_verb = verbs >= 0
        is_noun = (nouns >= 0) & is_verb[:, :, None]
        verb, noun = _take(tokens, verbs), _take(tokens, nouns)  # (B, V, H), (B, V, K, H)

        verb_score = (self.parent(sentence).tanh() @ of_parent)[:, None] + _take(children, verbs)  # (B, V)
        all_verbs = torch.einsum("bv,bvh->bh", _softmax_where(verb_score, is_verb), verb)
        noun_score = (self.parent(all_verbs).tanh() @ of_parent)[:, None, None] + _take(children, nouns)  # (B, V, K)

        share = _softmax_where(
            torch.cat([verb_score[:, :, None], noun_score], dim=2), torch.cat([is_verb[:, :, None], is_noun], dim=2)
        )
        phrases = torch.einsum("bvk,bvkh->bh", share, torch.cat([verb[:, :, None], noun], dim=2))
        gate = phrases / is_verb.sum(dim=1, keepdim=True).clamp(min=1)
        return sentence + sentence * gate
