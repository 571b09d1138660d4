"""TCN-DCM: content and location of a moment, separated, and the location adjusted for.

Yang, Feng, Ji, Wang and Chua, "Deconfounded Video Moment Retrieval with Causal Intervention", SIGIR 2021. Each cell of
the map of max-pooled clips gives its content V and its location P. To score a cell as if moments of every location were
equally likely, it attends to the locations of all cells of its video, and the result is added to its content::

    cells (B, C, H) ─┬─ linear ───────── V ────────────────── + ── times sentence ── convolutions ── logits (B, C)
                     └─ linear, tanh ─── P ── attention ─ O ──┘

Training separates V and P (distance correlation), moves P towards a sine code of the cell's location, and the scores of
another video towards 0.

As in the authors' code: locations are those of the same video, without a prior over the training set; the score has no
bias; there are three convolutions of kernel 5 whatever the original recipe states.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import msgspec
import torch
from torch import Tensor, nn

from truemoment.baselines.proposals import SparseMap
from truemoment.learning.models.base import Batch, Count, Inputs, MapModel, ModelOutput, Need, Weight
from truemoment.learning.models.layers.attention import CellAttention
from truemoment.learning.models.layers.cell_convolution import TriangleConvolutions
from truemoment.learning.models.layers.distance_correlation import distance_correlation
from truemoment.learning.models.layers.fusion import fuse
from truemoment.learning.models.layers.positions import cell_codes, position_loss
from truemoment.learning.models.layers.query import QueryEncoder
from truemoment.learning.models.layers.temporal_map import FrameEncoder, MaxMoments
from truemoment.learning.models.losses import candidate_loss, scaled_iou


class TCNDCMSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings; the defaults are the authors' configuration for Charades-STA.

    Parameters
    ----------
    n_clips
        N, clips per video.
    hidden
        H, a multiple of `heads` and of 4.
    lstm_layers
        Layers of the LSTM.
    kernel, layers
        Width and number of the convolutions.
    location
        "adjusted" for, the method; only "added" to the content; or "none", the baseline without its losses.
    heads, dropout
        Heads of the attention, and the dropout rate of its weights.
    own_weight
        Weight of a cell's own location, added to what it attends to (eta).
    negatives_weight
        Weight of the loss on other videos (gamma); 0 for none.
    location_weight
        Weight of the distance between P and the code of the location (sigma).
    independence_weight
        Weight of the distance correlation of V and P (lambda).
    size_weight
        Weight of the sizes of V and P.
    distance_rows
        Random sample of the B * C cells per batch for the distance correlation, whose cost is quadratic; None uses all,
        as the authors do. Fewer rows bias it up (:mod:`~truemoment.learning.models.layers.distance_correlation`).
    iou_low, iou_high
        IoU at which a cell's target is 0, and 1.
    """

    n_clips: Count = 16
    hidden: Count = 512
    lstm_layers: Count = 3
    kernel: Count = 5
    layers: Count = 3
    location: Literal["adjusted", "added", "none"] = "adjusted"
    heads: Count = 4
    dropout: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.1
    own_weight: Weight = 1.0
    negatives_weight: Weight = 1.0
    location_weight: Weight = 1.0
    independence_weight: Weight = 0.001
    size_weight: Weight = 1e-5
    distance_rows: Count | None = None
    iou_low: float = 0.5
    iou_high: float = 1.0


class LocationAdjustment(nn.Module):
    r"""Each cell attends to the locations of all cells of its video, given the sentence and the cell's content.

    .. math::
        \text{value} = \text{ReLU}(W_v P + b_v), \quad
        O_c = \text{ReLU}(\text{attention}(W_q u_c, W_k P, \text{value}) + \eta \, \text{value}_c), \quad
        u_c = L_1(\text{ReLU}(q)) + L_2(\text{ReLU}(V_c))
    """

    def __init__(self, settings: TCNDCMSettings) -> None:
        super().__init__()
        hidden = settings.hidden
        self.of_sentence = nn.Linear(hidden, hidden)
        self.of_content = nn.Linear(hidden, hidden)
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.key = nn.Linear(hidden, hidden, bias=False)
        self.value = nn.Linear(hidden, hidden)
        self.attend = CellAttention(hidden, settings.heads, dropout=settings.dropout)
        self.own_weight = settings.own_weight

    def forward(self, sentence: Tensor, content: Tensor, location: Tensor) -> Tensor:
        """Return O, (B, C, H), of the sentence q (B, H), content V and location P (B, C, H)."""
        value: Tensor = self.value(location).relu()
        queries = self.of_sentence(sentence.relu())[:, None] + self.of_content(content.relu())
        attended: Tensor = self.attend(self.query(queries), self.key(location), value)
        return (attended + self.own_weight * value).relu()


