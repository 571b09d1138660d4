"""The contract of a model: named tensors in, a score per candidate moment out.

Every model of this family scores the C cells of 2D-TAN's sparse temporal map
(:class:`~truemoment.proposals.SparseMap`), in the order in which that lists them; cell (a, b) stands for the moment
from ``a / N`` to ``(b + 1) / N`` of the video. Letters of shapes: B pairs of a sentence and a video, T rows of
features, D numbers each, L tokens, V verbs, K nouns of a verb, C cells, H hidden.
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
    """The widths that a model is built for.

    Parameters
    ----------
    n_dimensions
        D, numbers a row of features; 0 for a model that sees no video.
    n_vector
        E, numbers a word vector.
    """

    n_dimensions: int
    n_vector: int


@dataclass(frozen=True)
class Batch:
    """Pairs of a sentence and a video as tensors.

    Parameters
    ----------
    words : (B, L, E) float32
        Word vectors; rows behind a sentence's end are 0.
    n_words : (B,) int64
        Tokens of each sentence, 1 or more.
    video : (B, T, D) float32 or None
        Rows of features; None for models that see no video.
    verbs : (B, V) int64 or None
        Positions of verbs among the tokens, -1 where there are fewer.
    nouns : (B, V, K) int64 or None
        Positions of each verb's nouns, -1 where there are fewer.
    iou : (B, C) float32 or None
        IoU of each cell with the reference moment; None where it is not known.
    other_video : (B, T, D) float32 or None
        Features of another video, which does not show what the sentence says.
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
        """Return `iou`, which every loss aims at."""
        if self.iou is None:
            raise UsageError("got a batch without IoU, expected that of each candidate: the loss aims at it")
        return self.iou


@dataclass(frozen=True)
class ModelOutput:
    """What a model says of a batch.

    Parameters
    ----------
    logits : (B, C)
        A score for each cell; the higher, the better it answers the sentence. Its sigmoid is the IoU expected of the
        cell, rescaled as the model's loss says.
    extras
        Tensors that the model's own losses need, by name; scalars among them are written into the log of training.
    """

    logits: Tensor
    extras: dict[str, Tensor] = field(default_factory=dict)


class GroundingModel(nn.Module, abc.ABC):
    """A model that scores candidate moments.

    A subclass says what it `needs`, keeps its candidates in `proposals`, and defines :meth:`forward` and
    :meth:`losses`. It is built from its own settings and :class:`Inputs`: ``Model(settings, inputs)``.

    Parameters
    ----------
    proposals
        The candidates.
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
        """Return the terms of the loss by name, each a scalar with its weight; the loss is their sum.

        Parameters
        ----------
        batch
            With `iou`, and `other_video` if the model asks for one.
        output
            What :meth:`forward` said of it.
        """

    def action_entries(self) -> int:
        """How many actions the model knows by name; 0 where it knows none."""
        return 0

    def start_actions(self, vectors: Tensor) -> None:
        """Take word vectors of the most frequent actions of training, (:meth:`action_entries`, E)."""
        raise UsageError(f"got {len(vectors)} vectors of actions, but {self.name} knows no action by name")

    def n_parameters(self) -> int:
        """Count the trainable numbers."""
        return sum(parameter.numel() for parameter in self.parameters() if parameter.requires_grad)
