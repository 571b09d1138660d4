"""What the models have in common that predict a set of moments and rate every clip of the video.

A subclass encodes clips and words, and makes of its slots the vectors from which a moment and its score are predicted.
Nothing is resampled: a row of features is a clip, and the model gets two more numbers a row, where it starts and ends
as shares of the video.
"""

from __future__ import annotations

import abc
from typing import Annotated, ClassVar, NamedTuple

import msgspec
import torch
from torch import Tensor, nn

from truemoment.learning.models.base import (
    Batch,
    Count,
    GroundingModel,
    Inputs,
    ModelOutput,
    MomentTensors,
    Need,
    VideoRows,
    Weight,
)
from truemoment.learning.models.clip_ratings import ClipLabels, ClipPairs, clip_labels, draw_pairs
from truemoment.learning.models.layers.additive_attention import real_words
from truemoment.learning.models.layers.set_attention import InputMap, Perceptron, clip_places
from truemoment.learning.models.padded_rows import pad_rows, real_rows
from truemoment.learning.models.set_matching import ends_of_spans, set_losses
from truemoment.media.features.base import Frames

MOST_CUT = 2
"""Rows behind the last that are cut off: sources of features round the length of a video differently."""

DropoutRate = Annotated[float, msgspec.Meta(ge=0, lt=1)]
LayerCount = Annotated[int, msgspec.Meta(ge=1, le=32)]


class SetSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings.

    Parameters
    ----------
    hidden, heads, feedforward
        Numbers of a row in the transformer, heads of each attention, and numbers between the two maps of a layer.
    encoder_layers, decoder_layers
        Layers of each encoder, and of the decoder.
    slots
        Moments of an answer.
    most_moments
        References of a query that are learned from in an epoch; of more, as many are drawn. At most `slots`.
    dropout, input_dropout
        Dropout rates of the transformer, and of features and word vectors.
    saliency_weight
        Factor of the losses of the ratings of clips.
    """

    hidden: Annotated[int, msgspec.Meta(ge=4, le=8192, multiple_of=4)] = 256
    heads: Count = 8
    feedforward: Count = 1024
    encoder_layers: LayerCount = 2
    decoder_layers: LayerCount = 2
    slots: Count = 10
    most_moments: Annotated[int, msgspec.Meta(ge=1, le=8)] = 5
    dropout: DropoutRate = 0.1
    input_dropout: DropoutRate = 0.5
    saliency_weight: Weight = 1.0

    def __post_init__(self) -> None:
        """Check what depends on two settings."""
        if self.hidden % self.heads:
            raise ValueError(f"got {self.heads} heads for {self.hidden} hidden numbers, expected a divisor")


class Encoded(NamedTuple):
    """Clips (B, T, H) and words (B, L, H) of pairs, places of the clips, and which rows are padding."""

    clips: Tensor
    place: Tensor
    clip_padding: Tensor
    words: Tensor
    word_padding: Tensor


class SetModel(GroundingModel):
    """A model that answers with the moments of its slots."""

    needs: ClassVar[frozenset[Need]] = frozenset({"video", "moments", "ratings"})

    def __init__(self, settings: SetSettings, inputs: Inputs) -> None:
        super().__init__()
        hidden = settings.hidden
        self.clips_in = InputMap(inputs.n_dimensions + 2, hidden, settings.input_dropout)
        self.words_in = InputMap(inputs.n_vector, hidden, settings.input_dropout)
        self.decoder_norm = nn.LayerNorm(hidden)
        self.span = Perceptron(hidden, hidden, hidden, 2)
        self.moment_or_none = nn.Linear(hidden, 2)
        self.n_candidates = settings.slots
        self.most_moments = min(settings.most_moments, settings.slots)

    def see(self, video: VideoRows, n_rows: int) -> Frames:
        """Return the rows as they are, (T, D), with NaN after the last; only a longer video is resampled to T rows."""
        rows = video.rows
        return pad_rows(rows[:n_rows] if len(rows) <= n_rows + MOST_CUT else rows, n_rows)

    def encode(self, batch: Batch) -> Encoded:
        """Return clips and words, before any attention."""
        video, n_rows = real_rows(batch.require("video"))
        length = video.shape[1]
        clip_padding = ~real_words(n_rows, length)
        row = torch.arange(length + 1, device=video.device, dtype=video.dtype)
        edges = (row / n_rows[:, None]).unfold(1, 2, 1).masked_fill(clip_padding[..., None], 0.0)
        clips, words = self.clips_in(torch.cat([video, edges], dim=2)), self.words_in(batch.words)
        place = clip_places(n_rows, length, clips.shape[2], video.dtype).to(clips.dtype)
        return Encoded(clips, place, clip_padding, words, ~real_words(batch.n_words, words.shape[1]))

    def output_of(
        self, batch: Batch, slots: Tensor, anchors: Tensor | float, ratings: dict[str, Tensor]
    ) -> ModelOutput:
        """Return the output for the vectors of slots.

        Parameters
        ----------
        batch
            The input.
        slots
            (K, B, N, H) of each layer of the decoder.
        anchors
            (K, B, N, 2), added before the sigmoid of the spans; 0 for none.
        ratings
            Scores (B, T) of clips by name, at least "rating".

        Returns
        -------
        ModelOutput
            Log odds of being a moment (B, N). Extras: "classes" and "spans" (K, B, N, 2) of all layers, and `ratings`.
        """
        kind = batch.words.dtype
        classes = self.moment_or_none(slots).to(kind)
        spans = (self.span(slots) + anchors).sigmoid().to(kind)
        scores = {name: rating.to(kind) for name, rating in ratings.items()}
        return ModelOutput(classes[-1, ..., 0] - classes[-1, ..., 1], {"classes": classes, "spans": spans, **scores})

    def labels_of(self, batch: Batch) -> ClipLabels:
        """Return the labels of the rows of each video."""
        n_rows = real_rows(batch.require("video"))[1]
        return clip_labels(batch.require("ratings"), batch.require("moments"), n_rows)

    def pairs_of(self, labels: ClipLabels) -> ClipPairs:
        """Return the clips that a query compares, drawn in training."""
        return draw_pairs(labels, drawn=self.training)

    def losses(self, batch: Batch, output: ModelOutput) -> dict[str, Tensor]:
        """Return "span", "giou" and "label", with a number for the earlier layers, and the losses of the ratings."""
        extras = output.extras
        terms = set_losses(extras["classes"], extras["spans"], batch.require("moments"))
        return terms | self.rating_losses(batch, extras, self.labels_of(batch))

    @abc.abstractmethod
    def rating_losses(self, batch: Batch, extras: dict[str, Tensor], labels: ClipLabels) -> dict[str, Tensor]:
        """Return the weighted losses of the ratings of clips."""

    def answer(self, batch: Batch, output: ModelOutput) -> MomentTensors:
        """Return the moments of all slots, with the probabilities of being one, and the ratings of the clips."""
        start, end = ends_of_spans(output.extras["spans"][-1].double())
        video = batch.require("video")
        rating = output.extras["rating"].masked_fill(torch.isnan(video[..., 0]), torch.nan)
        return MomentTensors(start, end, output.logits.sigmoid(), rating)
