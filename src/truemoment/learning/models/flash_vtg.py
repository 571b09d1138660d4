r"""FlashVTG: every point of a pyramid over the clips regresses a moment, in one pass and without matching.

Cao, Zhang, Du, Yu, Li and Wang: "FlashVTG: Feature Layering and Adaptive Score Handling Network for Video Temporal
Grounding", WACV 2025; details from the authors' code, https://github.com/Zhuo-Cao/FlashVTG. Words go into the clips by
attentions whose keys are the words and learned *dummies*: the attention that dummies take is lost, so that clips with
nothing of the sentence hardly change. The clips are halved again and again to a pyramid
(:mod:`~truemoment.learning.models.layers.clip_pyramid`). Each point has a score, the mean of two heads of which one
sees a level and the other all levels in a row, and the distances to the ends of a moment. The losses are

- *class*: the focal loss of the points, divided by their number; *ends*: the distances of positive points,
- *saliency*: margin, rank and negative pairs as in QD-DETR, of the ratings of the clips,
- *attention*: the same of the attention of clips on words, with the cross-entropy of being relevant,
- *contrast*: the best clip against the others of its video, and against those of other videos at its place,
- *agreement*: the squared difference of scores of the first level and ratings of people, both from 0 to 1.

Differences from the code: padding counts nowhere; words are hidden only where they are padding (as in
:mod:`~truemoment.learning.models.qd_detr`); queries without a negative pair are among the others in the rank loss; and
a point counts if all of its clips are in the video.
"""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import msgspec
import torch
from torch import Tensor, nn

from truemoment.learning.models.base import Batch, Count, Inputs, ModelOutput, MomentTensors
from truemoment.learning.models.clip_model import ClipModel, ClipSettings, Encoded, LayerCount
from truemoment.learning.models.clip_ratings import (
    ClipLabels,
    ComparedClips,
    contrast_losses,
    margin_loss,
    negative_loss,
    next_is_other_video,
)
from truemoment.learning.models.layers.clip_pyramid import STRIDES, ClipPyramid, point_targets, pyramid_points
from truemoment.learning.models.layers.dense_losses import focal_loss
from truemoment.learning.models.layers.quick_dropout import QuickDropout
from truemoment.learning.models.layers.set_attention import (
    SLOPE,
    DropPairs,
    EncoderLayer,
    FeedForward,
    Perceptron,
    by_head,
    rate,
)
from truemoment.learning.models.padded_rows import row_counts
from truemoment.learning.models.set_matching import mean_of_processes

START_STD = 0.02
"""Standard deviation of the matrices of the attentions at the start."""

CLASS_WEIGHT, CONTRAST_WEIGHT, AGREEMENT_WEIGHT = 5.0, 0.1, 4.0
FOCAL_GAMMA = 2.0
CONTRAST_TEMPERATURE = 0.07
ABSENT = -1e4
"""Logit of what does not count."""

SMALLEST = 1e-6


class FlashVtgSettings(ClipSettings, frozen=True, forbid_unknown_fields=True):
    """Settings beside those of :class:`~truemoment.learning.models.clip_model.ClipSettings`.

    Parameters
    ----------
    saliency_weight
        Factor of "saliency" and "attention".
    dummies, dummy_layers
        Learned keys beside the words, and layers in which they attend to the words.
    word_layers, encoder_layers
        Layers in which clips attend to words, and in which they attend to each other.
    kernel, score_layers
        Rows of the convolution of a score, an odd number, and its linear layers.
    top
        Moments of an answer before suppression.
    """

    saliency_weight: Annotated[float, msgspec.Meta(ge=0)] = 0.8
    dummies: Count = 40
    dummy_layers: LayerCount = 2
    word_layers: LayerCount = 6
    encoder_layers: LayerCount = 3
    kernel: Annotated[int, msgspec.Meta(ge=1, le=99)] = 5
    score_layers: LayerCount = 5
    top: Count = 50

    def __post_init__(self) -> None:
        """Check what depends on two settings."""
        super().__post_init__()
        if self.kernel % 2 == 0:
            raise ValueError(f"got kernel {self.kernel}, expected an odd number")


