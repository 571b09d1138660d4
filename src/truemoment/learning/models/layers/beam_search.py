"""Beam search over many sequences at once.

A sequence that ends leaves its beam, and the most probable of all that have ended, or that are as long as allowed, is
returned. Probabilities are not divided by the length. No step waits for the device: the number of steps is fixed.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor


class NextToken(Protocol):
    """What continues sequences."""

    def __call__(self, tokens: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
        """Return log probabilities (R, W, V) and states after the last tokens (R, W) of beams with states."""
        ...


def beam_search(step: NextToken, states: Tensor, *, begin: int, end: int, width: int, max_tokens: int) -> Tensor:
    """Return the tokens of the best sequence of each row, (R, max_tokens); `end` where it has ended.

    Parameters
    ----------
    step
        Continues the beams by one token.
    states : (K, R, H)
        States that the rows start from.
    begin, end
        Tokens that every sequence begins with, which is not returned, and that ends it.
    width
        W, beams of a row, not more than there are tokens.
    max_tokens
        Tokens of a sequence.
    """
    n_rows, device = states.shape[1], states.device
    states = states[:, :, None].expand(-1, -1, width, -1)
    last = torch.full((n_rows, width), begin, device=device)
    score = torch.zeros(n_rows, width, dtype=states.dtype, device=device)
    score[:, 1:] = -torch.inf  # the beams begin alike
    tokens = torch.full((n_rows, width, max_tokens), end, device=device)
    best_score, best = score[:, 0] - torch.inf, tokens[:, 0]
    for at in range(max_tokens):
        log_probability, states = step(last, states)
        likely, token = log_probability.topk(width, dim=2)  # no other token of a beam can be among the best
        score, choice = (score[:, :, None] + likely.to(score.dtype)).flatten(1).topk(width, dim=1)
        parent, last = choice // width, token.flatten(1).gather(1, choice)
        tokens = tokens.gather(1, parent[:, :, None].expand_as(tokens)).clone()
        tokens[:, :, at] = last
        states = states.gather(2, parent[None, :, :, None].expand_as(states))
        ended = (last == end) | (at == max_tokens - 1)
        best_score, best = _better(best_score, best, score.masked_fill(~ended, -torch.inf), tokens)
        score = score.masked_fill(last == end, -torch.inf)
    return best


def _better(score: Tensor, tokens: Tensor, scores: Tensor, candidates: Tensor) -> tuple[Tensor, Tensor]:
    """Return the better one of a sequence (R,), (R, S) and the best of the candidates (R, W), (R, W, S)."""
    highest, beam = scores.max(dim=1)
    candidate = candidates.gather(1, beam[:, None, None].expand(-1, 1, candidates.shape[2])).squeeze(1)
    wins = highest > score
    return torch.where(wins, highest, score), torch.where(wins[:, None], candidate, tokens)