class TCNDCM(MapModel):
    """TCN-DCM, and its baseline without locations."""

    name: ClassVar[str] = "tcn-dcm"
    needs: ClassVar[frozenset[Need]] = frozenset({"video", "other video", "cell ious"})

    codes: Tensor

    def __init__(self, settings: TCNDCMSettings, inputs: Inputs) -> None:
        proposals = SparseMap(settings.n_clips)
        super().__init__(proposals)
        self.settings = settings
        hidden = settings.hidden
        self.encode_query = QueryEncoder(inputs.n_vector, hidden, settings.lstm_layers)
        self.encode_frames = FrameEncoder(inputs.n_dimensions, hidden, settings.n_clips)
        self.moments = MaxMoments(proposals)
        self.content = nn.Linear(hidden, hidden)
        self.project_sentence = nn.Linear(hidden, hidden)
        self.convolutions = TriangleConvolutions(proposals, hidden, kernel=settings.kernel, layers=settings.layers)
        self.around = nn.Linear(hidden, hidden)
        self.score = nn.Linear(hidden, 1, bias=False)
        if settings.location != "none":
            self.location = nn.Linear(hidden, hidden)
            self.register_buffer("codes", cell_codes(proposals, hidden), persistent=False)
        if settings.location == "adjusted":
            self.adjust = LocationAdjustment(settings)

    def forward(self, batch: Batch) -> ModelOutput:
        """Score every candidate, and with `other_video` also the score of the sentence there.

        The extras are "content" and "location", (B, C, H), unless there are no locations, and "negative_logits", (B,
        C).
        """
        sentence, _ = self.encode_query(batch.words, batch.n_words)
        logits, extras = self._score(sentence, batch.require("video"))
        if batch.other_video is not None and self.settings.negatives_weight:
            extras["negative_logits"], _ = self._score(sentence, batch.other_video)
        return ModelOutput(logits, extras)

    def _score(self, sentence: Tensor, video: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Logits (B, C) of sentences (B, H) in videos (B, T, D), with content and location if they are separate."""
        cells = self.moments(self.encode_frames(video))
        content = self.content(cells)
        extras = {}
        whole = content
        if self.settings.location != "none":
            location = self.location(cells).tanh()
            extras = {"content": content, "location": location}
            adjusted = self.settings.location == "adjusted"
            whole = content + (self.adjust(sentence, content, location) if adjusted else location)
        fused = fuse(self.project_sentence(sentence), whole)
        result = self.convolutions(fused) + self.around(fused).relu()
        logits: Tensor = self.score(result).squeeze(-1)
        return logits, extras

    def losses(self, batch: Batch, output: ModelOutput) -> dict[str, Tensor]:
        """Return "cells", and "negatives", "location", "independence" and "size" as set.

        "negatives" needs another video in the batch. The cells of "independence" are drawn from PyTorch's own
        generator.
        """
        settings = self.settings
        terms = {
            "cells": candidate_loss(
                output.logits, scaled_iou(batch.require("iou"), settings.iou_low, settings.iou_high)
            )
        }
        if "negative_logits" in output.extras:
            negative = output.extras["negative_logits"]
            terms["negatives"] = settings.negatives_weight * candidate_loss(negative, torch.zeros_like(negative))
        if settings.location != "none":
            content, location = output.extras["content"], output.extras["location"]
            if settings.location_weight:
                terms["location"] = settings.location_weight * position_loss(location, self.codes)
            if settings.independence_weight:
                terms["independence"] = settings.independence_weight * distance_correlation(
                    content.flatten(0, 1), location.flatten(0, 1), rows=settings.distance_rows
                )
            if settings.size_weight:
                terms["size"] = settings.size_weight * (_size(content) + _size(location))
        return terms


def _size(numbers: Tensor) -> Tensor:
    """The Euclidean length of all numbers of a batch together, in single precision at least."""
    length: Tensor = torch.linalg.vector_norm(numbers, dtype=torch.promote_types(numbers.dtype, torch.float32))
    return length
