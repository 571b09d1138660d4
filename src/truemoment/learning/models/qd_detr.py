r"""QD-DETR: clips that attend to the words first, moments that are refined layer by layer, and pairs that do not fit.

Moon, Hyun, Park, Park and Heo: "Query-Dependent Video Representation for Moment Retrieval and Highlight Detection",
CVPR 2023; details from the authors' code, https://github.com/wjun0830/QD-DETR. What differs from Moment-DETR:

- the words go into the clips by an attention, and the encoder sees clips and a learned *global row*, no words;
- a slot is an *anchor*, a centre and a width, which each layer of the decoder refines and reads the clips around;
- the rating of a clip is its product with the global row;
- each video is also encoded with the sentence of the next query of the batch, for which all its clips should rate low.

The losses of the ratings are "margin", "rank" and "negative" (:mod:`~truemoment.learning.models.clip_ratings`).

Differences from the code: those of Moment-DETR; words are hidden only where they are padding (`mask`), whereas in the
code the answers to a query depend on its batch; and a query whose next query is of the same video has no negative pair
(`negatives`).
"""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from truemoment.learning.models.base import Batch, Inputs, ModelOutput
from truemoment.learning.models.clip_model import Encoded
from truemoment.learning.models.clip_ratings import (
    ClipLabels,
    contrast_losses,
    margin_loss,
    negative_loss,
    next_is_other_video,
)
from truemoment.learning.models.layers.positions import waves
from truemoment.learning.models.layers.quick_dropout import QuickDropout
from truemoment.learning.models.layers.set_attention import (
    SLOPE,
    EncoderLayer,
    FeedForward,
    Perceptron,
    WordsIntoClips,
    attend,
    by_head,
    rate,
    start_matrices,
)
from truemoment.learning.models.set_model import SetModel, SetSettings

SMALLEST_SHARE = 1e-3
"""Shares below this, or as near to 1, have the logit of this."""


class QdDetrSettings(SetSettings, frozen=True, forbid_unknown_fields=True):
    """Settings beside those of :class:`~truemoment.learning.models.set_model.SetSettings`.

    Parameters
    ----------
    mask
        Words that clips do not see: "padding", or as in the "published" code, where a head may also hide words that are
        padding of another query of the batch.
    negatives
        Whether the next query of a batch is a negative pair if it is of "other videos", or, as in the "published" code,
        always.
    """

    mask: Literal["padding", "published"] = "padding"
    negatives: Literal["other videos", "published"] = "other videos"


class AnchorDecoderLayer(FeedForward):
    """A layer in which slots attend to each other by their places, then to clips around their anchors.

    Parameters
    ----------
    hidden, heads, feedforward, dropout
        As for an encoder layer.
    first
        Whether it is the first layer, in which places also count where contents are compared.
    """

    def __init__(self, hidden: int, heads: int, feedforward: int, dropout: float, *, first: bool) -> None:
        super().__init__(hidden, feedforward, dropout, SLOPE)
        self.heads, self.weight_dropout = heads, QuickDropout(dropout)
        self.self_query, self.self_query_place = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.self_key, self.self_key_place = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.self_value, self.self_out = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.cross_query, self.cross_query_code = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.cross_key, self.cross_key_place = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.cross_value, self.cross_out = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.cross_query_place = nn.Linear(hidden, hidden) if first else None
        self.norm_self, self.norm_cross = nn.LayerNorm(hidden), nn.LayerNorm(hidden)

    def forward(self, rows: Tensor, slot_place: Tensor, code: Tensor, encoded: Encoded) -> Tensor:
        """Return the content of the slots, (B, N, H).

        Parameters
        ----------
        rows, slot_place, code : (B, N, H)
            What the slots became so far, and the place and code of their anchors.
        encoded
            Clips of the encoder with their places; its words are not read.
        """
        clips, unseen = encoded.clips, encoded.clip_padding[:, None, None]
        query = self.self_query(rows) + self.self_query_place(slot_place)
        key = self.self_key(rows) + self.self_key_place(slot_place)
        query, key, value = (by_head(part, self.heads) for part in (query, key, self.self_value(rows)))
        attended = attend(query, key, value, None, self.weight_dropout)
        rows = self.norm_self(rows + self.residual(self.self_out(attended)))
        query, key, key_place = self.cross_query(rows), self.cross_key(clips), self.cross_key_place(encoded.place)
        if self.cross_query_place is not None:
            query, key = query + self.cross_query_place(slot_place), key + key_place
        code, value = self.cross_query_code(code), self.cross_value(clips)
        query, code, key, key_place, value = (
            by_head(part, self.heads) for part in (query, code, key, key_place, value)
        )
        query, key = torch.cat([query, code], dim=3), torch.cat([key, key_place], dim=3)
        attended = attend(query, key, value, unseen, self.weight_dropout)
        rows = self.norm_cross(rows + self.residual(self.cross_out(attended)))
        decoded: Tensor = self.norm_feedforward(rows + self.feed_forward(rows))
        return decoded


def logit(share: Tensor) -> Tensor:
    """Return the logit of shares, those near 0 and 1 moved inside."""
    share = share.clamp(0, 1)
    return (share.clamp(min=SMALLEST_SHARE) / (1 - share).clamp(min=SMALLEST_SHARE)).log()