class DummyAttention(FeedForward):
    """A layer in which clips attend to dummies and words without maps, and get the words alone."""

    def __init__(self, hidden: int, heads: int, feedforward: int, dropout: float) -> None:
        super().__init__(hidden, feedforward, dropout, SLOPE)
        self.heads, self.weight_dropout = heads, QuickDropout(dropout)
        self.out = nn.Linear(hidden, hidden)
        self.norm_attention = nn.LayerNorm(hidden)
        self.residual = DropPairs(dropout)

    def forward(self, encoded: Encoded, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Return clips (B, T, H), and their attention on words (B, T, L), the mean of the heads.

        Parameters
        ----------
        encoded
            Clips and words.
        keys
            Dummies with their places, (B, K, H).
        """
        words = by_head(encoded.words, self.heads)
        every = torch.cat([by_head(keys, self.heads), words], dim=2)
        unseen = torch.cat(
            [torch.zeros_like(encoded.word_padding[:, :1]).expand(-1, keys.shape[1]), encoded.word_padding], 1
        )
        products = (
            by_head(encoded.clips + encoded.place, self.heads) @ every.transpose(2, 3) / math.sqrt(words.shape[3])
        )
        weights = products.masked_fill(unseen[:, None, None], -torch.inf).softmax(dim=3)
        attended = (self.weight_dropout(weights)[..., keys.shape[1] :] @ words).transpose(1, 2).flatten(2)
        clips = encoded.clips + self.residual(self.out(attended))
        clips = self.norm_feedforward(clips + self.feed_forward(self.norm_attention(clips)))
        return clips, weights[..., keys.shape[1] :].mean(dim=1)


class PointScore(nn.Module):
    """The logit of each row by a convolution and linear layers."""

    def __init__(self, hidden: int, kernel: int, layers: int) -> None:
        super().__init__()
        self.convolve = nn.Conv1d(hidden, hidden, kernel, padding=kernel // 2)
        self.score = Perceptron(hidden, *[hidden // 2] * (layers - 1), 1)

    def forward(self, rows: Tensor) -> Tensor:
        """Return logits (B, P) of rows (B, P, H)."""
        logits: Tensor = self.score(self.convolve(rows.transpose(1, 2)).relu().transpose(1, 2))
        return logits.squeeze(2)


class FlashVtg(ClipModel):
    """FlashVTG, which answers with the moments of the best points."""

    name: ClassVar[str] = "flash-vtg"
    least_batch: ClassVar[int] = 2

    def __init__(self, settings: FlashVtgSettings, inputs: Inputs) -> None:
        super().__init__(settings, inputs)
        self.settings = settings
        hidden = settings.hidden
        layer = (hidden, settings.heads, settings.feedforward, settings.dropout)
        self.kinds = nn.Parameter(START_STD * torch.randn(2, hidden))  # of words, and of clips
        self.dummies, self.dummy_place = (nn.Parameter(torch.randn(settings.dummies, hidden)) for _ in range(2))
        self.dummy_encoder = nn.ModuleList(EncoderLayer(*layer, SLOPE) for _ in range(settings.dummy_layers))
        self.words_into_clips = nn.ModuleList(DummyAttention(*layer) for _ in range(settings.word_layers))
        self.encoder = nn.ModuleList(EncoderLayer(*layer, SLOPE) for _ in range(settings.encoder_layers))
        self.saliency_clip, self.saliency_global = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.pyramid = ClipPyramid(hidden)
        self.sentence = nn.Linear(hidden, 1, bias=False)
        self.level_score, self.row_score = (
            PointScore(hidden, settings.kernel, settings.score_layers) for _ in range(2)
        )
        self.level_share = nn.Parameter(torch.tensor(0.5))
        self.ends = nn.ModuleList([nn.Conv1d(hidden, hidden, 3, padding=1), nn.Conv1d(hidden, 2, 3, padding=1)])
        self.level_factor = nn.Parameter(torch.ones(len(STRIDES)))
        self.n_candidates = settings.top
        for part in (*self.dummy_encoder, *self.encoder):
            part.residual = DropPairs(settings.dropout)
        for parameter in (*self.words_into_clips.parameters(), *self.encoder.parameters()):
            if parameter.ndim > 1:
                nn.init.trunc_normal_(parameter, std=START_STD)

    def forward(self, batch: Batch) -> ModelOutput:
        """Score the points.

        Returns
        -------
        ModelOutput
            Logits (B, P), -1e4 for a point that a video does not have. Extras: "distances" (B, P, 2) in strides,
            "rating" and "attention" (B, T), "clips" (B, T, H), "sentence" (B, H), and in training "other rating" and
            "other attention" with the sentence of the next query.
        """
        encoded = self.encode(batch)
        encoded = encoded._replace(clips=encoded.clips + self.kinds[1], words=encoded.words + self.kinds[0])
        dummies = self._dummies(encoded)
        clips, rating, attention = self._read(encoded, dummies)
        extras = {"rating": rating, "attention": attention}
        if self.training:
            others = self._read(encoded.with_next_words(), dummies.roll(-1, dims=0))
            extras |= {"other rating": others[1], "other attention": others[2]}
        first = clips.relu().masked_fill(encoded.clip_padding[..., None], 0.0)
        n_rows = (~encoded.clip_padding).sum(dim=1)
        levels = self.pyramid(first)
        present = pyramid_points(clips.shape[1], first).inside(n_rows)
        masks = torch.split(present[..., None], [level.shape[1] for level in levels], dim=1)
        levels = [level * mask for level, mask in zip(levels, masks, strict=True)]
        by_level = torch.cat([self.level_score(level) for level in levels], dim=1)
        logits = self.level_share * by_level + (1 - self.level_share) * self.row_score(torch.cat(levels, dim=1))
        pairs = zip(levels, masks, self.level_factor, strict=False)
        distances = torch.cat([self._distances(level, mask) * factor for level, mask, factor in pairs], dim=1)
        weights = self.sentence(encoded.words).masked_fill(encoded.word_padding[..., None], -torch.inf).softmax(dim=1)
        extras |= {"distances": distances, "clips": first, "sentence": (encoded.words * weights).sum(dim=1)}
        kind = batch.words.dtype
        return ModelOutput(
            logits.to(kind).masked_fill(~present, ABSENT), {name: extra.to(kind) for name, extra in extras.items()}
        )

    def _dummies(self, encoded: Encoded) -> Tensor:
        """Return the dummies that attended to the words, (B, K, H)."""
        n_pairs, n_dummies = len(encoded.words), len(self.dummies)
        rows = torch.cat([self.dummies.expand(n_pairs, -1, -1), encoded.words], dim=1)
        place = torch.cat([self.dummy_place.expand(n_pairs, -1, -1), torch.zeros_like(encoded.words)], dim=1)
        padding = nn.functional.pad(encoded.word_padding, (n_dummies, 0), value=False)
        for layer in self.dummy_encoder:
            rows = layer(rows, place, padding)
        return rows[:, :n_dummies]

    def _read(self, encoded: Encoded, dummies: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return clips (B, T, H) that the words went into, their ratings, and their attention on words, (B, T)."""
        keys, on_words = dummies + self.dummy_place, []
        for into in self.words_into_clips:
            clips, weights = into(encoded, keys)
            encoded = encoded._replace(clips=clips)
            on_words.append(weights)
        clips = encoded.clips
        for layer in self.encoder:
            clips = layer(clips, encoded.place, encoded.clip_padding)
        real = (~encoded.clip_padding).to(clips.dtype)[..., None]
        whole = (clips * real).sum(dim=1) / real.sum(dim=1)
        attention = torch.stack(on_words).mean(dim=0).sum(dim=2).clamp(0, 1)
        return clips, rate(self.saliency_clip(clips), self.saliency_global(whole)), attention

    def _distances(self, level: Tensor, mask: Tensor) -> Tensor:
        """Return the distances of the points of a level to both ends, (B, P, 2); `mask` (B, P, 1) are those there."""
        first, second = self.ends
        rows = first(level.transpose(1, 2)).relu() * mask.transpose(1, 2)
        distances: Tensor = second(rows).transpose(1, 2).exp()
        return distances

    def losses(self, batch: Batch, output: ModelOutput) -> dict[str, Tensor]:
        """Return the terms of the loss; "saliency" and "attention" are margins alone where it is not training."""
        labels, extras = self.labels_of(batch), output.extras
        pairs, real = self.pairs_of(labels), labels.real
        terms = self._point_losses(batch, output)
        has_negative = next_is_other_video(batch.require("video"))
        saliency = margin_loss(extras["rating"], pairs)
        attention = margin_loss(extras["attention"], pairs)
        if "other rating" in extras:
            rank, is_negative = contrast_losses(extras["rating"], extras["other rating"], labels, has_negative)
            saliency = saliency + rank + negative_loss(extras["other rating"], is_negative)
            rank, _ = contrast_losses(extras["attention"], extras["other attention"], labels, has_negative)
            attention = attention + rank - _log(1 - extras["other attention"], is_negative).sum() / len(batch)
        is_relevant = (labels.label > 0) & real
        likelihood = torch.where(is_relevant, extras["attention"], 1 - extras["attention"])
        attention = attention - _log(likelihood, real).sum() / real.sum()
        weight = self.settings.saliency_weight
        return terms | {
            "saliency": weight * saliency,
            "attention": weight * attention,
            "contrast": CONTRAST_WEIGHT * self._contrast(extras, labels, pairs),
            "agreement": AGREEMENT_WEIGHT * _agreement(output.logits[:, : real.shape[1]], labels.label, real),
        }

    def _point_losses(self, batch: Batch, output: ModelOutput) -> dict[str, Tensor]:
        """Return "class" and "ends"."""
        video = batch.require("video")
        n_rows, points = row_counts(video), pyramid_points(video.shape[1], output.logits)
        targets = point_targets(batch.require("moments") * n_rows[:, None, None], points)
        present = points.inside(n_rows)
        positive = targets.positive & present
        focal = 2 * focal_loss(output.logits, positive, alpha=0.5, gamma=FOCAL_GAMMA)
        distance = (output.extras["distances"] - targets.distances).abs().mean(dim=2)
        n_positive = mean_of_processes(positive.sum()).clamp(min=1)
        return {
            "class": CLASS_WEIGHT * focal / mean_of_processes(present.sum()),
            "ends": torch.where(positive, distance, 0.0).sum() / n_positive,
        }

    def _contrast(self, extras: dict[str, Tensor], labels: ClipLabels, pairs: ComparedClips) -> Tensor:
        """Return the contrast of the best clip of each query."""
        best = pairs.higher[:, :1]
        counts = (labels.label <= labels.label.gather(1, best)) & labels.real
        cosine = nn.functional.cosine_similarity(extras["clips"], extras["sentence"][:, None], dim=2)
        logits = (cosine / CONTRAST_TEMPERATURE).masked_fill(~counts, ABSENT)
        both = (logits.log_softmax(dim=1) + logits.log_softmax(dim=0)).gather(1, best).squeeze(1)
        return -torch.where(labels.relevant.any(dim=1), both, 0.0).sum() / len(best)

    def answer(self, batch: Batch, output: ModelOutput) -> MomentTensors:
        """Return the moments of the best points, scored by their probabilities, and the ratings of the clips."""
        video = batch.require("video")
        n_rows, points = row_counts(video), pyramid_points(video.shape[1], output.logits.double())
        distances = output.extras["distances"].double() * points.stride[:, None]
        ends = (
            torch.stack([points.at - distances[..., 0], points.at + distances[..., 1]], dim=2) / n_rows[:, None, None]
        )
        logits, best = output.logits.topk(min(self.n_candidates, output.logits.shape[1]), dim=1)
        score = logits.sigmoid().masked_fill(logits <= ABSENT, -torch.inf)
        start, end = ends.gather(1, best[..., None].expand(-1, -1, 2)).unbind(dim=2)
        return MomentTensors(start, end, score, self.rated(batch, output.extras["rating"]))


def _log(probability: Tensor, counts: Tensor) -> Tensor:
    """Return the logarithm of probabilities that count, 0 elsewhere."""
    return torch.where(counts, probability.clamp(min=SMALLEST).log(), 0.0)


def _agreement(logits: Tensor, label: Tensor, counts: Tensor) -> Tensor:
    """Return the mean squared difference of scores and labels (B, T), each brought to 0 to 1 over the batch."""

    def shares(values: Tensor) -> Tensor:
        least = values.masked_fill(~counts, torch.inf).min()
        most = values.masked_fill(~counts, -torch.inf).max()
        return (values - least) / (most - least).clamp(min=SMALLEST)

    squared = torch.where(counts, shares(logits) - shares(label), 0.0).square()
    return squared.sum() / counts.sum()
