"""What the models have in common that take rows of features as clips, learn from all references and rate every clip.

Nothing is resampled: a row of features is a clip, and the model gets two more numbers a row, where it starts and ends
as shares of the video.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple

import msgspec
import torch
from torch import Tensor

from truemoment.learning.models.base import Batch, Count, GroundingModel, Inputs, Need, VideoRows, Weight
from truemoment.learning.models.clip_ratings import ClipLabels, ComparedClips, clip_labels, draw_pairs
from truemoment.learning.models.layers.additive_attention import real_words
from truemoment.learning.models.layers.set_attention import InputMap, clip_places
from truemoment.learning.models.padded_rows import pad_rows, row_counts
from truemoment.media.features.base import Frames

MOST_CUT = 2
"""Rows behind the last that are cut off: sources of features round the length of a video differently."""

DropoutRate = Annotated[float, msgspec.Meta(ge=0, lt=1)]
LayerCount = Annotated[int, msgspec.Meta(ge=1, le=32)]


class ClipSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings.

    Parameters
    ----------
    hidden, heads, feedforward
        Numbers of a row in the transformer, heads of each attention, and numbers between the two maps of a layer.
    most_moments
        References of a query that are learned from in an epoch; of more, as many are drawn.
    dropout, input_dropout
        Dropout rates of the transformer, and of features and word vectors.
    saliency_weight
        Factor of the losses of the ratings of clips.
    """

    hidden: Annotated[int, msgspec.Meta(ge=4, le=8192, multiple_of=4)] = 256
    heads: Count = 8
    feedforward: Count = 1024
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

    def with_next_words(self) -> Encoded:
        """Return the clips with the words of the next pair of the batch."""
        return self._replace(words=self.words.roll(-1, dims=0), word_padding=self.word_padding.roll(-1, dims=0))


class ClipModel(GroundingModel):
    """A model of clips that answers with moments and the ratings of all clips."""

    needs: ClassVar[frozenset[Need]] = frozenset({"video", "moments", "ratings"})
    sees_rows: ClassVar[bool] = True

    def __init__(self, settings: ClipSettings, inputs: Inputs) -> None:
        super().__init__()
        self.clips_in = InputMap(inputs.n_dimensions + 2, settings.hidden, settings.input_dropout)
        self.words_in = InputMap(inputs.n_vector, settings.hidden, settings.input_dropout)
        self.most_moments = settings.most_moments

    def see(self, video: VideoRows, n_rows: int) -> Frames:
        """Return the rows as they are, (T, D), with NaN after the last; only a longer video is resampled to T rows."""
        rows = video.rows
        return pad_rows(rows[:n_rows] if len(rows) <= n_rows + MOST_CUT else rows, n_rows)

    def encode(self, batch: Batch) -> Encoded:
        """Return clips and words, before any attention."""
        video = batch.require("video")
        n_rows, length = row_counts(video), video.shape[1]
        clip_padding = ~real_words(n_rows, length)
        row = torch.arange(length + 1, device=video.device, dtype=video.dtype)
        placed = video.new_empty(*video.shape[:2], video.shape[2] + 2)
        torch.nan_to_num(video, out=placed[..., :-2])
        placed[..., -2:] = (row / n_rows[:, None]).unfold(1, 2, 1).masked_fill(clip_padding[..., None], 0.0)
        clips, words = self.clips_in(placed), self.words_in(batch.words)
        place = clip_places(n_rows, length, clips.shape[2], video.dtype).to(clips.dtype)
        return Encoded(clips, place, clip_padding, words, ~real_words(batch.n_words, words.shape[1]))

    def labels_of(self, batch: Batch) -> ClipLabels:
        """Return the labels of the rows of each video."""
        n_rows = row_counts(batch.require("video"))
        return clip_labels(batch.require("ratings"), batch.require("moments"), n_rows)

    def pairs_of(self, labels: ClipLabels) -> ComparedClips:
        """Return the clips that a query compares, drawn in training."""
        return draw_pairs(labels, drawn=self.training)

    def rated(self, batch: Batch, rating: Tensor) -> Tensor:
        """Return ratings (B, T) with NaN after the last clip of each video."""
        return rating.masked_fill(torch.isnan(batch.require("video")[..., 0]), torch.nan)
