"""A model that ranks clips by text: a vector for each clip and each sentence, and a scale of their cosines.

Shapes: B pairs of a sentence and a clip, F frames of a clip, D dimensions.
"""

from __future__ import annotations

import abc
import math
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from truemoment.base.errors import UsageError
from truemoment.base.records import Queries
from truemoment.learning.models.base import Batch, ModelOutput, Need, TrainableModel
from truemoment.learning.models.contrastive import gathered, symmetric_cross_entropy, unit
from truemoment.media.features.sentences import SentenceStore

MOST_SCALE = 100.0
"""Largest factor of the cosines (CLIP, Radford et al. 2021)."""


class RetrievalModel(TrainableModel):
    """A model of retrieval; a subclass defines :meth:`clip_vectors` and :meth:`text_vectors`."""

    needs: ClassVar[frozenset[Need]] = frozenset({"video", "sentence"})

    def __init__(self, scale: float = MOST_SCALE) -> None:
        super().__init__()
        if scale > MOST_SCALE:
            raise UsageError(f"settings.scale: got {scale:g}, expected {MOST_SCALE:g} or less")
        self.log_scale = nn.Parameter(torch.tensor(math.log(scale)))

    def see_texts(
        self, queries: Queries, vectors: SentenceStore | None
    ) -> npt.NDArray[np.float32] | npt.NDArray[np.int64]:
        """Return the sentences of queries as the model sees them, (Q, ...); here their fixed vectors, (Q, D)."""
        if vectors is None:
            raise UsageError(f"{self.name} compares vectors of sentences: give --sentences FILE.h5 or FILE.npz")
        return vectors.vectors(queries)

    @abc.abstractmethod
    def clip_vectors(self, frames: Tensor) -> Tensor:
        """Return a vector of length 1 for each clip, (B, D), from its frames (B, F, ...), padded with zeros."""

    @abc.abstractmethod
    def text_vectors(self, sentences: Tensor) -> Tensor:
        """Return a vector of length 1 for each sentence, (B, D)."""

    @property
    def scale(self) -> Tensor:
        """Factor of the cosines, at most 100."""
        return self.log_scale.clamp(max=math.log(MOST_SCALE)).exp()

    def forward(self, batch: Batch) -> ModelOutput:
        """Return the scaled cosines of all sentences and clips of the batch, over all processes."""
        clips = gathered(self.clip_vectors(batch.known("video")))
        texts = gathered(self.text_vectors(batch.known("sentence")))
        scale = self.scale
        return ModelOutput(scale * texts @ clips.T, {"scale": scale})

    def losses(self, batch: Batch, output: ModelOutput) -> dict[str, Tensor]:
        """Return the symmetric cross entropy of the batch."""
        del batch
        return {"contrastive": symmetric_cross_entropy(output.logits)}

    def start_step(self, number: int) -> None:
        """Hold the scale at 100: beyond it, it would get no gradient back."""
        del number
        with torch.no_grad():
            self.log_scale.clamp_(max=math.log(MOST_SCALE))


def present(frames: Tensor) -> Tensor:
    """Return which rows are frames and not padding of zeros, (B, F)."""
    return frames.flatten(2).ne(0).any(dim=-1)


def mean_of(rows: Tensor, there: Tensor) -> Tensor:
    """Return the direction of the mean direction of the rows (B, F, D) that are there, (B, D)."""
    return unit((unit(rows) * there[..., None]).sum(dim=1))


class ResidualMap(nn.Linear):
    """x + W x, with W of zeros at the start: what is not trained changes nothing."""

    def __init__(self, n_dimensions: int) -> None:
        super().__init__(n_dimensions, n_dimensions, bias=False)
        nn.init.zeros_(self.weight)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return mapped vectors, (..., D)."""
        return vectors + super().forward(vectors)
