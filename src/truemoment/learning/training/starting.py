"""Weights that a run starts from: those of another run, or of a converted checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from truemoment.base.boundary.files import sha256_of
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.boundary.text import as_text
from truemoment.base.errors import UsageError
from truemoment.learning.training import checkpoints
from truemoment.learning.training.network import Network, build_network
from truemoment.learning.training.recipes import Recipe
from truemoment.learning.training.vocabulary import TokenVocabulary, read_vocabulary

TABLE = "table.weight"
"""Name of the vectors of the words among the tensors."""


@dataclass(frozen=True, eq=False)
class StartWeights:
    """The weights of the best epoch of a run.

    Parameters
    ----------
    path
        Their file.
    name
        Name of the folder of the run, and a fingerprint of the file.
    tensors
        The weights by name.
    words
        The words of its vocabulary.
    """

    path: OwnPath
    name: str
    tensors: dict[str, Tensor]
    words: tuple[str, ...]

    @classmethod
    def read(cls, folder: Path, model: str) -> StartWeights:
        """Read the weights of a run; refuse one of another model."""
        run = checkpoints.read_run(folder)
        if run.recipe.model != model:
            raise UsageError(f"--from {folder}: is a run of {run.recipe.model}, expected one of {model}")
        path = OwnPath(folder) / "best.safetensors"
        tensors = checkpoints.read_tensors(path)
        name = f"{as_text(folder.resolve().name)}#{sha256_of(path)[:8]}"
        return cls(path, name, tensors, read_vocabulary(OwnPath(folder) / "words.json").words)

    def check(self, recipe: Recipe, vocabulary: TokenVocabulary, n_dimensions: int) -> None:
        """Refuse weights that do not fit the network of a run; nothing is computed."""
        with torch.device("meta"):
            network = build_network(recipe, vocabulary, n_dimensions)
        checkpoints.refuse_other_shapes(network, self._tensors(network, vocabulary), self.path, "this recipe")

    def load_into(self, network: Network, vocabulary: TokenVocabulary) -> None:
        """Load the weights into the network of a run."""
        checkpoints.load_into(network, self._tensors(network, vocabulary), self.path, "this recipe")

    def _tensors(self, network: Network, vocabulary: TokenVocabulary) -> dict[str, Tensor]:
        """Return the weights; vectors of words that are not learned are those of the run that starts."""
        if not network.table.weight.requires_grad:
            return {**self.tensors, TABLE: network.table.weight.detach()}
        if self.words != vocabulary.words:
            raise UsageError(
                f"--from {self.path.parent}: learned the vectors of {len(self.words):,} other words than the "
                f"{len(vocabulary.words):,} of this training split, expected the same words, or fixed vectors"
            )
        return self.tensors
