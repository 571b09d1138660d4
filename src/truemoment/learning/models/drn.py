r"""DRN: every location of a pyramid over time regresses both ends of the moment.

Zeng, Xu, Huang, Chen, Tan and Gan: "Dense Regression Network for Video Grounding", CVPR 2020; details from the authors'
code, https://github.com/Alvin-Zeng/DRN. Three maps of a video, of 32, 16 and 8 locations, are modulated by a sentence
vector each. At each location a head has the logit of being in the moment, the distances to its start and end, and the
logit of the IoU of the segment that these distances make. The loss is the sum of

- *classification*: the focal loss over all locations, divided by the positive locations plus the pairs,
- *regression*: :math:`-\ln` IoU of the distances, over positive locations,
- *iou*: smooth L1 between the predicted and the true IoU of the segments.

DRN is trained in three stages, see the recipes ``drn`` and ``drn-full``: all but the IoU head on the first two losses,
the IoU head alone on the third, and everything on all three. A moment has the score :math:`\sqrt{p}` after the first
stage, with p the probability of being in the moment, and :math:`\sqrt{p \, p_{\mathrm{IoU}}}` after the others.

Differences from the code: positions are exact shares of the video, the layers that no output depends on are left out,
and at most 32 candidates a level are no limit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, Self

import msgspec
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from truemoment.learning.models.base import (
    Batch,
    Count,
    GroundingModel,
    Inputs,
    ModelOutput,
    MomentTensors,
    Need,
    VideoRows,
)
from truemoment.learning.models.layers.additive_attention import real_words
from truemoment.learning.models.layers.dense_losses import distance_loss, focal_loss, hull_iou, iou_loss
from truemoment.learning.models.layers.dense_targets import (
    STRIDES,
    PyramidLocations,
    dense_targets,
    pyramid_locations,
    segments_at,
)
from truemoment.learning.models.layers.recurrent import BidirectionalLSTM
from truemoment.media.features.base import Frames


def conv_block(n_in: int, n_out: int, kernel: int, stride: int = 1) -> nn.Sequential:
    """Return a convolution over time without a bias, batch norm and ReLU; Kaiming-uniform weights for a linear layer.

    Rows (B, n_in, T) become (B, n_out, T / stride), rounded up, for an odd kernel.
    """
    conv = nn.Conv1d(n_in, n_out, kernel, stride, padding=(kernel - 1) // 2, bias=False)
    nn.init.kaiming_uniform_(conv.weight, a=1)
    return nn.Sequential(conv, nn.BatchNorm1d(n_out), nn.ReLU())


class FeaturePyramid(nn.Module):
    """Bring maps of several resolutions to one width, and add each coarser map to the next finer one.

    A feature pyramid over time: maps of several resolutions, the finer ones enriched by the coarser ones.

    (Lin et al. 2017, Feature Pyramid Networks, section 3, in one dimension, as DRN has it: Zeng et al. 2020.)

    Parameters
    ----------
    widths
        Channels of each map, the finest first.
    n_out
        Channels of each output.
    """

    def __init__(self, widths: Sequence[int], n_out: int) -> None:
        super().__init__()
        self.lateral = nn.ModuleList(conv_block(width, n_out, kernel=1) for width in widths)
        self.smooth = nn.ModuleList(conv_block(n_out, n_out, kernel=3) for _ in widths)

    def forward(self, maps: Sequence[Tensor]) -> list[Tensor]:
        """Return maps (B, n_out, T_k) for maps (B, widths[k], T_k), of which each is half as long as the one before."""
        levels = list(zip(maps, self.lateral, self.smooth, strict=True))
        above: Tensor | None = None
        outputs: list[Tensor] = []
        for rows, lateral, smooth in reversed(levels):
            joined = lateral(rows)
            if above is not None:
                joined = joined + functional.interpolate(above, scale_factor=2.0, mode="nearest")
            outputs.append(smooth(joined))
            above = joined
        return outputs[::-1]


class LevelQueries(nn.Module):
    r"""Encode a sentence as a vector for each level.

    One sentence vector for each level of a pyramid, as DRN has them.

    With states :math:`o_t` of a bidirectional LSTM and :math:`s = [o_1; o_n]`, level k attends to the words by

    .. math::
        c_k = W_k \, \text{ReLU}(W_0 s), \quad
        \alpha_{k,t} = \text{softmax}_t \; w^\top (c_k \odot o_t), \quad
        q_k = \sum_t \alpha_{k,t} o_t,

    where :math:`W_0` and :math:`w` are shared by the levels. (Zeng et al. 2020, DRN; the form is that of the authors'
    code, https://github.com/Alvin-Zeng/DRN.)

    Parameters
    ----------
    n_vector
        E, dimensions of a word vector.
    hidden
        H of each direction of the LSTM.
    n_levels
        K, levels of the pyramid.
    """

    def __init__(self, n_vector: int, hidden: int, n_levels: int) -> None:
        super().__init__()
        self.lstm = BidirectionalLSTM(n_vector, hidden)
        self.shared = nn.Linear(4 * hidden, hidden)
        self.levels = nn.ModuleList(nn.Linear(hidden, 2 * hidden) for _ in range(n_levels))
        self.score = nn.Linear(2 * hidden, 1)
        for layer in (self.shared, *self.levels, self.score):
            nn.init.xavier_uniform_(layer.get_parameter("weight"))
            nn.init.zeros_(layer.get_parameter("bias"))

    def forward(self, words: Tensor, n_words: Tensor) -> Tensor:
        """Return the vectors (K, B, 2 H) of sentences (B, L, E) with `n_words` (B,) words."""
        states = self.lstm(words, n_words)
        last = states[torch.arange(len(states), device=states.device), n_words - 1]
        common = self.shared(torch.cat([states[:, 0], last], dim=1)).relu()
        commands = torch.stack([level(common) for level in self.levels])
        logits = self.score(commands[:, :, None] * states).squeeze(-1)  # (K, B, L)
        padding = ~real_words(n_words, words.shape[1])
        weights = logits.masked_fill(padding, torch.finfo(logits.dtype).min).softmax(dim=-1)
        return torch.einsum("kbl,blh->kbh", weights, states)


N_LEVELS = len(STRIDES)

WIDTHS = (1, 2, 4)
"""Channels of each map, as multiples of those of the first."""

ROUNDING = 1e-9
"""Share of a video by which a row must reach into a clip to count for it."""

CONV_STD = 0.01
"""Standard deviation of the weights of the head's convolutions at the start."""

Probability = Annotated[float, msgspec.Meta(ge=0, lt=1)]


class DrnSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings.

    Parameters
    ----------
    n_clips
        Clips of a video, a multiple of 4; the ranges of the levels are scaled from 32.
    hidden
        H, of each direction of the LSTM.
    projection
        Numbers that features are projected to; 0 for as many as they have, as in the code.
    position
        Numbers that a clip's start, end and length become.
    channels
        Channels of the first map; the second has twice and the third four times as many.
    pyramid
        Channels of the pyramid and the head.
    focal_alpha, focal_gamma
        Weight and exponent of the focal loss.
    start_probability
        Probability of being in the moment that every location starts with.
    iou_above
        IoU of a segment above which the IoU head learns from it: 0.9 in the code; null for all segments.
    clipped
        Segments that are clipped to the video before their IoU is computed: those of the "first" location, as in the
        code, or "all".
    frozen_statistics
        Whether batch statistics of the parts that are not trained "move" while the IoU head is trained alone, as in the
        code, or "stay".
    candidate_probability
        Probability of being in the moment above which a location is a candidate; without one, the answer is the video.
    """

    n_clips: Annotated[int, msgspec.Meta(ge=4, le=8192, multiple_of=4)] = 32
    hidden: Count = 512
    projection: Annotated[int, msgspec.Meta(ge=0, le=8192)] = 0
    position: Count = 256
    channels: Count = 256
    pyramid: Annotated[int, msgspec.Meta(ge=2, le=8192)] = 512
    focal_alpha: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.25
    focal_gamma: Annotated[float, msgspec.Meta(ge=0)] = 2.0
    start_probability: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.01
    iou_above: Probability | None = 0.9
    clipped: Literal["first", "all"] = "first"
    frozen_statistics: Literal["move", "stay"] = "move"
    candidate_probability: Probability = 0.05


class _VideoMaps(nn.Module):
    """The pyramid of a video, each of its maps modulated by a sentence vector."""

    def __init__(self, settings: DrnSettings, n_dimensions: int) -> None:
        super().__init__()
        n_video = settings.projection or n_dimensions
        widths = [settings.channels * times for times in WIDTHS]
        inputs = [n_video, *widths[:-1]]
        self.project = nn.Linear(n_dimensions, n_video)
        self.place = nn.Linear(3, settings.position)
        self.modulate = nn.ModuleList(nn.Linear(2 * settings.hidden, width) for width in inputs)
        self.convolve = nn.ModuleList(
            conv_block(n_in + (0 if level else settings.position), n_out, kernel=3, stride=2 if level else 1)
            for level, (n_in, n_out) in enumerate(zip(inputs, widths, strict=True))
        )
        self.pyramid = FeaturePyramid(widths, settings.pyramid)
        ends = torch.arange(settings.n_clips + 1) / settings.n_clips
        places = torch.stack([ends[:-1], ends[1:], ends[1:] - ends[:-1]], dim=1)
        self.register_buffer("places", places, persistent=False)

    places: Tensor

    def forward(self, video: Tensor, queries: Tensor) -> list[Tensor]:
        """Return a map (B, C, T_k) for each level, of clips (B, T, D) and sentence vectors (K, B, 2 H)."""
        rows = self.project(video).transpose(1, 2)
        maps: list[Tensor] = []
        for modulate, convolve, query in zip(self.modulate, self.convolve, queries, strict=True):
            rows = modulate(query)[:, :, None] * rows
            if not maps:
                place = self.place(self.places).T
                rows = torch.cat([rows, place.expand(len(rows), -1, -1)], dim=1)
            rows = convolve(rows)
            maps.append(rows)
        levels: list[Tensor] = self.pyramid(maps)
        return levels


def _small(conv: nn.Conv1d) -> nn.Conv1d:
    """Draw the weights of a convolution from N(0, 0.01²), with biases of 0."""
    nn.init.normal_(conv.weight, std=CONV_STD)
    nn.init.zeros_(conv.get_parameter("bias"))
    return conv


def _tower(n_in: int, n_out: int, kernel: int) -> nn.Sequential:
    """Return a convolution with a bias, batch norm and ReLU; rows keep their number."""
    conv = _small(nn.Conv1d(n_in, n_out, kernel, padding=(kernel - 1) // 2))
    return nn.Sequential(conv, nn.BatchNorm1d(n_out), nn.ReLU())


class _DenseHead(nn.Module):
    """The logit of being in the moment and the distances to its ends, at each location; shared by the levels."""

    def __init__(self, width: int, start_probability: float) -> None:
        super().__init__()
        self.match_tower = _tower(width, width, 3)
        self.match = _small(nn.Conv1d(width, 1, 3, padding=1))
        self.regress_tower = _tower(width, width, 3)
        self.regress = _small(nn.Conv1d(width, 2, 3, padding=1))
        self.scales = nn.Parameter(torch.ones(N_LEVELS))
        odds = (1 - start_probability) / start_probability
        nn.init.constant_(self.match.get_parameter("bias"), -math.log(odds))

    def forward(self, rows: Tensor, level: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return logits (B, T), distances in clips (B, T, 2) and rows of both towers (B, 2 C, T) of a map (B, C, T)."""
        match, regress = self.match_tower(rows), self.regress_tower(rows)
        distances = torch.exp(self.scales[level] * self.regress(regress)).transpose(1, 2)
        return self.match(match).squeeze(1), distances, torch.cat([match, regress], dim=1)


class Drn(GroundingModel):
    """DRN, which answers with a segment for each location that it finds in the moment."""

    name: ClassVar[str] = "drn"
    needs: ClassVar[frozenset[Need]] = frozenset({"video", "moment"})
    least_batch: ClassVar[int] = 2

    at: Tensor
    least: Tensor
    most: Tensor
    scored_by_iou: Tensor

    def __init__(self, settings: DrnSettings, inputs: Inputs) -> None:
        super().__init__()
        self.settings = settings
        width = settings.pyramid
        self.queries = LevelQueries(inputs.n_vector, settings.hidden, N_LEVELS)
        self.video = _VideoMaps(settings, inputs.n_dimensions)
        self.head = _DenseHead(width, settings.start_probability)
        self.iou = nn.Sequential(
            _tower(2 * width, width, 1), _tower(width, width // 2, 3), _small(nn.Conv1d(width // 2, 1, 1))
        )
        for name, column in pyramid_locations(settings.n_clips)._asdict().items():
            self.register_buffer(name, column.float(), persistent=False)
        self.register_buffer("scored_by_iou", torch.tensor(True))  # in the checkpoint: how its answers are ranked
        self.n_candidates = len(self.at) + 1
        self._learns_iou_alone = False

    def see(self, video: VideoRows, n_rows: int) -> Frames:
        """Return the maximum over the rows that overlap each n-th of the video, or the row at its middle; (n, D)."""
        del n_rows
        n_clips = self.settings.n_clips
        edges = video.edges_s / video.duration_s
        ends = np.arange(n_clips + 1) / n_clips
        first = np.searchsorted(edges[1:], ends[:-1] + ROUNDING, side="right")
        last = np.searchsorted(edges[:-1], ends[1:] - ROUNDING, side="left")
        middle = np.searchsorted(edges[1:-1], (ends[:-1] + ends[1:]) / 2, side="right")
        empty = first >= last
        first, last = np.where(empty, middle, first), np.where(empty, middle + 1, last)
        padded = np.concatenate([video.rows, video.rows[-1:]])  # an end may be that of the video
        best = np.maximum.reduceat(padded, np.stack([first, last], axis=1).ravel(), axis=0)[::2]
        return np.asarray(best, dtype=np.float32)

    def forward(self, batch: Batch) -> ModelOutput:
        """Return `logits` (B, P) of being in the moment, "distances" (B, P, 2) in clips, and logits of "iou" (B, P)."""
        queries = self.queries(batch.words, batch.n_words)
        maps = self.video(batch.require("video"), queries)
        outputs = zip(*(self.head(rows, level) for level, rows in enumerate(maps)), strict=True)
        logits, distances, towers = (list(levels) for levels in outputs)
        iou = torch.cat([self.iou(level).squeeze(1) for level in towers], dim=1)
        kind = batch.words.dtype
        return ModelOutput(
            torch.cat(logits, dim=1).to(kind), {"distances": torch.cat(distances, dim=1).to(kind), "iou": iou.to(kind)}
        )

    def losses(self, batch: Batch, output: ModelOutput) -> dict[str, Tensor]:
        """Return "classification", "regression" and "iou"; a pair whose moment is not shown has the first alone."""
        settings, distances = self.settings, output.extras["distances"]
        moment = batch.require("moment")
        targets = dense_targets(settings.n_clips * moment, PyramidLocations(self.at, self.least, self.most))
        matched = focal_loss(output.logits, targets.positive, alpha=settings.focal_alpha, gamma=settings.focal_gamma)
        iou = hull_iou(self._segments(distances), torch.nan_to_num(moment)[:, None])
        counts = ~torch.isnan(moment[:, :1]) & (iou > (-1.0 if settings.iou_above is None else settings.iou_above))
        return {
            "classification": matched / (targets.positive.sum() + len(batch)),
            "regression": distance_loss(distances, targets.distances, targets.positive),
            "iou": iou_loss(output.extras["iou"], iou, counts),
        }

    def _segments(self, distances: Tensor) -> Tensor:
        """Return the segments (B, P, 2) whose IoU is learned, as shares of the video."""
        segments = segments_at(distances, self.at) / self.settings.n_clips
        if self.settings.clipped == "all":
            return segments.clamp(0.0, 1.0)
        return torch.cat([segments[:, :1].clamp(0.0, 1.0), segments[:, 1:]], dim=1)

    def answer(self, batch: Batch, output: ModelOutput) -> MomentTensors:
        """Return the segment of each location that is a candidate, and the video where no location is one.

        The video has the score 0, and not 1 as in the authors' code: a window of a long video without a candidate must
        not rank above windows with one.
        """
        del batch
        segments = segments_at(output.extras["distances"], self.at).double() / self.settings.n_clips
        matched = output.logits.sigmoid()
        scored = torch.where(self.scored_by_iou, matched * output.extras["iou"].sigmoid(), matched).sqrt()
        is_candidate = matched > self.settings.candidate_probability
        score = scored.masked_fill(~is_candidate, -torch.inf)
        whole = torch.zeros_like(score[:, :1]).masked_fill(is_candidate.any(dim=1, keepdim=True), -torch.inf)
        start, end = functional.pad(segments[..., 0], (0, 1)), functional.pad(segments[..., 1], (0, 1), value=1.0)
        return MomentTensors(start, end, torch.cat([score, whole], dim=1))

    def start_stage(self, losses: frozenset[str]) -> None:
        """Rank answers by the IoU head too once it is trained."""
        self.scored_by_iou.fill_(not losses or "iou" in losses)
        self._learns_iou_alone = losses == {"iou"}

    def train(self, mode: bool = True) -> Self:
        """Set the mode; with `frozen_statistics` at "stay", the IoU head alone trains where it learns alone."""
        super().train(mode)
        if self._learns_iou_alone and self.settings.frozen_statistics == "stay":
            for part in (self.queries, self.video, self.head):
                part.eval()
        return self
