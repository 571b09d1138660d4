"""The contract of a model: named tensors in, scored moments out.

A model states what it needs (:data:`Need`), how it sees a video (:meth:`TrainableModel.see`), what it learns
(:meth:`TrainableModel.losses`) and which moments it answers with (:meth:`GroundingModel.answer`). Shapes: B pairs of a
sentence and a video, T rows of D features, L tokens, V verbs, K nouns per verb, C candidates, H hidden.
"""

from __future__ import annotations

import abc
import dataclasses
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Protocol

import msgspec
import numpy as np
import torch
from torch import Tensor, nn

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats
from truemoment.baselines.proposals import SparseMap
from truemoment.media.features.resampling import resample

Count = Annotated[int, msgspec.Meta(ge=1, le=8192)]
"""A number of things in a setting."""

Weight = Annotated[float, msgspec.Meta(ge=0)]
"""Factor of a term of a loss."""

Need = Literal[
    "video",
    "phrases",
    "other video",
    "cell ious",
    "moment",
    "moments",
    "ratings",
    "duration",
    "windows",
    "word numbers",
    "word vectors",
    "heads",
    "sentence",
]
"""An input of a model beside the word vectors, see :class:`PairTensors`; a model gets only what it names."""

TIMES: frozenset[Need] = frozenset({"cell ious", "moment", "moments", "ratings"})
"""Inputs that are made from the times of references: a model without them learns from pairs of sentence and video."""


class VideoRows(NamedTuple):
    """The features of one video: rows (n, D) float32, their edges in seconds (n + 1,), and the duration."""

    rows: np.ndarray[Any, np.dtype[np.float32]]
    edges_s: Floats
    duration_s: float


@dataclass(frozen=True)
class Inputs:
    """Widths of a model: D features per row (0 for a model that sees no video) and E numbers per word vector.

    Parameters
    ----------
    words
        The words of the vocabulary, from number 2 on.
    """

    n_dimensions: int
    n_vector: int
    words: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PairTensors:
    """Pairs of a sentence and a video as tensors, without the words; None for what a model does not need.

    Parameters
    ----------
    n_words : (B,) int64
        Tokens of each sentence, 1 or more.
    video : (B, ...) float32
        What :meth:`TrainableModel.see` returns for each video; (B, C, 3, D) for a model that needs "windows": means of
        the context before a window, of the window, and of the context after it.
    verbs : (B, V) int64
        Positions of verbs among the tokens, padded with -1.
    nouns : (B, V, K) int64
        Positions of each verb's nouns, padded with -1.
    iou : (B, C) float32
        IoU of each cell with the reference moment; None if the reference is unknown.
    other_video : (B, ...) float32
        As `video`, of another video, which does not show the moment; in training only.
    moment : (B, 2) float32
        Start and end of the reference moment as shares of the video, NaN where it is not shown; None if unknown.
    moments : (B, M, 2) float32
        As `moment`, of all references of a query, at most :attr:`GroundingModel.most_moments`; NaN after the last.
    ratings : (B, T) float32
        Sum of the annotators' ratings of each row of `video`; NaN for a row, or a query, that nobody rated.
    duration_s : (B,) float64
        Duration of each video.
    windows_s : (B, C, 2) float64
        Start and end of each sliding window, NaN after the last window of a video; one window a pair in training.
    heads : (B, L) int64
        Position of the word that each word depends on, -1 for none and after the end of a sentence.
    sentence : (B, ...)
        What :meth:`~truemoment.learning.models.retrieval_model.RetrievalModel.see_texts` returns for each sentence.
    """

    n_words: Tensor
    video: Tensor | None = None
    verbs: Tensor | None = None
    nouns: Tensor | None = None
    iou: Tensor | None = None
    other_video: Tensor | None = None
    moment: Tensor | None = None
    moments: Tensor | None = None
    ratings: Tensor | None = None
    duration_s: Tensor | None = None
    windows_s: Tensor | None = None
    heads: Tensor | None = None
    sentence: Tensor | None = None

    def __len__(self) -> int:
        return len(self.n_words)


@dataclass(frozen=True, kw_only=True)
class Batch(PairTensors):
    """The input of a model.

    Parameters
    ----------
    words : (B, L, E) float32
        Word vectors; rows after the end of a sentence are 0.
    word_numbers : (B, L) int64
        Numbers of the words: 0 after the end of a sentence, 1 for unknown words.
    word_vectors : (V, E) float32
        Vectors of all words by number, the same for all pairs.
    """

    words: Tensor
    word_numbers: Tensor | None = None
    word_vectors: Tensor | None = None

    def require(
        self,
        name: Literal[
            "video",
            "iou",
            "moment",
            "moments",
            "ratings",
            "duration_s",
            "windows_s",
            "heads",
            "sentence",
            "word_numbers",
            "word_vectors",
        ],
    ) -> Tensor:
        """Return an input that the model needs."""
        value: Tensor | None = getattr(self, name)
        if value is None:
            raise UsageError(f"got a batch without {name}, which the model needs")
        return value


@dataclass(frozen=True)
class ModelOutput:
    """Output of a model for a batch.

    Parameters
    ----------
    logits
        A score per candidate; (B, C) for cells, anchors or windows.
    extras
        Further tensors for losses and moments, by name; scalars among them are logged in training.
    """

    logits: Tensor
    extras: dict[str, Tensor] = field(default_factory=dict)


