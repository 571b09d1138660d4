r"""VLG-Net: clips and words as two graphs that are matched; a moment is a mean of its clips by a learned attention.

Soldan, Xu, Qu, Tegner and Ghanem: "VLG-Net: Video-Language Graph Matching Network for Video Grounding", ICCV Workshops
2021; details from the authors' code, https://github.com/Soldelli/VLG-Net, and for long videos from Soldan et al., "MAD:
A Scalable Dataset for Language Grounding in Videos from Movie Audio Descriptions", CVPR 2022, appendix A.2. The
settings of the code are

===================  ====================  ==========  ==========
setting              ActivityNet Captions  TACoS       MAD
===================  ====================  ==========  ==========
n_clips              64                    256         64
diagonals            15, 8, 8              5, 8, 8, 8  5, 8, 8, 8
cells                1,104                 3,101       626
video_blocks         1                     4           7
video_neighbours     9                     3           7
matching_neighbours  7                     3           5
matching_groups      4                     32          32
matching_width       32                    4           4
lstm_layers          4                     5           1
syntactic_blocks     4                     2           0
score_layers         1                     1           5
position             cosine                none        none
dropout              0                     0.1         0
iou_low, iou_high    0.7, 0.71             0.5, 0.7    0.1, 1.0
pooling              mean                  mean        first
===================  ====================  ==========  ==========

The defaults are those of ActivityNet Captions with the 16 clips of 2D-TAN on Charades-STA; the authors publish none for
Charades.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import msgspec
import torch
from torch import Tensor, nn

from truemoment.base.errors import UsageError
from truemoment.baselines.proposals import DiagonalMap, SparseMap
from truemoment.learning.models.base import Batch, Count, EncodedQuery, Inputs, MapModel, ModelOutput, Need, VideoRows
from truemoment.learning.models.layers.additive_attention import real_words
from truemoment.learning.models.layers.gcnext import GCNeXt
from truemoment.learning.models.layers.graph_matching import GraphMatching
from truemoment.learning.models.layers.nearest_nodes import Reading
from truemoment.learning.models.layers.positions import index_codes, waves
from truemoment.learning.models.layers.query import QueryEncoder
from truemoment.learning.models.layers.syntactic_graph import SyntacticGraph
from truemoment.learning.models.losses import candidate_loss, scaled_iou
from truemoment.media.features.base import Frames
from truemoment.media.features.resampling import interpolate


class MomentAttention(nn.Module):
    r"""Moments (B, C, H) of clips (B, H, N) and words (B, H, L).

    Clips of a moment as one vector: a mean whose weights are a softmax over the clips of the moment.

    A sentence s is a mean of its words by a learned softmax. A clip v in the moment of a cell has the logit

    .. math:: u_t = w_s^\top s + w_v^\top v_t + b \quad \text{("added")} \qquad \text{or} \qquad
              u_t = s^\top v_t \quad \text{("multiplied")},

    the learnable cross attention and the cross attention of VLG-Net's code (Soldan et al. 2021). All published figures
    are of the first. **There the sentence has no effect**: the softmax over the clips does not change when the same
    number is added to all of its logits. Nothing that leads to s only is learned then.

    The weights of all C cells and N clips are computed: a mean from running sums of exponentials is cheaper, but wrong
    where the clips of a cell have small weights.

    Parameters
    ----------
    proposals
        The cells.
    hidden
        H.
    sentence
        How the sentence enters the logit of a clip.
    """

    inside: Tensor

    def __init__(self, proposals: SparseMap, hidden: int, sentence: Literal["added", "multiplied"] = "added") -> None:
        super().__init__()
        self.word = nn.Conv1d(hidden, 1, 1)
        self.clip = nn.Conv1d(2 * hidden, 1, 1) if sentence == "added" else None
        first, last = (torch.as_tensor(column)[:, None] for column in proposals.cells)
        clip = torch.arange(proposals.n_clips, device=first.device)
        self.register_buffer("inside", (first <= clip) & (clip <= last), persistent=False)

    def forward(self, clips: Tensor, words: Tensor, counts: Tensor) -> Tensor:
        """Return the moments; `counts` (B, L) are real words."""
        moments: Tensor = self.weights(clips, self.sentence(words, counts)) @ clips.transpose(1, 2)
        return moments

    def sentence(self, words: Tensor, counts: Tensor) -> Tensor:
        """Return the vector of each sentence, (B, H)."""
        logits: Tensor = self.word(words).squeeze(1)
        weights = logits.masked_fill(~counts, torch.finfo(logits.dtype).min).softmax(dim=1)
        return (words @ weights[:, :, None]).squeeze(2)

    def weights(self, clips: Tensor, sentence: Tensor) -> Tensor:
        """Return the weight of each clip in each cell, (B, C, N)."""
        if self.clip is None:
            logits: Tensor = (sentence[:, None] @ clips).squeeze(1)
        else:
            logits = self.clip(torch.cat([sentence[:, :, None].expand_as(clips), clips], dim=1)).squeeze(1)
        return logits[:, None].masked_fill(~self.inside, torch.finfo(logits.dtype).min).softmax(dim=2)


BlockCount = Annotated[int, msgspec.Meta(ge=0, le=99)]


class VlgNetSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings.

    Parameters
    ----------
    n_clips, diagonals
        N, clips of a video, and the cells: number of diagonals at each step 2^g, see
        :class:`~truemoment.baselines.proposals.DiagonalMap`.
    hidden
        H.
    pooling
        How rows become a clip: their "mean", or the "first" of them (on MAD, every second row).
    position
        What is added to the clips of features: a "cosine" code of their number, or "none".
    video_blocks, video_neighbours, video_groups, video_width
        GCNeXt blocks, the clips nearest to a clip that they read, groups of their convolutions, and numbers of each.
    matching_neighbours, matching_groups, matching_width
        As these, of the graph matching.
    lstm_layers
        Layers of the LSTM.
    syntactic_blocks
        Convolutions over the dependencies of a sentence.
    score_layers
        Layers that score the cells.
    blocks
        Whether blocks of one kind, and the layers of the score after the first, are "shared", one with the same weights
        several times as published, or "independent".
    neighbours
        Features of a neighbour: those of the "nearest" node, or what the "published" code reads in their place
        (:mod:`~truemoment.learning.models.layers.nearest_nodes`).
    padding
        Whether padding behind a sentence reaches its last word: no ("masked"), or as in the "published" code.
    sentence
        How the sentence enters the attention to the clips of a moment: "added", as published, where it has no effect,
        or "multiplied" (:class:`MomentAttention`).
    dropout
        Dropout of clips, of the LSTM between its layers, of words and of scored cells.
    iou_low, iou_high
        IoU at which a cell's target is 0, and 1.
    """

    n_clips: Count = 16
    diagonals: tuple[Count, ...] = (15,)
    hidden: Count = 512
    pooling: Literal["mean", "first"] = "mean"
    position: Literal["cosine", "none"] = "cosine"
    video_blocks: BlockCount = 1
    video_neighbours: Count = 9
    video_groups: Count = 32
    video_width: Count = 4
    matching_neighbours: Count = 7
    matching_groups: Count = 4
    matching_width: Count = 32
    lstm_layers: Count = 4
    syntactic_blocks: BlockCount = 4
    score_layers: Count = 1
    blocks: Literal["shared", "independent"] = "shared"
    neighbours: Reading = "nearest"
    padding: Literal["masked", "published"] = "masked"
    sentence: Literal["added", "multiplied"] = "added"
    dropout: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.0
    iou_low: float = 0.7
    iou_high: float = 0.71

    def __post_init__(self) -> None:
        """Check what depends on two settings."""
        if self.hidden % 2:
            raise ValueError(f"got hidden {self.hidden}, expected an even number for the codes of the cells")
        if self.iou_high <= self.iou_low:
            raise ValueError(f"got iou_high {self.iou_high:g}, expected a number above iou_low {self.iou_low:g}")

    def repeats(self, n_blocks: int) -> tuple[int, int]:
        """Return how many blocks have weights, and how often each is applied, for `n_blocks` of a kind."""
        return (min(n_blocks, 1), n_blocks) if self.blocks == "shared" else (n_blocks, 1)


