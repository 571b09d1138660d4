"""A decoder that writes a sentence about a segment of a video: the caption generator of WSSL.

The video is encoded once; a segment enters as the means before, inside and after it, which are the same at every word,
and as the state of the encoder at its end, which the decoder starts from. Source: the code of Weakly Supervised Dense
Event Captioning, https://github.com/XgDuan/WSDEC.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from truemoment.learning.models.layers.beam_search import beam_search
from truemoment.learning.models.layers.segment_anchors import ends_of
from truemoment.learning.models.layers.segment_context import segment_context, soft_masks
from truemoment.learning.models.layers.stacked_gru import StackedGRU


class SegmentCode(NamedTuple):
    """What the decoder knows of segments: contexts (R, 3 H), and the states (K, R, H) that it starts from."""

    context: Tensor
    start: Tensor


class CaptionGenerator(nn.Module):
    """Log probabilities of the words of a sentence, given a segment; and the most probable sentence.

    Parameters
    ----------
    n_dimensions
        Dimensions of the features.
    n_vector
        E, numbers a word vector.
    n_tokens
        V, tokens that are known.
    hidden, n_layers, dropout
        Width, layers and dropout of both GRUs.
    sharpness
        Sharpness of the ends of a segment, see :func:`truemoment.learning.models.layers.segment_context.soft_masks`.
    """

    def __init__(
        self,
        n_dimensions: int,
        n_vector: int,
        n_tokens: int,
        *,
        hidden: int,
        n_layers: int,
        dropout: float,
        sharpness: float,
    ) -> None:
        super().__init__()
        self.sharpness = sharpness
        self.encode_video = StackedGRU(n_dimensions, hidden, n_layers, dropout, residual=True)
        self.embed = nn.Embedding(n_tokens, n_vector)
        self.decode = StackedGRU(n_vector + 3 * hidden, hidden, n_layers, dropout)
        self.word = nn.Linear(hidden, n_tokens)

    def code(self, video: Tensor, n_rows: Tensor, segments: Tensor) -> SegmentCode:
        """Return what the decoder knows of A segments of each video, B A in number.

        Parameters
        ----------
        video : (B, T, D)
        n_rows : (B,)
            Real rows of each video.
        segments : (B, A, 2)
            Centre and width as shares of the video. A gradient reaches them through the contexts alone.
        """
        read = self.encode_video(video)
        masks = soft_masks(segments, n_rows, video.shape[1], self.sharpness)
        _, end = ends_of(segments)
        step = (end * n_rows[:, None]).long()
        pair = torch.arange(len(video), device=video.device)[:, None]
        return SegmentCode(
            segment_context(read.outputs, masks.to(read.outputs.dtype)).flatten(0, 1),
            read.states[:, pair, step].flatten(1, 2),
        )

    def forward(self, code: SegmentCode, tokens: Tensor) -> Tensor:
        """Return log probabilities of each next token (R, L, V) after the tokens (R, L) of a sentence."""
        context = code.context[:, None].expand(-1, tokens.shape[1], -1)
        read = self.decode(torch.cat([self.embed(tokens), context], dim=2), code.start)
        return self._log_probability(read.outputs)

    def sentences(self, code: SegmentCode, *, begin: int, end: int, width: int, max_tokens: int) -> Tensor:
        """Return the sentence of each segment, tokens (R, max_tokens), by a beam search of `width` beams."""

        def step(tokens: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
            context = code.context[:, None].expand(-1, width, -1)
            rows = torch.cat([self.embed(tokens), context], dim=2).flatten(0, 1)
            read = self.decode(rows[:, None], states.flatten(1, 2))
            log_probability = self._log_probability(read.outputs[:, 0])
            return log_probability.reshape(*tokens.shape, -1), read.states[:, :, 0].reshape(states.shape)

        return beam_search(step, code.start, begin=begin, end=end, width=width, max_tokens=max_tokens)

    def _log_probability(self, outputs: Tensor) -> Tensor:
        return torch.log_softmax(self.word(outputs), dim=-1)
