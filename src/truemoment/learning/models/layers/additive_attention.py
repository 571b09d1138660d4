r"""Additive attention over a set of keys, as ABLR and SCDM have it.

.. math:: \alpha_{s,l} = \text{softmax}_l \; w^\top \tanh(U k_l + W c_s + b)

(Bahdanau et al. 2015; Yuan et al. 2019, ABLR, section 3.2, and SCDM, section 3.2.)

The tanh is taken of B S L H numbers, for S contexts and L keys. They are computed a block of contexts at a time, and
once more for the gradient, so that neither pass keeps them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

BLOCK_NUMBERS = 1 << 18
"""Numbers of which the tanh is taken at a time; 1 MiB in float32, so that they stay in a processor's cache."""


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
        of_keys, of_context = self.keys(keys), self.context(context)
        weight = self.score.weight[0].to(of_keys.dtype)
        logits: Tensor = _AdditiveScores.apply(of_keys, of_context, weight)  # type: ignore[no-untyped-call]
        if counts is not None:
            logits = logits.masked_fill(~counts[:, None], torch.finfo(logits.dtype).min)
        return logits.log_softmax(dim=-1)


class _AdditiveScores(torch.autograd.Function):
    """The scores of keys (B, L, H) for contexts (B, S, H) with weights (H,), (B, S, L)."""

    @staticmethod
    def forward(ctx: Any, keys: Tensor, context: Tensor, weight: Tensor) -> Tensor:  # noqa: ANN401 - PyTorch's context
        ctx.save_for_backward(keys, context, weight)
        scores = keys.new_empty(len(keys), context.shape[1], keys.shape[1])
        for block, mixed in _mixed_blocks(keys, context):
            scores[:, block] = mixed @ weight
        return scores

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, slopes: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # noqa: ANN401 - PyTorch's context
        keys, context, weight = ctx.saved_tensors
        of_keys, of_context, of_weight = (torch.zeros_like(tensor) for tensor in ctx.saved_tensors)
        for block, mixed in _mixed_blocks(keys, context):
            slope = slopes[:, block]
            of_weight += slope.flatten() @ mixed.flatten(0, 2)
            steep = mixed.square_().neg_().add_(1).mul_(slope[..., None])
            of_keys += steep.sum(dim=1)
            torch.sum(steep, dim=2, out=of_context[:, block])
        return of_keys.mul_(weight), of_context.mul_(weight), of_weight


def _mixed_blocks(keys: Tensor, context: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """Yield blocks of contexts and the tanh of their sums with the keys, (B, block, L, H), in the same memory."""
    size = max(1, BLOCK_NUMBERS // keys.numel())
    memory = keys.new_empty(len(keys), size, *keys.shape[1:])
    for low in range(0, context.shape[1], size):
        part = context[:, low : low + size, None]
        yield slice(low, low + size), torch.add(keys[:, None], part, out=memory[:, : part.shape[1]]).tanh_()


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
