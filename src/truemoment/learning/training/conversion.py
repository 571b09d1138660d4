"""Runs made of checkpoints that the authors of a method published: their weights, under our names.

A published checkpoint is a dictionary of ``torch.save``: tensors by name (``model``), the options of the training
(``opt``, an ``argparse.Namespace``), and what only training needs. Sizes come from the tensors. Of the options only
plain values that an answer depends on are read, and no path is opened.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import torch
from torch import Tensor

from truemoment.base.boundary.files import atomic_folder, sha256_of, write_json
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.boundary.torch_files import read_torch
from truemoment.base.boundary.yaml_files import convert, naming
from truemoment.base.errors import InputError, UsageError
from truemoment.base.known_names import one_of_known
from truemoment.base.version import __version__
from truemoment.learning.models.published_names import PUBLISHED, UNUSED
from truemoment.learning.training.checkpoints import RunRecord, UsedAnnotations, write_tensors
from truemoment.learning.training.network import Network, build_network
from truemoment.learning.training.query_rows import QUERIES, QueryRows
from truemoment.learning.training.recipes import Recipe, read_recipe
from truemoment.learning.training.vocabulary import TokenVocabulary, write_vocabulary

FOREIGN_DICTS = ("nncore.utils.config.Config", "nncore.utils.config.CfgNode")
"""Classes of the file of settings that FlashVTG's options contain: dictionaries, of which nothing is read."""

N_PLACES = 2
"""Columns of a video that the model adds itself: start and end of each row as shares of the video."""

ALL_WORDS = 1000
"""More rows than a sentence has."""

Number = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
Most = Annotated[int, msgspec.Meta(ge=-1, le=1_000_000)]
"""A number, or -1 for all."""

Share = Annotated[float, msgspec.Meta(ge=0, lt=1)]


class PublishedOptions(msgspec.Struct, frozen=True):
    """The options of a published checkpoint that its answers depend on, or that its run states."""

    nheads: Number = 8
    dropout: Share = 0.1
    input_dropout: Share = 0.5
    max_v_l: Most = 75
    max_q_l: Most = 32
    clip_length: Annotated[float, msgspec.Meta(gt=0)] = 2.0
    span_loss_type: str = "l1"
    ctx_mode: str = "video_tef"
    v_feat_dirs: list[str] = []
    v_feat_dim: Number | None = None
    seed: Annotated[int, msgspec.Meta(ge=0)] = 0
    use_txt_pos: bool = False
    no_norm_vfeat: bool = False
    no_norm_tfeat: bool = False