class VlgNet(MapModel):
    """VLG-Net."""

    name: ClassVar[str] = "vlg-net"
    needs: ClassVar[frozenset[Need]] = frozenset({"video", "cell ious", "heads"})
    clip_codes: Tensor
    cell_codes: Tensor

    def __init__(self, settings: VlgNetSettings, inputs: Inputs) -> None:
        proposals = DiagonalMap(settings.n_clips, settings.diagonals)
        super().__init__(proposals)
        self.settings = settings
        hidden = settings.hidden
        self.dropout = nn.Dropout(settings.dropout)
        self.project_clips = nn.Conv1d(inputs.n_dimensions, hidden, 3, padding=1)
        n_video, self.video_repeats = settings.repeats(settings.video_blocks)
        self.video_graph = nn.ModuleList(
            GCNeXt(
                hidden,
                neighbours=settings.video_neighbours,
                groups=settings.video_groups,
                width=settings.video_width,
                reading=settings.neighbours,
            )
            for _ in range(n_video)
        )
        self.encode_query = QueryEncoder(inputs.n_vector, hidden, settings.lstm_layers, dropout=settings.dropout)
        n_syntactic, self.syntactic_repeats = settings.repeats(settings.syntactic_blocks)
        self.syntactic_graph = nn.ModuleList(SyntacticGraph(hidden) for _ in range(n_syntactic))
        self.project_words = nn.Linear(hidden, hidden)
        self.match = GraphMatching(
            hidden,
            neighbours=settings.matching_neighbours,
            groups=settings.matching_groups,
            width=settings.matching_width,
            reading=settings.neighbours,
            padding=settings.padding,
        )
        self.moments = MomentAttention(proposals, hidden, settings.sentence)
        n_scores, self.score_repeats = settings.repeats(settings.score_layers - 1)
        self.first_score = nn.Linear(hidden, hidden)
        self.further_scores = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(n_scores))
        self.drop_channels = nn.Dropout1d(settings.dropout)
        self.score = nn.Linear(hidden, 1)
        if settings.position == "cosine":
            codes = waves(torch.arange(settings.n_clips), inputs.n_dimensions).T.float()
            self.register_buffer("clip_codes", codes, persistent=False)
        self.register_buffer("cell_codes", index_codes(proposals, hidden).float(), persistent=False)

    def see(self, video: VideoRows, n_rows: int) -> Frames:
        """Return rows by linear interpolation, (T, D)."""
        return interpolate(video.rows, n_rows)

    def forward(self, batch: Batch) -> ModelOutput:
        """Score every cell."""
        words = self.encode_words(batch)
        return ModelOutput(self.match_cells(self.encode_clips(batch.require("video")), words, batch.n_words))

    def match_cells(self, clips: Tensor, words: Tensor, n_words: Tensor) -> Tensor:
        """Return the logits (B, C) of clips (B, H, N) and words (B, H, L)."""
        counts = real_words(n_words, words.shape[2])
        clips, words = self.match(clips, words, counts)
        return self.score_cells(self.moments(clips, words, counts))

    def branches(self) -> VlgNetBranches | None:
        """Return the branches of clips and words; None if padding changes the scores, as published."""
        as_published = "published" in (self.settings.padding, self.settings.neighbours)
        return None if as_published else VlgNetBranches(self)

    def encode_clips(self, video: Tensor) -> Tensor:
        """Return clips (B, H, N) of rows (B, T, D); T is a multiple of N."""
        settings, n_rows = self.settings, video.shape[1]
        if n_rows == 0 or n_rows % settings.n_clips:
            raise UsageError(f"got {n_rows} rows of features a video, expected a multiple of {settings.n_clips} clips")
        rows = video.reshape(len(video), settings.n_clips, -1, video.shape[2])
        clips = (rows.mean(dim=2) if settings.pooling == "mean" else rows[:, :, 0]).transpose(1, 2)
        if settings.position == "cosine":
            clips = clips + self.clip_codes
        encoded: Tensor = self.dropout(self.project_clips(clips)).relu()
        for block in self.video_graph:
            for _ in range(self.video_repeats):
                encoded = block(encoded)
        return encoded

    def encode_words(self, batch: Batch) -> Tensor:
        """Return words (B, H, L)."""
        words = self.encode_query.states(batch.words)
        heads = batch.require("heads")
        for block in self.syntactic_graph:
            for _ in range(self.syntactic_repeats):
                words = block(words, heads)
        read: Tensor = self.dropout(self.project_words(words)).relu()
        return read.transpose(1, 2)

    def score_cells(self, cells: Tensor) -> Tensor:
        """Return the logits (B, C) of cells (B, C, H); the published convolutions on a map have a kernel of 1."""
        cells = self._scored(self.first_score, cells + self.cell_codes)
        for layer in self.further_scores:
            for _ in range(self.score_repeats):
                cells = self._scored(layer, cells)
        logits: Tensor = self.score(cells)
        return logits.squeeze(2)

    def _scored(self, layer: nn.Module, cells: Tensor) -> Tensor:
        """Return a layer of cells; dropout leaves out a number in all cells of a pair."""
        scored: Tensor = self.drop_channels(layer(cells).transpose(1, 2)).transpose(1, 2)
        return scored.relu()

    def losses(self, batch: Batch, output: ModelOutput) -> dict[str, Tensor]:
        """Return "cells"."""
        target = scaled_iou(batch.require("iou"), self.settings.iou_low, self.settings.iou_high)
        return {"cells": candidate_loss(output.logits, target)}


class VlgNetBranches:
    """VLG-Net in branches: the clips of a video are kept before they are matched with words."""

    def __init__(self, model: VlgNet) -> None:
        self.model = model

    def encode_video(self, video: Tensor) -> Tensor:
        """Return clips (W, H, N)."""
        return self.model.encode_clips(video)

    def encode_query(self, batch: Batch) -> EncodedQuery:
        """Return words (S, H, L) and their number, (S,)."""
        return self.model.encode_words(batch), batch.n_words

    def fuse(self, video: Tensor, query: EncodedQuery) -> Tensor:
        """Return logits (S, W, C)."""
        n_windows, (words, n_words) = len(video), query
        longest = int(n_words.max())
        logits = self.model.match_cells(
            video.repeat(len(words), 1, 1),
            words[:, :, :longest].repeat_interleave(n_windows, dim=0),
            n_words.repeat_interleave(n_windows),
        )
        return logits.view(len(words), n_windows, -1)
