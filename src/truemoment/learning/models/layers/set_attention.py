r"""Parts of transformers over clips and words: input maps, places of clips, and layers of an encoder.

A layer of the encoder is

.. math::
    x \leftarrow \text{LN}(x + \text{attention}(x + p, x + p, x)), \qquad
    x \leftarrow \text{LN}(x + W_2 \, \sigma(W_1 x)),

with places p, and ReLU, or PReLU with a learned slope, as :math:`\sigma`. (Carion et al. 2020, DETR, in the forms of
the authors' code of Moment-DETR, Lei et al. 2021, and QD-DETR, Moon et al. 2023.)
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from truemoment.learning.models.layers.positions import waves
from truemoment.learning.models.layers.quick_dropout import QuickDropout

SMALLEST_COUNT = 1e-6
"""Added to the number of rows by which places are divided, as in the authors' code."""

SLOPE = 0.25
"""Where the slope of each PReLU starts."""


class _InputLayer(nn.Module):
    """Layer norm, dropout, and a linear map."""

    def __init__(self, n_in: int, n_out: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(n_in)
        self.dropout = QuickDropout(dropout, inplace=True)
        self.linear = nn.Linear(n_in, n_out)

    def forward(self, rows: Tensor) -> Tensor:
        mapped: Tensor = self.linear(self.dropout(self.norm(rows)))
        return mapped


class InputMap(nn.ModuleList):
    """Map rows of D features to H numbers by two layers, with ReLU between."""

    def __init__(self, n_dimensions: int, hidden: int, dropout: float) -> None:
        super().__init__([_InputLayer(n_dimensions, hidden, dropout), _InputLayer(hidden, hidden, dropout)])

    def forward(self, rows: Tensor) -> Tensor:
        """Return (B, T, H) of rows (B, T, D)."""
        first, second = self
        mapped: Tensor = second(first(rows).relu())
        return mapped


class Perceptron(nn.ModuleList):
    """Linear layers of these widths, with ReLU between."""

    def __init__(self, *widths: int) -> None:
        super().__init__(nn.Linear(n_in, n_out) for n_in, n_out in itertools.pairwise(widths))

    def forward(self, rows: Tensor) -> Tensor:
        """Return rows (..., last width) of rows (..., first width)."""
        *inner, last = self
        for layer in inner:
            rows = layer(rows).relu()
        mapped: Tensor = last(rows)
        return mapped


def clip_places(n_rows: Tensor, length: int, hidden: int, kind: torch.dtype) -> Tensor:
    """Return the places (B, T, H) of the first T rows of videos with `n_rows` (B,): waves over the whole video.

    Rows after the last have its place.
    """
    count = torch.arange(1, length + 1, device=n_rows.device).to(kind).expand(len(n_rows), -1)
    last = n_rows[:, None].to(kind)
    return waves(torch.minimum(count, last) / (last + SMALLEST_COUNT) * (2 * math.pi), hidden)


def rate(clips: Tensor, whole: Tensor) -> Tensor:
    """Return the ratings (B, T) of clips (B, T, H): their products with a row (B, H) of the whole video, / sqrt(H)."""
    return (clips @ whole[:, :, None]).squeeze(2) / math.sqrt(clips.shape[2])


def by_head(rows: Tensor, heads: int) -> Tensor:
    """Return rows (B, S, H) as (B, heads, S, H / heads)."""
    return rows.reshape(*rows.shape[:2], heads, -1).transpose(1, 2)


def attend(query: Tensor, key: Tensor, value: Tensor, unseen: Tensor | None, dropout: QuickDropout) -> Tensor:
    """Return the mean of the values that each query attends to, (B, N, H).

    Parameters
    ----------
    query, key, value : (B, heads, N, ...), (B, heads, S, ...) and (B, heads, S, H / heads)
    unseen
        Keys that do not count, a mask that broadcasts to (B, heads, N, S); None if all do.
    dropout
        Of the weights.
    """
    if dropout.drops and query.device.type == "cpu":
        logits = (query / math.sqrt(query.shape[3])) @ key.transpose(2, 3)
        if unseen is not None:  # an addition is quicker than filling, and its gradient costs nothing
            logits.add_(torch.zeros_like(unseen, dtype=logits.dtype).masked_fill_(unseen, -torch.inf))
        attended: Tensor = dropout(logits.softmax(dim=3)) @ value
    else:
        seen = None if unseen is None else ~unseen
        rate = dropout.rate if dropout.drops else 0.0
        attended = functional.scaled_dot_product_attention(query, key, value, seen, rate)
    return attended.transpose(1, 2).flatten(2)


class Attention(nn.Module):
    """Attention with several heads and linear maps; parameters as of PyTorch's.

    Parameters
    ----------
    hidden, heads
        Numbers of a row, and heads.
    dropout
        Dropout rate of the weights.
    """

    def __init__(self, hidden: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * hidden, hidden))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * hidden))
        self.out_proj = nn.Linear(hidden, hidden)
        self.dropout = QuickDropout(dropout)
        nn.init.xavier_uniform_(self.in_proj_weight)
        nn.init.zeros_(self.out_proj.bias)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, unseen: Tensor | None = None) -> Tensor:
        """Return what each query row attends to, mapped, (B, N, H); `unseen` as for :func:`attend`."""
        weights, biases = self.in_proj_weight.chunk(3), self.in_proj_bias.chunk(3)
        query, key, value = (
            by_head(functional.linear(rows, weight, bias), self.heads)
            for rows, weight, bias in zip((query, key, value), weights, biases, strict=True)
        )
        attended: Tensor = self.out_proj(attend(query, key, value, unseen, self.dropout))
        return attended


