"""Blind-TAN: 2D-TAN with a learnt map in place of the video; how far the sentence alone goes.

Otani, Nakashima, Rahtu and Heikkilä: "Uncovering Hidden Challenges in Query-Based Video Moment Retrieval", BMVC 2020.
There is no published code; depth, kernel, optimiser, mask and initial map are not in the paper and are taken from
2D-TAN. The paper states N = 256, with d = 512 for Charades-STA and 128 for ActivityNet Captions: either a map of 256 x
256, or the 256 rows of features from which 2D-TAN makes clips. Both readings are here:

* the default settings, and with ``n_clips=64, kernel=9`` or ``layers=8``, are directly comparable with 2D-TAN's;
* the recipe ``blind-tan-256`` is the other reading, on the sparse map of 256 clips.

With ``prior="frozen"`` the map keeps its initial values: the padding of the convolutions still encodes the location of
a cell, which suffices to learn where moments usually are.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import msgspec
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from truemoment.baselines.proposals import SparseMap
from truemoment.learning.models.base import Batch, Count, Inputs, MapModel, ModelOutput, Need
from truemoment.learning.models.layers.cell_convolution import CellConvolutions
from truemoment.learning.models.layers.fusion import fuse
from truemoment.learning.models.layers.query import QueryEncoder
from truemoment.learning.models.losses import candidate_loss, scaled_iou


class BlindTanSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings.

    Parameters
    ----------
    n_clips
        N, clips per video.
    hidden
        H; the paper's d.
    kernel, layers
        Width (odd) and number of the convolutions.
    lstm_layers
        Layers of the LSTM.
    prior
        "learnt" map, or "frozen" at its initial values.
    prior_spread
        Standard deviation of the initial map. As the product with the sentence is normalised, it sets how quickly the
        map is learnt.
    one_by_one
        Score query by query and recompute in the backward pass: a third slower, with the memory of one query.
    start
        Initial weights of the convolutions: "pytorch", or "level"
        (:meth:`~truemoment.learning.models.layers.cell_convolution.CellConvolutions.start_level`).
    iou_low, iou_high
        IoU at which a cell's target is 0, and 1.
    """

    n_clips: Count = 16
    hidden: Count = 512
    kernel: Count = 5
    layers: Count = 4
    lstm_layers: Count = 3
    prior: Literal["learnt", "frozen"] = "learnt"
    prior_spread: Annotated[float, msgspec.Meta(gt=0)] = 0.02
    one_by_one: bool = False
    start: Literal["pytorch", "level"] = "pytorch"
    iou_low: float = 0.5
    iou_high: float = 1.0


class BlindTan(MapModel):
    """Blind-TAN."""

    name: ClassVar[str] = "blind-tan"
    needs: ClassVar[frozenset[Need]] = frozenset({"cell ious"})

    cell: Tensor

    def __init__(self, settings: BlindTanSettings, inputs: Inputs) -> None:
        proposals = SparseMap(settings.n_clips)
        super().__init__(proposals)
        self.settings = settings
        n, hidden = settings.n_clips, settings.hidden
        self.prior = nn.Parameter(
            torch.randn(n * n, hidden) * settings.prior_spread, requires_grad=settings.prior == "learnt"
        )
        first, last = proposals.cells
        self.register_buffer("cell", torch.from_numpy(first * n + last), persistent=False)
        self.encode_query = QueryEncoder(inputs.n_vector, hidden, settings.lstm_layers)
        self.project_sentence = nn.Linear(hidden, hidden)
        self.project_cells = nn.Linear(hidden, hidden)
        self.convolutions = CellConvolutions(proposals, hidden, kernel=settings.kernel, layers=settings.layers)
        if settings.start == "level":
            self.convolutions.start_level()
        self.score = nn.Linear(hidden, 1)

    def forward(self, batch: Batch) -> ModelOutput:
        """Score every candidate from the words alone."""
        sentence, _ = self.encode_query(batch.words, batch.n_words)
        query = self.project_sentence(sentence)
        cells = self.project_cells(self.prior[self.cell])
        if not self.settings.one_by_one:
            return ModelOutput(self._score(query, cells))
        scores = [checkpoint(self._score, sentence, cells, use_reentrant=False) for sentence in query.split(1)]
        return ModelOutput(torch.cat(scores))

    def _score(self, query: Tensor, cells: Tensor) -> Tensor:
        """Compare queries (B, H) with cells (C, H): logits (B, C)."""
        logits: Tensor = self.score(self.convolutions(fuse(query, cells[None]))).squeeze(-1)
        return logits

    def losses(self, batch: Batch, output: ModelOutput) -> dict[str, Tensor]:
        """Return "cells"."""
        target = scaled_iou(batch.require("iou"), self.settings.iou_low, self.settings.iou_high)
        return {"cells": candidate_loss(output.logits, target)}
