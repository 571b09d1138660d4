"""Recipes: the settings of a training run, as a small YAML file.

::

    about: 2D-TAN, small
    model: tan2d
    settings: {hidden: 128}        # of the model's family; what is left out is the family's default
    rows: 64                       # rows of features a video, resampled
    text: {vectors: learned, size: 100}
    train: {epochs: 10, batch: 64, learning_rate: 0.001}
    select: {measure: AxIoU@10, split: val, patience: 3}
    decode: {nms: 0.45}
    windows: {seconds: 25.6, negatives: 0.7}    # only for hours-long video: a window of a video is the video
    clips: {margin_s: 0.5, pool: 1000}          # only for models that rank clips
    data: [{annotations: clean.jsonl}, {dataset: mad, share: 0.32}]    # a mixture instead of one training split

Unknown keys and wrong kinds are refused with the key's name. A recipe's `hash` covers every value, defaults included,
so two runs of one hash have the same settings.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from truemoment.base.boundary.files import read_bytes
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.boundary.yaml_files import convert, leaves, naming, parse_yaml, read_yaml
from truemoment.base.errors import InputError, UsageError
from truemoment.base.known_names import one_of_known
from truemoment.base.records import MAX_TIME_S
from truemoment.baselines.proposals import Tail
from truemoment.data.language.tokens import How
from truemoment.learning.models import Family, get_family
from truemoment.learning.training.epochs import MOST_EPOCHS
from truemoment.learning.training.recipe_sources import Clipping, MixtureSource, RecipeBlock, refuse_sources

Positive = Annotated[int, Meta(ge=1, le=1_000_000)]
Above0 = Annotated[float, Meta(gt=0)]
Share = Annotated[float, Meta(ge=0, le=1)]

RECIPES = Path(__file__).with_name("recipe_files")


class Text(Struct, frozen=True, forbid_unknown_fields=True):
    """How sentences become vectors.

    Parameters
    ----------
    vectors
        ``learned``; or vectors that stay as they are: a file of GloVe's, by its path, or ``glove`` for the only one in
        the folder ``glove`` of the data; or ``encoder:NAME``, what a text encoder makes of each token: a CLIP or SigLIP
        model by name, with a commit or without, or by folder, see :func:`truemoment.media.video.encoders.load_encoder`.
        Or rows of each query, which depend on the whole sentence: ``queries`` for those of files, ``hidden:NAME`` for
        those of a CLIP model (:mod:`truemoment.learning.training.query_rows`).
    size
        Numbers a learned vector.
    least_count
        Training sentences that a word must occur in to be learned; rarer ones share the vector of unknown words.
    tokens
        ``words``: punctuation split off and dropped; ``blanks-no-stop``: the full stop at the end cut, then split at
        blanks, as 2D-TAN's code does on Charades-STA; ``blanks``: split at blanks alone, as 2D-TAN's code does on
        ActivityNet Captions and TACoS, so that "door." is another word than "door"; ``sentence``: the sentence as one
        token, for ``encoder:NAME``.
    engine
        What finds the verbs and nouns of phrases.
    fine_tuned
        Whether the vectors of a file or text encoder are learned further, with one vector for all unknown words.
    absent
        Where `fine_tuned` vectors of words start that a file does not contain: ``shared`` for the one vector of unknown
        words, which starts at 0; ``uniform`` for their own, drawn from U(-3, 3).
    most
        Largest number of tokens or rows of a sentence; the rest is cut off.
    heads
        Where a model that needs them gets the heads of words from, see :mod:`truemoment.data.language.heads`: ``chain``
        for the word before (also if unset), or ``spacy`` or ``spacy:MODEL`` for a parser.
    """

    vectors: str = "learned"
    size: Annotated[int, Meta(ge=1, le=8192)] = 100
    least_count: Positive = 2
    tokens: How = "words"
    engine: str = "lexicon"
    fine_tuned: bool | UnsetType = UNSET
    absent: Literal["shared", "uniform"] | UnsetType = UNSET
    most: Positive | UnsetType = UNSET
    heads: str | UnsetType = UNSET


class TrainingStage(RecipeBlock, frozen=True):
    """A part of a run with an optimiser of its own, which starts from the epoch that the stage before keeps.

    Parameters
    ----------
    epochs, learning_rate
        In place of those of the run.
    trained
        Parts of the model that are trained, by the beginning of their parameters' names ("words" for the word vectors);
        none for all.
    losses
        Terms of the loss that are minimised; none for all.
    keep
        The "best" epoch by the recipe's measure, or the "last" one, which needs no reference of the validation split.
    batch
        In place of that of the run.
    slower
        Parts that are trained at a lower rate, named as in `trained`.
    slower_factor
        Their rate as a share of the learning rate.
    """

    epochs: Annotated[int, Meta(ge=1, le=MOST_EPOCHS)] | None = None
    learning_rate: Above0 | None = None
    trained: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
    keep: Literal["best", "last"] = "best"
    batch: Positive | None = None
    slower: tuple[str, ...] = ()
    slower_factor: Annotated[float, Meta(gt=0, le=1)] = 0.1


class Schedule(Struct, frozen=True, forbid_unknown_fields=True):
    """How the learning rate falls within a stage.

    Parameters
    ----------
    after
        Epochs of the stage after which the rate is multiplied.
    factor
        What it is multiplied with.
    """

    after: tuple[Positive, ...]
    factor: Annotated[float, Meta(gt=0, lt=1)] = 0.1


class Optimisation(Struct, frozen=True, forbid_unknown_fields=True):
    """How weights are learned. What is not set is not written: recipes without it keep their hashes.

    Parameters
    ----------
    epochs
        Most passes over the training pairs, 9,999 or less.
    batch
        Pairs a step.
    learning_rate, weight_decay
        Learning rate and weight decay of the optimiser.
    clip
        Largest norm of the gradient; 0 for none.
    precision
        ``no`` for float32, ``bf16`` or ``fp16`` where the device has them.
    optimiser
        ``adam`` (also if unset), ``adamw``, or ``sgd``.
    momentum
        Momentum of ``sgd``; 0.9 if unset.
    clip_by
        ``norm`` of all gradients (also if unset), or ``value`` of each number.
    clipped
        Parts whose gradients are clipped, named as in a stage's `trained`; all if unset.
    l2
        Factor of half the sum of squares of all trained numbers, as a term of the loss.
    schedule
        How the learning rate falls; constant if unset.
    warm_up
        Share of the steps of a stage in which the rate rises from 0; 0 if unset.
    decay
        ``cosine``: after that it falls to 0 along half a cosine, step by step; constant if unset.
    stages
        Parts of the run, one after the other; one if unset.
    sentences
        ``all`` in every epoch (also if unset), or ``one a video``, drawn in every epoch.
    accumulate
        Batches whose gradients are added up for a step; 1 if unset.
    compile
        Whether the model is compiled.
    track
        Where losses and figures are also written; it is no part of the recipe's hash.
    """

    epochs: Annotated[int, Meta(ge=1, le=MOST_EPOCHS)] = 10
    batch: Positive = 64
    learning_rate: Above0 = 1e-3
    weight_decay: Annotated[float, Meta(ge=0)] = 0.0
    clip: Annotated[float, Meta(ge=0)] = 10.0
    precision: Literal["no", "bf16", "fp16"] = "no"
    optimiser: Literal["adam", "adamw", "sgd"] | UnsetType = UNSET
    momentum: Annotated[float, Meta(ge=0, lt=1)] | UnsetType = UNSET
    clip_by: Literal["norm", "value"] | UnsetType = UNSET
    clipped: Annotated[tuple[str, ...], Meta(min_length=1)] | UnsetType = UNSET
    l2: Above0 | UnsetType = UNSET
    schedule: Schedule | UnsetType = UNSET
    warm_up: Annotated[float, Meta(ge=0, lt=1)] | UnsetType = UNSET
    decay: Literal["cosine"] | UnsetType = UNSET
    stages: Annotated[tuple[TrainingStage, ...], Meta(min_length=1)] | UnsetType = UNSET
    sentences: Literal["all", "one a video"] | UnsetType = UNSET
    accumulate: Positive | UnsetType = UNSET
    compile: bool | UnsetType = UNSET
    track: Literal["tensorboard", "wandb"] | UnsetType = UNSET

    @property
    def every_stage(self) -> tuple[TrainingStage, ...]:
        """The stages, with all values filled in."""
        return tuple(
            msgspec.structs.replace(
                stage,
                epochs=stage.epochs or self.epochs,
                learning_rate=stage.learning_rate or self.learning_rate,
                batch=stage.batch or self.batch,
            )
            for stage in (self.stages or (TrainingStage(),))
        )

    @property
    def most_epochs(self) -> int:
        """Largest number of epochs of all stages."""
        return sum(stage.epochs or 0 for stage in self.every_stage)

    @property
    def keeps_last(self) -> bool:
        """Whether every stage keeps its last epoch, so that no epoch is chosen."""
        return all(stage.keep == "last" for stage in self.every_stage)

    def rate_of(self, stage: TrainingStage, epoch: int) -> float:
        """Return the learning rate of an epoch of a stage, from 1."""
        rate = stage.learning_rate or self.learning_rate
        if not self.schedule:
            return rate
        return rate * self.schedule.factor ** sum(epoch > after for after in self.schedule.after)

    @property
    def changes_by_step(self) -> bool:
        """Whether the rate changes within an epoch."""
        return bool(self.warm_up) or self.decay is not UNSET

    def factor_at(self, share: float) -> float:
        """Return the factor of the rate after a share of the steps of a stage, 0 to 1.

        Examples
        --------
        >>> rule = Optimisation(warm_up=0.1, decay="cosine")
        >>> [round(rule.factor_at(share), 3) for share in (0.05, 0.1, 0.55, 1.0)]
        [0.5, 1.0, 0.5, 0.0]
        """
        warm_up = self.warm_up or 0.0
        if share < warm_up:
            return share / warm_up
        if self.decay is UNSET:
            return 1.0
        return 0.5 * (1 + math.cos(math.pi * min(1.0, (share - warm_up) / (1 - warm_up))))


class EpochSelection(Struct, frozen=True, forbid_unknown_fields=True):
    """Which epoch is kept.

    Parameters
    ----------
    measure
        Measure on the validation split; its best epoch is kept (best in Togashi et al. 2022: AxIoU@10).
    split
        A validation split; ``held out`` takes a tenth of the training videos.
    patience
        Validations without a better figure after which training stops; 0 for never.
    every
        Epochs from one validation to the next; the last epoch of a stage is always validated. 1 if unset.
    """

    measure: str = "AxIoU@10"
    split: str = "val"
    patience: Annotated[int, Meta(ge=0)] = 0
    every: Positive | UnsetType = UNSET


class Decoding(Struct, frozen=True, forbid_unknown_fields=True):
    """How scores become a ranked list.

    Parameters
    ----------
    nms
        A moment whose IoU with a better one is above this is left out; 1 for none.
    top
        Moments a query.
    first_look
        Windows of a film that a query is compared with: those with the frame that is most like the sentence
        (:mod:`truemoment.searching.first_look`). All if unset; only ``truemoment predict run`` uses it.
    grid_s
        Both ends of a moment are rounded to the nearest multiple of it, in seconds, halves to even; not if unset.
    """

    nms: Share = 0.45
    top: Positive = 10
    first_look: Positive | UnsetType = UNSET
    grid_s: Above0 | UnsetType = UNSET


class Windowing(Struct, frozen=True, forbid_unknown_fields=True):
    """How hours-long video is learned from and answered, window by window; see :mod:`truemoment.searching.windows`.

    Parameters
    ----------
    seconds
        Length of a window.
    stride
        From one window to the next where videos are answered, as a share of a window.
    negatives
        How often a query is shown a window of its video that does not show the moment, as a share of all times.
    negatives_from
        Where these are drawn from: ``apart`` from the moment, or ``anywhere`` in the video as in MAD's code.
    tail
        What becomes of a video's end where videos are answered: ``covered`` by one more window, or ``dropped``.
    """

    seconds: Annotated[float, Meta(gt=0, le=MAX_TIME_S)] = 25.6
    stride: Annotated[float, Meta(gt=0, le=1)] = 0.5
    negatives: Share = 0.7
    negatives_from: Literal["apart", "anywhere"] = "apart"
    tail: Tail = "covered"


class Recipe(Struct, frozen=True, forbid_unknown_fields=True):
    """All settings of a run except the data, the features and the seed.

    Parameters
    ----------
    model
        A family, see :mod:`truemoment.learning.models`.
    about
        A line for people.
    settings
        Settings of the family; :func:`resolve` fills in all of them.
    rows
        Rows of features a video (or a window) is resampled to, a multiple of the model's clips; only for models that
        see resampled rows. For models that rank clips: the maximum number of
        frames of a clip.
    normalise
        Whether each row of features is divided by its length first. ``each``: the part of each source of joined
        features by itself, by its length + 1e-5, as the code of Moment-DETR and QD-DETR does; also each row of words
        that is not of a table.
    text, train, select, decode
        See the classes above.
    windows
        For hours-long video: what the model sees are windows of it, and `decode` is of whole videos. Unset, every video
        is seen as a whole.
    clips
        For models that rank clips by text.
    data
        A mixture that is learned from, in place of the training split.
    steps
        For a study of mixtures: all rows take as many ``epochs`` (also if unset), or as many steps as the largest
        (``equal``).
    """

    model: str
    about: str = ""
    settings: dict[str, Any] = {}
    rows: Positive = 256
    normalise: bool | Literal["each"] = True
    text: Text = Text()
    train: Optimisation = Optimisation()
    select: EpochSelection = EpochSelection()
    decode: Decoding = Decoding()
    windows: Windowing | UnsetType = UNSET  # unset, it is not written: recipes without windows keep their hashes
    clips: Clipping | UnsetType = UNSET
    data: Annotated[tuple[MixtureSource, ...], Meta(min_length=1)] | UnsetType = UNSET
    steps: Literal["epochs", "equal"] | UnsetType = UNSET

    @property
    def family(self) -> Family:
        """The family of the model, with the task that prepares, validates and answers; it loads PyTorch."""
        return get_family(self.model)

    @property
    def hash(self) -> str:
        """Twelve hexadecimal digits that represent every value but `about` and `train.track`."""
        train = msgspec.structs.replace(self.train, track=UNSET)
        values = msgspec.to_builtins(msgspec.structs.replace(self, about="", train=train))
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]


def names() -> list[str]:
    """Return the recipes that come with the package."""
    return sorted(file.stem for file in RECIPES.glob("*.yaml"))


def read_recipe(name: str | Path, changes: Sequence[str] = ()) -> Recipe:
    """Read a recipe by name or from a YAML file.

    Parameters
    ----------
    name
        One of :func:`names`, or a file whose name ends in ``.yaml`` or ``.yml``.
    changes
        ``key=value`` with dots into parts, the value as YAML: ``train.epochs=3``, ``settings.hidden=64``.

    Examples
    --------
    >>> read_recipe("tan2d", ["train.epochs=3"]).train.epochs
    3
    """
    text = str(name)
    if text.lower().endswith((".yaml", ".yml")):
        path = Path(name)
        values = read_yaml(path)
    elif text in names():
        path = Path(f"{text}.yaml")
        values = parse_yaml(read_bytes(RECIPES / path.name), path)
    else:
        raise UsageError(f"unknown recipe {text!r}, expected a file FILE.yaml, or {one_of_known(text, names())}")
    if not isinstance(values, dict):
        raise InputError("is no recipe, expected keys with values, at least model: NAME", path=path)
    train = values.get("train")
    if isinstance(train, dict) and train.get("track") == "wandb":  # a recipe file of another person sends nothing
        problem = "got wandb, which sends the run to a server; name it on the command line: --set train.track=wandb"
        raise InputError(problem, path=path, field="train.track")
    for change in changes:
        _change(values, change)
    return resolve(values, path)


def resolve(values: Mapping[str, Any], path: AnyPath | None = None) -> Recipe:
    """Check a recipe's values and fill in every setting of its family."""
    recipe = convert(values, Recipe, path, "")
    with naming(path, "model"):
        family = recipe.family
    refuse_sources(recipe.data or (), path)
    settings = convert(recipe.settings, family.settings, path, "settings.")
    clips = getattr(settings, "n_clips", 1)
    if family.sees_video and recipe.rows % clips:
        raise InputError(f"got {recipe.rows}, expected a multiple of the {clips} clips", path=path, field="rows")
    if recipe.decode.first_look is not UNSET and recipe.windows is UNSET:
        problem = f"got {recipe.decode.first_look} windows, expected a recipe with a block windows"
        raise InputError(problem, path=path, field="decode.first_look")
    family.task.check_recipe(recipe, path)
    plain = msgspec.json.decode(msgspec.json.encode(settings))  # lists for tuples, as a file gives them back
    return msgspec.structs.replace(recipe, settings=plain)


def differing_keys(recipe: Recipe, other: Recipe) -> list[str]:
    """Return the keys, with dots, of the values in which two recipes differ.

    Examples
    --------
    >>> differing_keys(Recipe("tan2d"), Recipe("tan2d", rows=64, text=Text(tokens="blanks")))
    ['rows', 'text.tokens']
    """
    values, others = (leaves(msgspec.to_builtins(values_of)) for values_of in (recipe, other))
    return [key for key in {**values, **others} if key not in values or values[key] != others.get(key)]


def _change(values: dict[str, Any], change: str) -> None:
    """Set the value of a dotted key."""
    key, equals, text = change.partition("=")
    parts = key.strip().split(".")
    if not equals or not all(parts):
        raise UsageError(f"--set: got {change!r}, expected KEY=VALUE, e.g. train.epochs=3")
    into = values
    for part in parts[:-1]:
        into = into.setdefault(part, {})
        if not isinstance(into, dict):
            raise UsageError(f"--set {key}: {part} has no further keys")
    into[parts[-1]] = parse_yaml(text.encode(), Path("--set"))