class MomentTensors(NamedTuple):
    """Moments of B queries: start and end as shares of the video, (C,) for all queries or (B, C), and scores (B, C).

    Moments are not yet clipped to the video or ranked. A score of -inf marks a candidate that a query does not have. A
    model that also rates the rows of the video has ratings (B, T), with NaN after the last row.
    """

    start: Tensor
    end: Tensor
    score: Tensor
    rating: Tensor | None = None


# What a model keeps of S sentences: tensors (S, ...).
EncodedQuery = tuple[Tensor, ...]


class Branches(Protocol):
    """A trained model with separate encoders of video and sentence, and their fusion.

    The windows of a film are then encoded once, whatever it is asked. The scores are those of
    :meth:`GroundingModel.forward`, up to rounding.
    """

    def encode_video(self, video: Tensor) -> Tensor:
        """Return the encodings (W, ...) of W videos as the model sees them, (W, T, D)."""
        ...

    def encode_query(self, batch: Batch) -> EncodedQuery:
        """Return the encodings of the S sentences of a batch; its videos are not read."""
        ...

    def fuse(self, video: Tensor, query: EncodedQuery) -> Tensor:
        """Return the logits of each sentence and video, (S, W, C)."""
        ...


class TrainableModel(nn.Module, abc.ABC):
    """The contract of a model with the training loop; built as ``Model(settings, inputs)``.

    A subclass states what it `needs`, and defines :meth:`forward` and :meth:`losses`. What it outputs decides the rest:
    moments (:class:`GroundingModel`), or vectors of clips and sentences
    (:class:`~truemoment.learning.models.retrieval_model.RetrievalModel`).
    """

    name: ClassVar[str]
    """Name in recipes."""

    task: ClassVar[str]
    """Module of :mod:`truemoment.learning.training` whose ``TASK`` prepares, validates and answers."""

    needs: ClassVar[frozenset[Need]]
    """Inputs beside the word vectors."""

    least_batch: ClassVar[int] = 1
    """Smallest batch that the model learns from: 2 for statistics of a batch."""

    learns_in_turns: ClassVar[bool] = False
    """Whether some of its parameters have no gradient in some steps, beside those that a stage leaves as they are."""

    sees_rows: ClassVar[bool] = False
    """Whether it sees the rows of a video as they are: large features are then read when a step needs them, and no
    table of them is made."""

    def see(self, video: VideoRows, n_rows: int) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return a video as the model sees it, of the same shape for every video.

        Parameters
        ----------
        video
            The features.
        n_rows
            `rows` of the recipe.
        """
        return resample(video.rows, n_rows)

    @abc.abstractmethod
    def forward(self, batch: Batch) -> ModelOutput:
        """Score the candidates."""

    @abc.abstractmethod
    def losses(self, batch: Batch, output: ModelOutput) -> dict[str, Tensor]:
        """Return the weighted terms of the loss by name, each a scalar; the loss is their sum."""

    def start_stage(self, losses: frozenset[str]) -> None:
        """Prepare for a stage of training in which these terms of the loss are learned; none for all."""

    def start_step(self, number: int) -> None:
        """Prepare for a step of training; `number` counts the optimiser steps of the run before it, in all epochs."""

    def action_entries(self) -> int:
        """Return how many actions the model has vectors for."""
        return 0

    def start_actions(self, vectors: Tensor) -> None:
        """Start from word vectors of the most frequent actions in training, (:meth:`action_entries`, E)."""
        raise UsageError(f"got {len(vectors)} vectors of actions, but {self.name} knows no action by name")

    def n_parameters(self) -> int:
        """Return the number of trainable parameters."""
        return sum(parameter.numel() for parameter in self.parameters() if parameter.requires_grad)


class GroundingModel(TrainableModel):
    """A model that answers with moments; a subclass also defines :meth:`answer`."""

    task: ClassVar[str] = "grounding"

    n_candidates: int
    """Largest number of moments of an answer."""

    most_moments: int = 1
    """Largest number of references of a query in a step, for a model that needs "moments"; of more, some are drawn."""

    @abc.abstractmethod
    def answer(self, batch: Batch, output: ModelOutput) -> MomentTensors:
        """Return the moments of each query and their scores."""

    def windows_s(self, duration_s: float) -> Floats:
        """Return start and end in seconds of the sliding windows of a video, (C, 2), for a model that needs them."""
        raise UsageError(f"{self.name} has no sliding windows, expected no call for a video of {duration_s:g} s")


class MapModel(GroundingModel):
    """A model that scores the C cells of a sparse map; cell (a, b) is the moment from a / N to (b + 1) / N.

    Parameters
    ----------
    proposals
        The cells, in the order of the logits.
    """

    def __init__(self, proposals: SparseMap) -> None:
        super().__init__()
        self.proposals = proposals
        self.n_candidates = len(proposals.cells[0])

    def branches(self) -> Branches | None:
        """Return the branches of the model as its weights are now; None if its scores cannot be divided so."""
        return None

    def answer(self, batch: Batch, output: ModelOutput) -> MomentTensors:
        """Return every cell, scored by the sigmoid of its logit: the expected IoU, rescaled as in the loss."""
        del batch
        first, last = (torch.from_numpy(column.astype(np.float64)) for column in self.proposals.cells)
        n_clips = self.proposals.n_clips
        return MomentTensors(first / n_clips, (last + 1) / n_clips, torch.sigmoid(output.logits.float()))


def tensors_of(pairs: PairTensors) -> dict[str, Tensor]:
    """Return the tensors of :class:`PairTensors` that are set, by name."""
    values = {part.name: getattr(pairs, part.name) for part in dataclasses.fields(PairTensors)}
    return {name: tensor for name, tensor in values.items() if tensor is not None}
