r"""Additive attention over a set of keys, as ABLR and SCDM have it.

.. math:: \alpha_{s,l} = \text{softmax}_l \; w^\top \tanh(U k_l + W c_s + b)

(Bahdanau et al. 2015; Yuan et al. 2019, ABLR, section 3.2, and SCDM, section 3.2.)
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class AdditiveAttention(nn.Module):
    """Weights of keys for each of several contexts.

    Parameters
    ----------
    n_keys, n_context
        Dimensions of a key, and of a context.
    hidden
        Dimensions in which both are added.
    """

    def __init__(self, n_keys: int, n_context: int, hidden: int) -> None:
        super().__init__()
        self.keys = nn.Linear(n_keys, hidden, bias=False)
        self.context = nn.Linear(n_context, hidden)
        self.score = nn.Linear(hidden, 1, bias=False)

    def forward(self, keys: Tensor, context: Tensor, counts: Tensor | None = None) -> Tensor:
        """Return the logarithms of the weights, (B, S, L).

        Parameters
        ----------
        keys : (B, L, n_keys)
        context : (B, S, n_context)
        counts : (B, L) bool
            Which keys count, one or more in each row; None for all. The others have a weight of 0.
        """
        mixed = torch.tanh(self.keys(keys)[:, None] + self.context(context)[:, :, None])
        logits: Tensor = self.score(mixed).squeeze(-1)
        if counts is not None:
            logits = logits.masked_fill(~counts[:, None], torch.finfo(logits.dtype).min)
        return logits.log_softmax(dim=-1)


def attended(log_weights: Tensor, keys: Tensor) -> Tensor:
    """Return the weighted mean of keys (B, L, D) for each context, (B, S, D); log weights (B, S, L)."""
    return log_weights.exp() @ keys


def real_words(n_words: Tensor, length: int) -> Tensor:
    """Return which of `length` positions are words of each sentence, (B, L)."""
    return torch.arange(length, device=n_words.device) < n_words[:, None]


def mean_of(rows: Tensor, counts: Tensor) -> Tensor:
    """Return the mean of the rows (B, L, D) that count (B, L), (B, D); 0 where none does."""
    weight = counts[:, :, None].to(rows.dtype)
    return (rows * weight).sum(dim=1) / weight.sum(dim=1).clamp(min=1)
