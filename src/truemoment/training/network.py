"""Words and model as one network: from the numbers of words to scores and losses."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from truemoment.models.base import Batch, GroundingModel, ModelOutput
from truemoment.training.vocabulary import PADDING, TokenVocabulary


@dataclass(frozen=True)
class TokenBatch:
    """A batch before words are vectors; fields as in :class:`~truemoment.models.base.Batch`.

    Parameters
    ----------
    numbers : (B, L) int64
        Numbers of words, 0 after a sentence's end.
    """

    numbers: Tensor
    n_words: Tensor
    video: Tensor | None = None
    verbs: Tensor | None = None
    nouns: Tensor | None = None
    iou: Tensor | None = None
    other_video: Tensor | None = None

    def to(self, device: torch.device) -> TokenBatch:
        """Return the examples on a device."""
        tensors = {part.name: getattr(self, part.name) for part in dataclasses.fields(self)}
        moved = {name: tensor.to(device) for name, tensor in tensors.items() if tensor is not None}
        return dataclasses.replace(self, **moved)


class Network(nn.Module):
    """A table of word vectors and a model behind it.

    Parameters
    ----------
    vocabulary
        Its vectors stay as they are; where it has none they are learned, from N(0, 1 / E).
    n_vector
        E, numbers a word vector.
    model
        The model.
    """

    def __init__(self, vocabulary: TokenVocabulary, n_vector: int, model: GroundingModel) -> None:
        super().__init__()
        self.model = model
        learned = vocabulary.vectors is None
        self.table = nn.Embedding(len(vocabulary), n_vector, padding_idx=PADDING)
        self.table.weight.requires_grad_(learned)
        with torch.no_grad():
            if vocabulary.vectors is None:
                self.table.weight.normal_(std=n_vector**-0.5)
                self.table.weight[PADDING] = 0
            else:
                self.table.weight.copy_(torch.from_numpy(vocabulary.vectors))

    def forward(self, examples: TokenBatch) -> tuple[ModelOutput, dict[str, Tensor]]:
        """Score every candidate, and, where the IoUs are known, return the terms of the loss."""
        batch = Batch(
            words=self.table(examples.numbers),
            n_words=examples.n_words,
            video=examples.video,
            verbs=examples.verbs,
            nouns=examples.nouns,
            iou=examples.iou,
            other_video=examples.other_video,
        )
        output: ModelOutput = self.model(batch)
        return output, {} if batch.iou is None else self.model.losses(batch, output)
