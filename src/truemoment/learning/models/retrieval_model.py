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
from truemoment.media.features.sentences import SentenceStore

MOST_SCALE = 100.0
"""Largest factor of the cosines (CLIP, Radford et al. 2021)."""


class RetrievalModel(TrainableModel):
    """A model of retrieval; a subclass defines :meth:`clip_vectors` and :meth:`text_vectors`."""

    task: ClassVar[str] = "ranking"
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
        clips = gathered(self.clip_vectors(batch.require("video")))
        texts = gathered(self.text_vectors(batch.require("sentence")))
        scale = self.scale
        return ModelOutput(scale * texts @ clips.T, {"scale": scale})

    def losses(self, batch: Batch, output: ModelOutput) -> dict[str, Tensor]:
        """Return the symmetric cross entropy of the batch."""
        del batch
        return {"contrastive": symmetric_cross_entropy(output.logits)}

    def start_step(self, number: int) -> None:
        """Limit the scale to 100: above it, its gradient would be 0."""
        del number
        with torch.no_grad():
            self.log_scale.clamp_(max=math.log(MOST_SCALE))


def present(frames: Tensor) -> Tensor:
    """Return which rows are frames and not padding of zeros, (B, F)."""
    return frames.flatten(2).ne(0).any(dim=-1)


def mean_of(rows: Tensor, is_present: Tensor) -> Tensor:
    """Return the direction of the mean direction of the rows (B, F, D) that are present, (B, F), as (B, D)."""
    return unit((unit(rows) * is_present[..., None]).sum(dim=1))


class ResidualMap(nn.Linear):
    """x + W x, with W of zeros at the start: what is not trained changes nothing."""

    def __init__(self, n_dimensions: int) -> None:
        super().__init__(n_dimensions, n_dimensions, bias=False)
        nn.init.zeros_(self.weight)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return mapped vectors, (..., D)."""
        return vectors + super().forward(vectors)


def symmetric_cross_entropy(logits: Tensor) -> Tensor:
    """Return the mean cross entropy of rows and columns of scaled similarities (B, B).

    Each text finds its clip among those of the batch, and each clip its text: the right item of row i is column i
    (CLIP, Radford et al. 2021; CLIP4Clip, Luo et al. 2021).

    Examples
    --------
    >>> round(float(symmetric_cross_entropy(torch.zeros(8, 8))), 4)  # equal similarities: log 8
    2.0794
    """
    right = torch.arange(len(logits), device=logits.device)
    rows = nn.functional.cross_entropy(logits, right)
    return 0.5 * (rows + nn.functional.cross_entropy(logits.T, right))


def unit(vectors: Tensor) -> Tensor:
    """Return vectors (..., D) of length 1; vectors of zeros stay."""
    return nn.functional.normalize(vectors, dim=-1)


def gathered(vectors: Tensor) -> Tensor:
    """Return the vectors (B, D) of all P processes, (P B, D); gradients flow back to those of this process.

    Every process computes the loss of the whole batch, so that the gradient of its own vectors is the same in each.
    The training loop averages over processes: times P here, the step equals that of one process.
    """
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return vectors
    n_processes = torch.distributed.get_world_size()
    parts = [torch.empty_like(vectors) for _ in range(n_processes)]
    torch.distributed.all_gather(parts, vectors.detach().contiguous())
    local = vectors.view_as(vectors)
    if local.requires_grad:
        local.register_hook(lambda gradient: n_processes * gradient)  # type: ignore[no-untyped-call]
    parts[torch.distributed.get_rank()] = local
    return torch.cat(parts)
