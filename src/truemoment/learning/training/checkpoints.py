"""What lies in a run's folder, written so that a run that was interrupted resumes after its last complete epoch.

::

    RUN/run.json             the request: recipe, data with hashes, features, seed; written first
    RUN/words.json           the words known, by number
    RUN/epoch-0003/          the newest whole epoch: network.safetensors, optimiser.safetensors, history.json
    RUN/best.safetensors     the network of the best epoch so far
    RUN/result.json          written last: the run is done

Tensors lie in safetensors files, which contain numbers and names, and no code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from truemoment.base.boundary.arrays import refusing_damage
from truemoment.base.boundary.files import (
    DATA_BYTES,
    Seed,
    atomic_folder,
    read_bytes,
    read_json,
    write_bytes,
    write_json,
)
from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.errors import InputError, MissingFileError
from truemoment.learning.training.epochs import epoch_folder, epoch_folders
from truemoment.learning.training.recipes import Recipe, differing_keys
from truemoment.media.features.base import FeatureStore
from truemoment.media.features.words import WordStore

SCHEMA = "truemoment/run/1"

Width = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]


class UsedAnnotations(msgspec.Struct, frozen=True):
    """Annotations that a run learned from or chose by.

    Parameters
    ----------
    dataset, split, sha256
        Which they are.
    n_queries, n_videos
        How many of each were used.
    left_out
        Queries that could not be used: no moment, an empty one, or one outside its video.
    """

    dataset: str
    split: str
    sha256: str
    n_queries: int
    n_videos: int
    left_out: int = 0


class RunRecord(msgspec.Struct, frozen=True):
    """The request of a run: what is trained, on what.

    Parameters
    ----------
    recipe
        With every default filled in.
    seed
        Seed of all draws.
    train, val
        What it learns from, and what it chooses the epoch by.
    features
        Source of the features, e.g. ``perception:0.3``; "" for a model that sees no video.
    features_name
        What the store calls itself.
    n_dimensions
        D, numbers a row of features.
    n_vector
        E, numbers a word vector.
    forced
        Whether a test split was allowed to choose the epoch: then every figure on it is too good.
    notes
        Notes that every result of the run contains.
    text_encoder
        Name and commit of the model of the hub that made the word vectors; "" for others.
    made_of
        Dataset that a resplit folder was made of, and whose features are simulated; "" for other annotations.
    sentences
        Sources of the vectors of sentences, for a model that compares them.
    fps
        Rows a second of features that state none; None if the rows cover each video evenly.
    queries, queries_name
        Source of the rows of the words of each query, and what the rows call themselves; "" for words with vectors.
    started_from
        Name of the run whose weights it starts from, and a fingerprint of them; "" for a network with new weights.
    schema, truemoment
        Form of the file, and version that wrote it.
    """

    recipe: Recipe
    seed: Seed
    train: UsedAnnotations
    val: UsedAnnotations
    features: str
    features_name: str
    n_dimensions: Width
    n_vector: Width
    forced: bool = False
    notes: tuple[str, ...] = ()
    text_encoder: str = ""
    made_of: str = ""
    sentences: tuple[str, ...] = ()
    fps: float | None = None
    queries: str = ""
    queries_name: str = ""
    started_from: str = ""
    schema: str = SCHEMA
    truemoment: str = ""

    def refuse_other_width(self, features: FeatureStore) -> None:
        """Refuse features with another number of dimensions than in training."""
        if features.n_dimensions != self.n_dimensions:
            came = f"got {features.n_dimensions:,} numbers a row, expected {self.n_dimensions:,} as in training"
            raise InputError(f"{features.name}: {came}", field="features")

    def refuse_other_words(self, words: WordStore) -> None:
        """Refuse rows of words with another number of dimensions than in training."""
        if words.n_dimensions != self.n_vector:
            came = f"got {words.n_dimensions:,} numbers a row of words, expected {self.n_vector:,} as in training"
            raise InputError(f"{words.name}: {came}", field="queries")

    @property
    def made_by(self) -> dict[str, Any]:
        """Metadata of a prediction file: how it was made."""
        chosen_on = f"{self.val.dataset}/{self.val.split}#{self.val.sha256[:8]}"
        if self.recipe.train.keeps_last:
            chosen_on = "nothing: the last epoch"
        entries: dict[str, Any] = {
            "recipe": self.recipe.hash,
            "model": self.recipe.model,
            "seed": self.seed,
            "features": self.features_name or "none",
            "trained_on": f"{self.train.dataset}/{self.train.split}#{self.train.sha256[:8]}",
            "chosen_on": chosen_on,
        }
        entries |= {"text_encoder": self.text_encoder} if self.text_encoder else {}
        entries |= {"queries": self.queries_name} if self.queries_name else {}
        return entries | ({"notes": list(self.notes)} if self.notes else {})


@dataclass(frozen=True)
class Epoch:
    """The log of an epoch.

    Parameters
    ----------
    epoch
        From 1.
    loss
        Mean of each term over the pairs, and ``total``.
    val
        Figures on the validation split; the one that chooses comes first. None if the epoch was not validated.
    best
        Whether it was the best of its stage so far; true for every epoch of a stage that keeps the last one.
    watched
        Means of what the model reports of itself beside its scores, by name.
    seconds
        Seconds of training.
    waited
        Share of them spent waiting for data.
    stage
        Number of the stage of training, from 0.
    """

    epoch: int
    loss: dict[str, float]
    val: dict[str, float]
    best: bool
    watched: dict[str, float]
    seconds: float
    waited: float
    stage: int = 0


def read_run(folder: AnyPath) -> RunRecord:
    """Read the request of a run."""
    path = OwnPath.of(folder) / "run.json"
    if not path.is_file():
        raise MissingFileError(f"{folder}: is no folder of a training run (it has no run.json)")
    run = read_json(path, RunRecord)
    if run.schema != SCHEMA:
        raise InputError(f"got {run.schema!r}, expected {SCHEMA!r}", path=path, field="schema")
    return run


def another_run(folder: AnyPath, earlier: RunRecord, recipe: Recipe, differing: Sequence[str]) -> str:
    """Return the message that a folder contains another run than the requested one.

    Parameters
    ----------
    folder, there
        The folder, and the run in it.
    recipe
        The requested recipe.
    differing
        Fields of the run in which the two differ. For ``recipe`` the message names the keys.
    """
    keys = [f"recipe.{key}" for key in differing_keys(earlier.recipe, recipe)]
    changes = [name for field in differing for name in (keys if field == "recipe" else [field])]
    return f"{folder}: contains another run (it differs in {', '.join(changes)}); give -o another folder"


def write_tensors(path: AnyPath, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors by name, complete or not at all."""
    write_bytes(path, save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}))


