r"""Semantic modulation: a video's rows are normalised over time, then scaled and shifted by the sentence.

.. math::
    a'_i = \gamma_i \frac{a_i - \mu}{\sqrt{\sigma^2 + 10^{-6}}} + \beta_i, \quad
    \gamma_i = \tanh(W_g c_i + b_g), \quad \beta_i = \tanh(W_b c_i + b_b),

with mean and biased variance of each channel over the rows of a video. The meaning :math:`c_i` is that of the words
which row i attends to (SCDM), or of the sentence for all rows (SCM). (Yuan et al. 2019, SCDM, section 3.2.)
"""

from __future__ import annotations

import abc
from typing import NamedTuple

import torch
from torch import Tensor, nn

from truemoment.learning.models.layers.additive_attention import AdditiveAttention, attended

EPSILON = 1e-6
"""Added to the variance."""


class EncodedSentence(NamedTuple):
    """Words (B, L, W), which of them are real (B, L), and the vector of the sentence (B, W)."""

    words: Tensor
    counts: Tensor
    sentence: Tensor


class Modulation(nn.Module, abc.ABC):
    """Modulation of rows of H numbers by meanings of W numbers; a subclass defines :meth:`meanings`."""

    def __init__(self, n_words: int, hidden: int) -> None:
        super().__init__()
        self.scale = nn.Linear(n_words, hidden)
        self.shift = nn.Linear(n_words, hidden)

    @abc.abstractmethod
    def meanings(self, rows: Tensor, sentence: EncodedSentence) -> tuple[Tensor, Tensor]:
        """Return W_g c + b_g and W_b c + b_b, (B, T, H) or (B, 1, H) for all rows."""

    def forward(self, rows: Tensor, sentence: EncodedSentence, counts: Tensor | None = None) -> Tensor:
        """Return modulated rows, (B, T, H).

        Parameters
        ----------
        rows : (B, T, H)
        sentence
            The sentence of each video.
        counts : (B, T) bool
            Rows that mean and variance are of, one or more of each video; None for all.
        """
        scale, shift = self.meanings(rows, sentence)
        return torch.tanh(scale) * normalised_over_time(rows, counts) + torch.tanh(shift)


class WordModulation(Modulation):
    """SCDM: each row is modulated by the words that it attends to.

    Parameters
    ----------
    n_words, hidden
        W and H.
    attention
        Dimensions in which words and rows are added.
    """

    def __init__(self, n_words: int, hidden: int, attention: int) -> None:
        super().__init__(n_words, hidden)
        self.attend = AdditiveAttention(n_words, hidden, attention)

    def meanings(self, rows: Tensor, sentence: EncodedSentence) -> tuple[Tensor, Tensor]:
        """Return means of the mapped words: weights sum to 1, so that words may be mapped before they are averaged."""
        log_weights = self.attend(sentence.words, rows, sentence.counts)
        return attended(log_weights, self.scale(sentence.words)), attended(log_weights, self.shift(sentence.words))


class SentenceModulation(Modulation):
    """SCM: all rows are modulated by the vector of the sentence."""

    def meanings(self, rows: Tensor, sentence: EncodedSentence) -> tuple[Tensor, Tensor]:
        """Return the mapped vector of the sentence."""
        del rows
        return self.scale(sentence.sentence)[:, None], self.shift(sentence.sentence)[:, None]


def normalised_over_time(rows: Tensor, counts: Tensor | None = None) -> Tensor:
    """Return rows (B, T, H) less their mean and divided by their deviation, both over the rows that count (B, T)."""
    if counts is None:
        counts = rows.new_ones(rows.shape[:2])
    share = (counts.to(rows.dtype) / counts.sum(dim=1, keepdim=True))[:, None]
    centred = rows - share @ rows
    return centred * (share @ centred.square() + EPSILON).rsqrt()
