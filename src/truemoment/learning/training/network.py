"""Words and model as one network: from the numbers of words to scores, losses and moments; built, or read back."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import msgspec
import torch
from torch import Tensor, nn

from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.boundary.yaml_files import naming
from truemoment.base.errors import TrueMomentError, UsageError
from truemoment.learning.models.base import (
    Batch,
    GroundingModel,
    Inputs,
    MomentTensors,
    PairTensors,
    TrainableModel,
    tensors_of,
)
from truemoment.learning.models.retrieval_model import RetrievalModel
from truemoment.learning.training import checkpoints
from truemoment.learning.training.hardware import prediction_device
from truemoment.learning.training.recipes import Recipe
from truemoment.learning.training.vocabulary import PADDING, TokenVocabulary


@dataclass(frozen=True, kw_only=True)
class TokenBatch(PairTensors):
    """A batch before words are vectors.

    Parameters
    ----------
    numbers : (B, L) int64
        Numbers of words, 0 after the end of a sentence.
    pair : (B,) int64
        Number of each pair among those of the epoch.
    words : (B, L, E) float32
        Rows of the words, 0 after the end of a sentence; None where vectors have numbers.
    """

    numbers: Tensor
    pair: Tensor
    words: Tensor | None = None

    def to(self, device: torch.device) -> TokenBatch:
        """Return the examples on a device."""
        tensors = {part.name: getattr(self, part.name) for part in dataclasses.fields(self)}
        moved = {name: tensor.to(device) for name, tensor in tensors.items() if tensor is not None}
        return dataclasses.replace(self, **moved)


WORDS = "words"
"""Name of the word vectors among the parts that a stage trains."""


class NotFiniteError(TrueMomentError):
    """What a network gives is not finite: it was trained at too large a rate, or its weights are damaged.

    Its argument says what, e.g. ``scores``.
    """

    def __str__(self) -> str:
        return f"{self.args[0]} of the network are not finite: lower train.learning_rate, or change train.clip"


class Network(nn.Module):
    """A table of word vectors and a model behind it.

    Parameters
    ----------
    vocabulary
        Its vectors are the first of the table; where it has none, they are drawn from N(0, 1 / E) and learned.
    n_vector
        E, numbers a word vector.
    model
        The model.
    fine_tuned
        Whether vectors of the vocabulary are learned too.
    """

    def __init__(
        self, vocabulary: TokenVocabulary, n_vector: int, model: TrainableModel, *, fine_tuned: bool = False
    ) -> None:
        super().__init__()
        self.model = model
        self.table = nn.Embedding(len(vocabulary), n_vector, padding_idx=PADDING)
        self.table.weight.requires_grad_(vocabulary.vectors is None or fine_tuned)
        with torch.no_grad():
            if vocabulary.vectors is None:
                self.table.weight.normal_(std=n_vector**-0.5)
                self.table.weight[PADDING] = 0
            else:
                self.table.weight.copy_(torch.from_numpy(vocabulary.vectors))

    def answer(self, examples: TokenBatch) -> MomentTensors:
        """Return the moments of each query and their scores."""
        model, batch = self.grounding_model, self.batch_of(examples)
        return model.answer(batch, model(batch))

    @property
    def grounding_model(self) -> GroundingModel:
        """The model, if it answers with moments."""
        if not isinstance(self.model, GroundingModel):
            raise UsageError("the model ranks clips and answers with no moment: use truemoment retrieve")
        return self.model

    @property
    def retrieval_model(self) -> RetrievalModel:
        """The model, if it ranks clips."""
        if not isinstance(self.model, RetrievalModel):
            raise UsageError("the model answers with moments, expected one that ranks clips")
        return self.model

    def batch_of(self, examples: TokenBatch) -> Batch:
        """Return examples with the vectors of their words."""
        return Batch(
            words=self.table(examples.numbers) if examples.words is None else examples.words,
            word_numbers=examples.numbers,
            word_vectors=self.table.weight if "word vectors" in self.model.needs else None,
            **tensors_of(examples),
        )


def build_network(recipe: Recipe, vocabulary: TokenVocabulary, n_dimensions: int) -> Network:
    """Build a recipe's network with PyTorch's current generator."""
    n_vector = recipe.text.size if vocabulary.vectors is None else vocabulary.vectors.shape[1]
    model = _build_model(recipe, Inputs(n_dimensions, n_vector, vocabulary.words))
    return Network(vocabulary, n_vector, model, fine_tuned=recipe.text.fine_tuned is True)


def read_network(
    folder: OwnPath, record: checkpoints.RunRecord, vocabulary: TokenVocabulary, *, loads_encoder: bool = False
) -> Network:
    """Read the network of a run's best epoch, on the device that predicts.

    No memory is used before the shapes fit, except for a model that loads an encoder: it cannot be built without.
    """
    inputs = Inputs(record.n_dimensions, record.n_vector, vocabulary.words)
    path = folder / "best.safetensors"
    tensors = checkpoints.read_tensors(path)
    with naming(folder / "run.json", "recipe.settings"), torch.device("cpu" if loads_encoder else "meta"):
        network = Network(vocabulary, record.n_vector, _build_model(record.recipe, inputs))
    checkpoints.refuse_other_shapes(network, tensors, path)
    if not loads_encoder:
        network = Network(vocabulary, record.n_vector, _build_model(record.recipe, inputs))
    checkpoints.load_into(network, tensors, path)
    return network.to(prediction_device())


def _build_model(recipe: Recipe, inputs: Inputs) -> TrainableModel:
    family = recipe.family
    return family.build(msgspec.convert(recipe.settings, family.settings), inputs)


class Learner(nn.Module):
    """A network that learns some terms of its loss.

    Accelerate replaces the `forward` of what it prepares by one in mixed precision. It prepares this, and the network
    stays as it is: it is judged and saved in float32, as it will answer.

    Parameters
    ----------
    network
        The network.
    losses
        Names of the terms; none for all.
    """

    def __init__(self, network: Network, losses: frozenset[str]) -> None:
        super().__init__()
        self.network = network
        self.losses = losses

    def forward(self, examples: TokenBatch) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Return the terms of the loss, and the scalars that the model reports.

        Nothing else is returned: several processes wait for a gradient of all that leads to what is.
        """
        model, batch = self.network.model, self.network.batch_of(examples)
        output = model(batch)
        terms = model.losses(batch, output)
        if unknown := sorted(self.losses - set(terms)):
            raise UsageError(f"train.stages: got the loss {unknown[0]!r}, expected one of {', '.join(terms)}")
        learned = {name: term for name, term in terms.items() if not self.losses or name in self.losses}
        return learned, {name: extra.detach() for name, extra in output.extras.items() if extra.ndim == 0}


def parts_of(network: Network) -> dict[str, int]:
    """Return the trainable numbers of each part of the model by name, and of the word vectors if they are learned."""
    parts: dict[str, int] = {}
    for name, parameter in network.named_parameters():
        if parameter.requires_grad:
            part = WORDS if name.startswith("table.") else name.split(".")[1]
            parts[part] = parts.get(part, 0) + parameter.numel()
    return parts