class QdDetr(SetModel):
    """QD-DETR."""

    name: ClassVar[str] = "qd-detr"
    least_batch: ClassVar[int] = 2

    def __init__(self, settings: QdDetrSettings, inputs: Inputs) -> None:
        super().__init__(settings, inputs)
        self.settings = settings
        hidden, n_encoder = settings.hidden, settings.encoder_layers
        layer = (hidden, settings.heads, settings.feedforward, settings.dropout)
        self.words_into_clips = nn.ModuleList(WordsIntoClips(*layer, SLOPE) for _ in range(n_encoder))
        self.encoder = nn.ModuleList(EncoderLayer(*layer, SLOPE) for _ in range(n_encoder))
        self.decoder = nn.ModuleList(
            AnchorDecoderLayer(*layer, first=number == 0) for number in range(settings.decoder_layers)
        )
        self.global_row, self.global_place = (nn.Parameter(torch.randn(hidden)) for _ in range(2))
        self.anchors = nn.Parameter(torch.randn(settings.slots, 2))
        self.code_scale = Perceptron(hidden, hidden, hidden)
        self.slot_place = Perceptron(hidden, hidden, hidden)
        self.refine = Perceptron(hidden, hidden, hidden, 2)
        self.width_gate = Perceptron(hidden, hidden, 1)
        self.saliency_clip, self.saliency_global = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        parts = (self.words_into_clips, self.encoder, self.decoder)
        start_matrices(*parts, self.code_scale, self.slot_place, self.refine, self.width_gate)
        nn.init.zeros_(self.refine[-1].get_parameter("bias"))

    def forward(self, batch: Batch) -> ModelOutput:
        """Score the slots; in training, "other rating" has the ratings with the sentence of the next query."""
        encoded = self.encode(batch)
        clips, rating = self._read(encoded)
        ratings = {"rating": rating}
        if self.training:
            ratings["other rating"] = self._read(encoded.with_next_words())[1]
        layers, anchors = self._decode(encoded, clips)
        return self.output_of(batch, layers, logit(anchors), ratings)

    def _read(self, encoded: Encoded) -> tuple[Tensor, Tensor]:
        """Return the clips (B, T, H) that the words went into, and their ratings (B, T)."""
        clips, place = encoded.clips, encoded.place
        unseen = self._unseen(encoded)
        for layer in self.words_into_clips:
            clips = layer(clips, place, encoded.words, unseen)
        n_pairs = len(clips)
        rows = torch.cat([self.global_row.expand(n_pairs, 1, -1), clips], dim=1)
        places = torch.cat([self.global_place.expand(n_pairs, 1, -1), place], dim=1)
        padding = functional.pad(encoded.clip_padding, (1, 0), value=False)
        for layer in self.encoder:
            rows = layer(rows, places, padding)
        whole, clips = rows[:, 0], rows[:, 1:]
        return clips, rate(self.saliency_clip(clips), self.saliency_global(whole))

    def _unseen(self, encoded: Encoded) -> Tensor:
        """Return which words clips do not see, (B, 1, 1, L), or (B, heads, T, L) as published."""
        padding = encoded.word_padding[:, None, None]
        if self.settings.mask == "padding":
            return padding
        both = encoded.clip_padding[:, :, None] & encoded.word_padding[:, None]
        # head h of query b has row b * heads + h of the repeated masks, that of another query
        repeated = both.repeat(self.settings.heads, 1, 1).reshape(len(both), self.settings.heads, *both.shape[1:])
        return repeated | padding

    def _decode(self, encoded: Encoded, clips: Tensor) -> tuple[Tensor, Tensor]:
        """Return vectors (K, B, N, H) of the slots after each layer, and the anchors (K, B, N, 2) that entered it."""
        anchor = self.anchors.sigmoid().expand(len(clips), -1, -1)
        encoded = encoded._replace(clips=clips)
        rows = clips.new_zeros(*anchor.shape[:2], clips.shape[2])
        layers, anchors = [], [anchor]
        for number, layer in enumerate(self.decoder):
            code = waves(anchor * (2 * math.pi), clips.shape[2] // 2).flatten(2).to(clips.dtype)
            scale = self.code_scale(rows) if number else 1.0
            gate = self.width_gate(rows).sigmoid() / anchor[..., 1:]
            slot_place = self.slot_place(code)
            rows = layer(rows, slot_place, code * scale * gate, encoded)
            layers.append(self.decoder_norm(rows))
            anchors.append((self.refine(rows) + logit(anchor)).sigmoid())
            anchor = anchors[-1].detach()
        return torch.stack(layers), torch.stack(anchors[:-1])

    def rating_losses(self, batch: Batch, extras: dict[str, Tensor], labels: ClipLabels) -> dict[str, Tensor]:
        """Return "margin", and in training "rank" and "negative"."""
        weight, rating = self.settings.saliency_weight, extras["rating"]
        terms = {"margin": weight * margin_loss(rating, self.pairs_of(labels))}
        if "other rating" not in extras:
            return terms
        video, other = batch.require("video"), extras["other rating"]
        by_code = self.settings.negatives == "published"
        has_negative = torch.ones_like(labels.by_people) if by_code else next_is_other_video(video)
        rank, is_negative = contrast_losses(rating, other, labels, has_negative)
        return terms | {"rank": weight * rank, "negative": weight * negative_loss(other, is_negative)}
