"""The contract of a model: named tensors in, a score per candidate moment out.

Every model scores the C cells of 2D-TAN's sparse temporal map (:class:`~truemoment.proposals.SparseMap`), in its order;
cell (a, b) is the moment from ``a / N`` to ``(b + 1) / N`` of the video. Shapes: B pairs of a sentence and a video, T
rows of D features, L tokens, V verbs, K nouns per verb, C cells, H hidden.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

import msgspec
from torch import Tensor, nn

from truemoment.exceptions import UsageError
from truemoment.proposals import SparseMap

Count = Annotated[int, msgspec.Meta(ge=1, le=8192)]
"""How many of something a setting asks for."""

Weight = Annotated[float, msgspec.Meta(ge=0)]
"""What a term of a loss is multiplied with."""

Need = Literal["video", "phrases", "other video"]
"""What a model asks for beside the words: features, the phrase tree, and in training another video's features."""


@dataclass(frozen=True)
class Inputs:
    """Widths of a model: D features per row (0 for a model that sees no video) and E numbers per word vector."""

    n_dimensions: int
    n_vector: int


@dataclass(frozen=True)
class Batch:
    """Pairs of a sentence and a video as tensors.

    Parameters
    ----------
    words : (B, L, E) float32
        Word vectors; rows after the end of a sentence are 0.
    n_words : (B,) int64
        Tokens of each sentence, 1 or more.
    video : (B, T, D) float32 or None
        Rows of features; None for models that see no video.
    verbs : (B, V) int64 or None
        Positions of verbs among the tokens, padded with -1.
    nouns : (B, V, K) int64 or None
        Positions of each verb's nouns, padded with -1.
    iou : (B, C) float32 or None
        IoU of each cell with the reference moment; None if unknown.
    other_video : (B, T, D) float32 or None
        Features of another video, which does not show the moment.
    """

    words: Tensor
    n_words: Tensor
    video: Tensor | None = None
    verbs: Tensor | None = None
    nouns: Tensor | None = None
    iou: Tensor | None = None
    other_video: Tensor | None = None

    def __len__(self) -> int:
        return len(self.n_words)

    def known_iou(self) -> Tensor:
        """Return `iou`, the target of every loss."""
        if self.iou is None:
            raise UsageError("got a batch without IoU, expected that of each candidate: the loss aims at it")
        return self.iou


@dataclass(frozen=True)
class ModelOutput:
    """Output of a model for a batch.

    Parameters
    ----------
    logits : (B, C)
        A score per cell; its sigmoid is the expected IoU, rescaled as in the model's loss.
    extras
        Tensors for the model's own losses, by name; scalars among them are logged in training.
    """

    logits: Tensor
    extras: dict[str, Tensor] = field(default_factory=dict)


class GroundingModel(nn.Module, abc.ABC):
    """A model that scores candidate moments, built as ``Model(settings, inputs)``.

    A subclass states what it `needs`, has its candidates in `proposals`, and defines :meth:`forward` and
    :meth:`losses`.
    """

    name: ClassVar[str]
    """What it is called in recipes."""

    needs: ClassVar[frozenset[Need]]
    """What it asks for beside the words."""

    def __init__(self, proposals: SparseMap) -> None:
        super().__init__()
        self.proposals = proposals

    @abc.abstractmethod
    def forward(self, batch: Batch) -> ModelOutput:
        """Score every candidate: logits (B, C)."""

    @abc.abstractmethod
    def losses(self, batch: Batch, output: ModelOutput) -> dict[str, Tensor]:
        """Return the weighted terms of the loss by name, each a scalar; the loss is their sum."""

    def action_entries(self) -> int:
        """Return how many actions the model has vectors for."""
        return 0

    def start_actions(self, vectors: Tensor) -> None:
        """Start from word vectors of the most frequent actions in training, (:meth:`action_entries`, E)."""
        raise UsageError(f"got {len(vectors)} vectors of actions, but {self.name} knows no action by name")

    def n_parameters(self) -> int:
        """Return the number of trainable parameters."""
        return sum(parameter.numel() for parameter in self.parameters() if parameter.requires_grad)