@dataclass(frozen=True, eq=False)
class PublishedCheckpoint:
    """A published checkpoint, as far as it is used.

    Parameters
    ----------
    path, sha256
        Its file.
    model
        Name of its family.
    tensors
        Weights by our names, float32.
    unused
        Names of its tensors that no answer depends on.
    options
        Its options.
    """

    path: Path
    sha256: str
    model: str
    tensors: Mapping[str, Tensor]
    unused: tuple[str, ...]
    options: PublishedOptions

    @classmethod
    def read(cls, path: Path, model: str) -> PublishedCheckpoint:
        """Read a file, of which nothing runs.

        Raises
        ------
        UsageError
            If no published checkpoint of this model can be read.
        InputError
            If the file names what could run code, is of another model, or has what this one cannot use.
        """
        if model not in PUBLISHED:
            raise UsageError(f"--model: got {model!r}, expected {one_of_known(model, PUBLISHED)}")
        content = read_torch(path, argparse.Namespace, as_dict=FOREIGN_DICTS)
        if not isinstance(content, dict) or not isinstance(weights := content.get("model"), dict):
            raise InputError("is no checkpoint of the authors, expected tensors by name", path=path, field="model")
        tensors, unused = _renamed(weights, model, path)
        options = _options_of(content, path)
        _refuse_other_heads(tensors, options, path)
        return cls(path, sha256_of(path), model, tensors, unused, options)

    @property
    def n_dimensions(self) -> int:
        """D, numbers a row of features."""
        return self._size("clips_in.0.norm.weight", 0) - N_PLACES

    @property
    def n_vector(self) -> int:
        """E, numbers of a word's row."""
        return self._size("words_in.0.norm.weight", 0)

    def recipe(self, changes: Sequence[str] = ()) -> Recipe:
        """Return the published recipe of the model, with the sizes of the tensors and the options of the file."""
        said = self.options
        if said.max_v_l < 1 and not any(change.startswith("rows=") for change in changes):
            came = f"found {said.max_v_l}, all rows of a video: give the most with --set rows=N"
            raise InputError(came, path=self.path, field="opt.max_v_l")
        settings = {
            **{name: self._size(*where) for name, where in PUBLISHED[self.model].sizes.items()},
            "heads": said.nheads,
            "dropout": said.dropout,
            "input_dropout": said.input_dropout,
        }
        sizes = {
            **{f"settings.{name}": value for name, value in settings.items()},
            "rows": max(1, said.max_v_l),
            "normalise": "each",
            "text.vectors": QUERIES,
            "text.most": said.max_q_l if said.max_q_l > 0 else ALL_WORDS,
            "decode.grid_s": said.clip_length,
        }
        name, changed = f"{self.model}-full", [f"{key}={value}" for key, value in sizes.items()]
        try:
            read_recipe(name, changed)
        except InputError as error:
            raise error.at(self.path, None) from None
        return read_recipe(name, [*changed, *changes])

    def network(self, recipe: Recipe) -> Network:
        """Return the network of a recipe with these weights; refuse tensors that are missing or of other shapes."""
        words = TokenVocabulary((), torch.zeros(2, self.n_vector).numpy())
        with naming(self.path, "model"), torch.device("meta"):
            expected = build_network(recipe, words, self.n_dimensions).model.state_dict()
        names = PUBLISHED[self.model]
        for name in {**expected, **self.tensors}:
            got, wanted = (_shape(tensors, name) for tensors in (self.tensors, expected))
            if got != wanted:
                field = f"model.{names.published(name) or name}"
                raise InputError(f"found {got}, expected {wanted}", path=self.path, field=field)
        network = build_network(recipe, words, self.n_dimensions)
        network.model.load_state_dict(dict(self.tensors))
        return network

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of every result has to know."""
        notes = [f"weights of others: {self.path.name}, SHA-256 {self.sha256}"]
        if self.options.v_feat_dirs:
            folders = ", ".join(Path(folder).name for folder in self.options.v_feat_dirs)
            notes.append(f"it was trained on the features {folders}, in this order")
        return tuple(notes)

    def _size(self, name: str, axis: int | None) -> int:
        """Return a size of a tensor that the model has to have; without an axis, the number of layers below a name."""
        if axis is None:
            return len({key.removeprefix(name).split(".")[0] for key in self.tensors if key.startswith(name)})
        tensor = self.tensors.get(name)
        if tensor is None or tensor.ndim <= axis or not tensor.shape[axis]:
            field = f"model.{PUBLISHED[self.model].published(name)}"
            raise InputError(
                f"found {_shape(self.tensors, name)}, expected weights of {self.model}", path=self.path, field=field
            )
        return int(tensor.shape[axis])


def _shape(tensors: Mapping[str, Tensor], name: str) -> str:
    return f"shape {tuple(tensors[name].shape)}" if name in tensors else "none"


def _renamed(weights: Mapping[object, object], model: str, path: AnyPath) -> tuple[dict[str, Tensor], tuple[str, ...]]:
    """Return the tensors by our names, and the names of those that are not used."""
    tensors: dict[str, Tensor] = {}
    unused, names = [], PUBLISHED[model]
    for name, value in weights.items():
        ours = names.ours(name) if isinstance(name, str) else None
        if isinstance(name, str) and name.startswith(UNUSED):
            unused.append(name)
        elif ours is None:
            raise InputError(f"found {str(name)[:80]!r}, which {model} does not have", path=path, field="model")
        else:
            tensors[ours] = _checked(value, path, f"model.{name}", is_scalar=ours in names.scalars)
    return tensors, tuple(unused)


def _checked(value: object, path: AnyPath, field: str, *, is_scalar: bool) -> Tensor:
    """Return a value as a tensor of finite numbers, float32; a convolution over one row of a picture as one of rows."""
    is_plain = (
        isinstance(value, Tensor)
        and value.device.type == "cpu"
        and value.layout == torch.strided
        and value.is_floating_point()
        and (value.ndim == 0) is is_scalar
        and value.nbytes <= value.untyped_storage().nbytes()  # one that repeats few numbers may claim any size
    )
    if not isinstance(value, Tensor) or not is_plain:
        raise InputError("expected a tensor of floating-point numbers", path=path, field=field)
    tensor = value.detach().to(torch.float32)
    if not torch.isfinite(tensor).all():
        raise InputError("has numbers that are not finite", path=path, field=field)
    return tensor.squeeze(2) if tensor.ndim == 4 else tensor


def _options_of(content: Mapping[object, object], path: AnyPath) -> PublishedOptions:
    """Return the options of a checkpoint; defaults for those that it does not state."""
    values = content.get("opt", argparse.Namespace())
    stated = vars(values) if isinstance(values, argparse.Namespace) else values
    if not isinstance(stated, dict):
        raise InputError("expected an argparse.Namespace", path=path, field="opt")
    known = {name: stated[name] for name in PublishedOptions.__struct_fields__ if stated.get(name) is not None}
    return convert(known, PublishedOptions, path, "opt.")


def _refuse_other_heads(tensors: Mapping[str, Tensor], said: PublishedOptions, path: AnyPath) -> None:
    """Refuse models that answer in another way, or see other rows."""
    last = tensors.get("span.2.weight")
    if said.span_loss_type != "l1" or (last is not None and last.shape[0] != 2):
        came = f"found {said.span_loss_type!r} and {_shape(tensors, 'span.2.weight')}"
        raise InputError(f"{came}, expected 'l1', centre and width", path=path, field="opt.span_loss_type")
    if "tef" not in said.ctx_mode:
        came = f"found {said.ctx_mode!r}, expected rows with their places (video_tef)"
        raise InputError(came, path=path, field="opt.ctx_mode")
    first = tensors.get("clips_in.0.norm.weight")
    for name in ("use_txt_pos", "no_norm_vfeat", "no_norm_tfeat"):
        if getattr(said, name):
            came = "found True, expected False: places of words, and rows that are not normalised, are not read"
            raise InputError(came, path=path, field=f"opt.{name}")
    if said.v_feat_dim is not None and first is not None and len(first) > said.v_feat_dim + N_PLACES:
        came = f"found {len(first):,} columns of a video, expected up to {said.v_feat_dim + N_PLACES:,}"
        raise InputError(f"{came}: models with sound are not read", path=path, field="opt.v_feat_dim")


def write_run(
    checkpoint: PublishedCheckpoint, recipe: Recipe, folder: Path, *, features: str = "", queries: str = ""
) -> RunRecord:
    """Write a checkpoint as the folder of a run, complete or not at all; return its record.

    `features` and `queries` are the sources that the run reads where no others are given; "" for none.
    """
    network = checkpoint.network(recipe)
    source = UsedAnnotations("weights of others", checkpoint.path.name, checkpoint.sha256, 0, 0)
    record = RunRecord(
        recipe=recipe,
        seed=checkpoint.options.seed,
        train=source,
        val=source,
        features=features,
        features_name="",
        n_dimensions=checkpoint.n_dimensions,
        n_vector=checkpoint.n_vector,
        notes=checkpoint.notes,
        fps=1 / checkpoint.options.clip_length,
        queries=queries,
        truemoment=__version__,
    )
    if features:
        store = recipe.family.task.open_features(features, recipe, "", None, seed=record.seed, fps=record.fps)
        record.refuse_other_width(store)
        record = msgspec.structs.replace(record, features_name=store.name)
    if queries and (rows := QueryRows.open(recipe, queries)):
        record.refuse_other_words(rows.store)
        record = msgspec.structs.replace(record, queries_name=rows.store.name)
    with atomic_folder(folder) as new:
        write_vocabulary(new / "words.json", TokenVocabulary(()))
        write_tensors(new / "best.safetensors", network.state_dict())
        write_json(new / "run.json", record)
    return record