class FeedForward(nn.Module):
    """What the layers have in common: two linear maps with ReLU or, with a slope to start from, PReLU between.

    Parameters
    ----------
    hidden, feedforward
        Numbers of a row, and between the two maps.
    dropout
        Dropout rate, also of what a layer adds to its rows (`residual`).
    slope
        Where the learned slope starts; None for ReLU.
    """

    def __init__(self, hidden: int, feedforward: int, dropout: float, slope: float | None) -> None:
        super().__init__()
        self.widen = nn.Linear(hidden, feedforward)
        self.narrow = nn.Linear(feedforward, hidden)
        self.norm_feedforward = nn.LayerNorm(hidden)
        self.slope = None if slope is None else nn.Parameter(torch.full((1,), slope))
        self.dropout = QuickDropout(dropout, inplace=True)
        self.residual: nn.Module = QuickDropout(dropout)

    def feed_forward(self, rows: Tensor) -> Tensor:
        """Return what the maps make of rows (B, T, H), with dropout."""
        # dropout comes before the activation, which is the same; in rows (B T, H), which no view shares
        wide = self.dropout(self.widen(rows.flatten(0, 1)))
        active = wide.relu_() if self.slope is None else prelu(wide, self.slope.to(wide.dtype))
        mapped: Tensor = self.residual(self.narrow(active).view(rows.shape))
        return mapped


class _QuickPrelu(torch.autograd.Function):
    """PReLU with one slope; the backward pass of PyTorch's takes five times as long on a processor."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, slope: Tensor) -> Tensor:  # noqa: ANN401 - as PyTorch has it
        ctx.save_for_backward(rows, slope)
        return functional.leaky_relu(rows, float(slope))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor]:  # noqa: ANN401 - as PyTorch has it
        (grad,), (rows, slope) = grads, ctx.saved_tensors
        below = torch.dot(rows.clamp(max=0).flatten(), grad.flatten())
        return torch.ops.aten.leaky_relu_backward(grad, rows, float(slope), False), below.view(1)


def prelu(rows: Tensor, slope: Tensor) -> Tensor:
    """Return rows, those below 0 times the slope (1,)."""
    if rows.device.type != "cpu":
        return functional.prelu(rows, slope)
    active: Tensor = _QuickPrelu.apply(rows, slope)  # type: ignore[no-untyped-call]
    return active


class AttentionLayer(FeedForward):
    """An attention before the two maps; parameters as for :class:`FeedForward`."""

    def __init__(self, hidden: int, heads: int, feedforward: int, dropout: float, slope: float | None = None) -> None:
        super().__init__(hidden, feedforward, dropout, slope)
        self.attention = Attention(hidden, heads, dropout)
        self.norm_attention = nn.LayerNorm(hidden)


class EncoderLayer(AttentionLayer):
    """A layer in which rows attend to each other."""

    def forward(self, rows: Tensor, place: Tensor, padding: Tensor) -> Tensor:
        """Return rows (B, T, H) with places as large; `padding` (B, T) marks rows that do not count."""
        placed = rows + place
        attended = self.attention(placed, placed, rows, padding[:, None, None])
        rows = self.norm_attention(rows + self.residual(attended))
        encoded: Tensor = self.norm_feedforward(rows + self.feed_forward(rows))
        return encoded


class WordsIntoClips(AttentionLayer):
    """A layer in which clips attend to words, which do not change; the sum goes past the first layer norm."""

    def forward(self, clips: Tensor, place: Tensor, words: Tensor, unseen: Tensor) -> Tensor:
        """Return clips (B, T, H) that attended to words (B, L, H), except to `unseen` ones, see :func:`attend`."""
        clips = clips + self.residual(self.attention(clips + place, words, words, unseen))
        encoded: Tensor = self.norm_feedforward(clips + self.feed_forward(self.norm_attention(clips)))
        return encoded


class DropPairs(nn.Module):
    """Leave out what a layer adds to the rows of some pairs, in training; the others get more (stochastic depth)."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, rows: Tensor) -> Tensor:
        """Return rows (B, T, H)."""
        if not self.training or not self.rate:
            return rows
        keeps = torch.rand(len(rows), 1, 1, device=rows.device) >= self.rate
        return rows * keeps / (1 - self.rate)


def start_matrices(*modules: nn.Module) -> None:
    """Draw all matrices of modules by Xavier's uniform rule."""
    for module in modules:
        for parameter in module.parameters():
            if parameter.ndim > 1:
                nn.init.xavier_uniform_(parameter)
