"""2D-TAN: candidate moments on a map, each compared with the sentence and then with its neighbours.

Zhang, Peng, Fu and Luo: "Learning 2D Temporal Adjacent Networks for Moment Localization with Natural Language", AAAI
2020. The default settings are those of the base model of MDD on Charades-CD and ActivityNet-CD; those of the paper are

====================  =======  ======  ======  =======  ========  =========
dataset               n_clips  kernel  layers  iou_low  iou_high  features
====================  =======  ======  ======  =======  ========  =========
Charades-STA          16       5       8       0.5      1.0       VGG, 4096
ActivityNet Captions  64       9       4       0.5      1.0       C3D, 500
TACoS                 128      5       8       0.3      0.7       C3D, 4096
====================  =======  ======  ======  =======  ========  =========
"""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec
from torch import Tensor, nn

from truemoment.baselines.proposals import SparseMap
from truemoment.learning.models.base import Batch, Count, EncodedQuery, Inputs, MapModel, ModelOutput, Need
from truemoment.learning.models.layers.cell_convolution import CellConvolutions
from truemoment.learning.models.layers.fusion import fuse
from truemoment.learning.models.layers.query import QueryEncoder
from truemoment.learning.models.layers.sparse_convolution import convolutions_to_answer
from truemoment.learning.models.layers.temporal_map import ConvMoments, FrameEncoder, MaxMoments
from truemoment.learning.models.losses import candidate_loss, scaled_iou


class Tan2DSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings.

    Parameters
    ----------
    n_clips
        N, clips per video.
    hidden
        H.
    kernel, layers
        Width (odd) and number of the convolutions.
    lstm_layers
        Layers of the LSTM.
    moments
        How clips become a moment: their "max", or learnt convolutions ("conv").
    start
        Initial weights of the convolutions: "pytorch", as in the published code, or "level"
        (:meth:`~truemoment.learning.models.layers.cell_convolution.CellConvolutions.start_level`), which learns in far
        fewer steps.
    iou_low, iou_high
        IoU at which a cell's target is 0, and 1.
    """

    n_clips: Count = 16
    hidden: Count = 512
    kernel: Count = 5
    layers: Count = 4
    lstm_layers: Count = 3
    moments: Literal["max", "conv"] = "max"
    start: Literal["pytorch", "level"] = "pytorch"
    iou_low: float = 0.5
    iou_high: float = 1.0


class Tan2D(MapModel):
    """2D-TAN."""

    name: ClassVar[str] = "tan2d"
    needs: ClassVar[frozenset[Need]] = frozenset({"video", "cell ious"})

    def __init__(self, settings: Tan2DSettings, inputs: Inputs) -> None:
        proposals = SparseMap(settings.n_clips)
        super().__init__(proposals)
        self.settings = settings
        hidden = settings.hidden
        self.encode_query = QueryEncoder(inputs.n_vector, hidden, settings.lstm_layers)
        self.project_sentence = nn.Linear(hidden, hidden)
        self.encode_frames = FrameEncoder(inputs.n_dimensions, hidden, settings.n_clips)
        self.moments = MaxMoments(proposals) if settings.moments == "max" else ConvMoments(proposals, hidden)
        self.project_cells = nn.Linear(hidden, hidden)
        self.convolutions = CellConvolutions(proposals, hidden, kernel=settings.kernel, layers=settings.layers)
        self.score = nn.Linear(hidden, 1)
        if settings.start == "level":
            self.convolutions.start_level()

    def forward(self, batch: Batch) -> ModelOutput:
        """Score every candidate."""
        fused = fuse(self.sentences_of(batch), self.cells_of(batch.require("video")))
        return ModelOutput(self.score(self.convolutions(fused)).squeeze(-1))

    def sentences_of(self, batch: Batch) -> Tensor:
        """Return the sentences as they are fused, (B, H)."""
        sentence, _ = self.encode_query(batch.words, batch.n_words)
        projected: Tensor = self.project_sentence(sentence)
        return projected

    def cells_of(self, video: Tensor) -> Tensor:
        """Return the cells of videos (B, T, D) as they are fused, (B, C, H)."""
        cells: Tensor = self.project_cells(self.moments(self.encode_frames(video)))
        return cells

    def branches(self) -> Tan2DBranches:
        """Return the branches of cells and sentences."""
        return Tan2DBranches(self)

    def losses(self, batch: Batch, output: ModelOutput) -> dict[str, Tensor]:
        """Return "cells"."""
        target = scaled_iou(batch.require("iou"), self.settings.iou_low, self.settings.iou_high)
        return {"cells": candidate_loss(output.logits, target)}


class Tan2DBranches:
    """2D-TAN in branches: the cells of a video are kept before they meet the sentence."""

    def __init__(self, model: Tan2D) -> None:
        self.model = model
        self._convolve = convolutions_to_answer(model.convolutions)

    def encode_video(self, video: Tensor) -> Tensor:
        """Return cells (W, C, H)."""
        return self.model.cells_of(video)

    def encode_query(self, batch: Batch) -> EncodedQuery:
        """Return sentences (S, H)."""
        return (self.model.sentences_of(batch),)

    def fuse(self, video: Tensor, query: EncodedQuery) -> Tensor:
        """Return logits (S, W, C)."""
        fused = fuse(query[0][:, None], video)
        logits: Tensor = self.model.score(self._convolve(fused.flatten(0, 1)))
        return logits.view(fused.shape[:3])
