r"""Moment-DETR: a transformer over clips and words, and slots that become moments.

Lei, Berg and Bansal: "QVHighlights: Detecting Moments and Highlights in Videos via Natural Language Queries", NeurIPS
2021; details from the authors' code, https://github.com/jayleicn/moment_detr. The encoder sees clips and words in one
row. The decoder turns learned vectors, the slots, into moments; the clips of the encoder are rated. The losses are
those of the matched slots (:mod:`~truemoment.learning.models.set_matching`) for each layer of the decoder, and
"saliency", the margin of :mod:`~truemoment.learning.models.clip_ratings`.

Differences from the code: moments are shares of the video, not of its rows (the same where all rows have one length);
a table of places of words that no output depends on is left out; of clips of equal ratings the last is the higher and
the first the lower one; and a query without ratings and without two clips outside of its reference has no margin.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from truemoment.learning.models.base import Batch, Inputs, ModelOutput
from truemoment.learning.models.clip_ratings import ClipLabels, margin_loss
from truemoment.learning.models.layers.set_attention import Attention, EncoderLayer, FeedForward, start_matrices
from truemoment.learning.models.set_model import SetModel, SetSettings


class MomentDetrSettings(SetSettings, frozen=True, forbid_unknown_fields=True):
    """Settings, see :class:`~truemoment.learning.models.set_model.SetSettings`."""


class DecoderLayer(FeedForward):
    """A layer in which slots attend to each other, then to the memory."""

    def __init__(self, hidden: int, heads: int, feedforward: int, dropout: float) -> None:
        super().__init__(hidden, feedforward, dropout, None)
        self.self_attention = Attention(hidden, heads, dropout)
        self.cross_attention = Attention(hidden, heads, dropout)
        self.norm_self, self.norm_cross = nn.LayerNorm(hidden), nn.LayerNorm(hidden)

    def forward(self, rows: Tensor, slots: Tensor, memory: Tensor, placed: Tensor, padding: Tensor) -> Tensor:
        """Return the content (B, N, H) of slots (B, N, H).

        Parameters
        ----------
        rows, slots
            What the slots became so far, and their learned vectors.
        memory, placed
            Rows (B, S, H) of the encoder, without and with their places.
        padding : (B, S)
            Rows that do not count.
        """
        query = rows + slots
        rows = self.norm_self(rows + self.residual(self.self_attention(query, query, rows)))
        attended = self.cross_attention(rows + slots, placed, memory, padding[:, None, None])
        rows = self.norm_cross(rows + self.residual(attended))
        decoded: Tensor = self.norm_feedforward(rows + self.feed_forward(rows))
        return decoded


class MomentDetr(SetModel):
    """Moment-DETR."""

    name: ClassVar[str] = "moment-detr"

    def __init__(self, settings: MomentDetrSettings, inputs: Inputs) -> None:
        super().__init__(settings, inputs)
        self.settings = settings
        layer = (settings.hidden, settings.heads, settings.feedforward, settings.dropout)
        self.encoder = nn.ModuleList(EncoderLayer(*layer) for _ in range(settings.encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(*layer) for _ in range(settings.decoder_layers))
        self.slots = nn.Parameter(torch.randn(settings.slots, settings.hidden))
        self.saliency = nn.Linear(settings.hidden, 1)
        start_matrices(self.encoder, self.decoder)

    def forward(self, batch: Batch) -> ModelOutput:
        """Score the slots; see :meth:`~truemoment.learning.models.set_model.SetModel.output_of`."""
        encoded = self.encode(batch)
        n_clips = encoded.clips.shape[1]
        memory = torch.cat([encoded.clips, encoded.words], dim=1)
        place = torch.cat([encoded.place, torch.zeros_like(encoded.words)], dim=1)
        padding = torch.cat([encoded.clip_padding, encoded.word_padding], dim=1)
        for layer in self.encoder:
            memory = layer(memory, place, padding)
        slots = self.slots.expand(len(batch), -1, -1)
        rows, layers, placed = torch.zeros_like(slots), [], memory + place
        for layer in self.decoder:
            rows = layer(rows, slots, memory, placed, padding)
            layers.append(self.decoder_norm(rows))
        rating = self.saliency(memory[:, :n_clips]).squeeze(2)
        return self.output_of(batch, torch.stack(layers), 0.0, {"rating": rating})

    def rating_losses(self, batch: Batch, extras: dict[str, Tensor], labels: ClipLabels) -> dict[str, Tensor]:
        """Return "saliency"."""
        del batch
        margin = margin_loss(extras["rating"], self.pairs_of(labels))
        return {"saliency": self.settings.saliency_weight * margin}
