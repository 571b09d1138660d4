"""The sequential head: a transformer over the frames of a clip before they are averaged (CLIP4Clip, Luo et al. 2021).

Each frame gets a learned vector of its position; the output of the transformer is added to the frames, whose directions
are averaged. CLIP4Clip starts the transformer from weights of CLIP. Here its output begins at zero, so that the first
epoch starts from mean pooling. A residual linear map of the sentences is learned, and the scale.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec
import torch
from torch import Tensor, nn

from truemoment.base.errors import UsageError
from truemoment.learning.models.base import Count, Inputs
from truemoment.learning.models.retrieval_model import MOST_SCALE, ResidualMap, RetrievalModel, mean_of, present, unit

POSITION_STD = 0.02


class FrameSequenceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings.

    Parameters
    ----------
    layers, heads
        Layers and heads of the transformer.
    most_frames
        Positions that are learned; `rows` of the recipe is this or less.
    scale
        Factor of the cosines at the start, 100 or less; it is learned. CLIP's is 100 after its training.
    """

    layers: Count = 4
    heads: Count = 8
    most_frames: Count = 12
    scale: Annotated[float, msgspec.Meta(gt=0)] = MOST_SCALE


class FrameSequence(RetrievalModel):
    """The sequential head."""

    name: ClassVar[str] = "frame-sequence"

    def __init__(self, settings: FrameSequenceSettings, inputs: Inputs) -> None:
        super().__init__(settings.scale)
        n_dimensions = inputs.n_dimensions
        if n_dimensions % settings.heads:
            raise UsageError(
                f"settings.heads: got {settings.heads}, expected a divisor of the {n_dimensions} dimensions"
            )
        self.position = nn.Parameter(POSITION_STD * torch.randn(settings.most_frames, n_dimensions))
        layer = nn.TransformerEncoderLayer(
            n_dimensions,
            settings.heads,
            4 * n_dimensions,
            dropout=0.0,
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )
        self.layers = nn.TransformerEncoder(layer, settings.layers, enable_nested_tensor=False)
        self.output = nn.Linear(n_dimensions, n_dimensions, bias=False)
        nn.init.zeros_(self.output.weight)
        self.text_map = ResidualMap(n_dimensions)

    def clip_vectors(self, frames: Tensor) -> Tensor:
        """Return the mean direction of the frames after the transformer."""
        if frames.shape[1] > len(self.position):
            raise UsageError(
                f"rows: got {frames.shape[1]}, expected settings.most_frames, {len(self.position)}, or less"
            )
        real, frames = present(frames), unit(frames)
        encoded = self.layers(frames + self.position[: frames.shape[1]], src_key_padding_mask=~real)
        return mean_of(frames + self.output(encoded), real)

    def text_vectors(self, sentences: Tensor) -> Tensor:
        """Return the direction of each sentence, mapped."""
        return unit(self.text_map(unit(sentences)))