def read_tensors(path: OwnPath) -> dict[str, Tensor]:
    """Read tensors by name."""
    if not path.is_file():
        raise MissingFileError(f"{path}: no such file; the run was cut off before its first epoch ended")
    with refusing_damage(path, "is no whole safetensors file", SafetensorError):
        return load(read_bytes(path, most=DATA_BYTES))


OF_RUN = "the network of run.json"


def refuse_other_shapes(
    network: nn.Module, tensors: Mapping[str, Tensor], path: AnyPath, expected_by: str = OF_RUN
) -> None:
    """Refuse tensors of other names or shapes than a network's, which may have no values (device "meta")."""
    expected = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    got = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    wrong = next((name for name in {**expected, **got} if expected.get(name) != got.get(name)), None)
    if wrong is not None:
        difference = f"{wrong}: got {got.get(wrong, 'none')}, expected {expected.get(wrong, 'none')}"
        raise InputError(f"does not fit {expected_by} ({difference})", path=path)


def load_into(network: nn.Module, tensors: Mapping[str, Tensor], path: AnyPath, expected_by: str = OF_RUN) -> None:
    """Load tensors into a network."""
    wrong = next((name for name, tensor in tensors.items() if not torch.isfinite(tensor).all()), None)
    if wrong is not None:
        raise InputError(f"has numbers that are not finite, in {wrong}", path=path)
    try:
        network.load_state_dict(dict(tensors))
    except RuntimeError as error:
        first = next(iter(str(error).splitlines()[1:2]), str(error)).strip()
        raise InputError(f"does not fit {expected_by} ({first})", path=path) from None


def newest_epoch(folder: AnyPath) -> OwnPath | None:
    """Return the folder of the newest whole epoch, if there is one."""
    return next(reversed(epoch_folders(folder)), None)


def save_epoch(folder: OwnPath, network: nn.Module, state: Mapping[str, Tensor], history: list[Epoch]) -> None:
    """Write a whole epoch, the last of `history`, with the state of its optimiser; remove the ones before it."""
    older = epoch_folders(folder)
    if history[-1].best:
        write_tensors(folder / "best.safetensors", network.state_dict())
    with atomic_folder(epoch_folder(folder, len(history))) as new:
        write_tensors(new / "network.safetensors", network.state_dict())
        write_tensors(new / "optimiser.safetensors", state)
        write_json(new / "history.json", history)
    for path in older:
        path.remove_tree()


def read_history(epoch: OwnPath) -> list[Epoch]:
    """Read the log of all epochs up to this one."""
    path = epoch / "history.json"
    history = read_json(path, list[Epoch])
    numbers = [entry.epoch for entry in history]
    validated = [entry for entry in history if entry.val]
    if numbers != list(range(1, int(epoch.name.removeprefix("epoch-")) + 1)) or not all(
        entry.best for entry in validated[:1]
    ):
        raise InputError(f"got epochs {numbers}, expected all up to {epoch.name}", path=path)
    return history
