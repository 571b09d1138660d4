"""Requests of a training run, and of the predictions of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from truemoment.base.errors import UsageError
from truemoment.base.request import (
    AnyFile,
    In,
    InRun,
    NewFolder,
    Out,
    OutFolder,
    Request,
    argument,
    named_files,
    number,
    option,
    seed,
    several,
)
from truemoment.studies.request import NO_OTHER_SPLITS, DataOfSplits, MappedData, ReadingAnnotations, is_file, path_of

if TYPE_CHECKING:
    from truemoment.learning.training.recipes import Recipe
    from truemoment.learning.training.run import RunSources


@dataclass(frozen=True, kw_only=True)
class Changing(Request):
    """The features of a recipe, the splits that it predicts, and what is changed in it."""

    HEADING = "Features and recipe"

    features: In[str | None] = option(
        "FILE.hdf5, a folder, FILE.npz, or perception:Q for Charades and ActivityNet; or several, joined by commas.",
        metavar="SOURCE",
    )
    test: tuple[str, ...] | str | Sequence[str] = option(
        "Split to predict; 'none' for no split. [default: every test split whose file is there]",
        (),
        metavar="NAME",
        rare=True,
    )
    set: tuple[str, ...] | Mapping[str, object] | Sequence[str] = option(
        "Change the recipe, e.g. train.epochs=3.", (), metavar="KEY=VALUE"
    )

    @property
    def tests(self) -> tuple[str, ...]:
        """Names of the splits that are predicted; none for every test split."""
        return several(self.test)

    @property
    def changes(self) -> tuple[str, ...]:
        """Changes of the recipe, as KEY=VALUE."""
        if isinstance(self.set, Mapping):
            return tuple(f"{key}={value}" for key, value in self.set.items())
        return several(self.set)


@dataclass(frozen=True, kw_only=True)
class Learning(DataOfSplits, Changing, ReadingAnnotations):
    """What a recipe is trained on, how that is read, and what is changed in the recipe."""

    def files(self) -> list[Path | None]:
        """Return the files that are read."""
        return [*self.source.files(), path_of(self.durations), *named_files(self.features or "")]


@dataclass(frozen=True)
class TrainRequest(Learning):
    """The recipe, and how it is trained."""

    recipe: str = argument(metavar="RECIPE", complete="recipes")
    _: KW_ONLY
    sentences: tuple[str, ...] | str | Sequence[str] = option(
        "Vectors of the sentences, for models that rank clips: FILE.h5, FILE.npz or encoder:NAME.",
        (),
        metavar="FILE",
        rare=True,
    )
    fps: float | None = option(
        "Rows per second of features that state no rate.", limits=(0, None), is_open=True, metavar="F"
    )
    queries: In[AnyFile | None] = option(
        "Rows of the words of each query, a folder of NPZ or FILE.h5, for text.vectors: queries.",
        metavar="DIR",
        rare=True,
    )
    mix: tuple[str, ...] | str | Sequence[str] = option(
        "Train on a mixture: a dataset or FILE.jsonl and its share, e.g. mad=0.32,by=films.",
        (),
        metavar="NAME[:SPLIT]=SHARE",
        rare=True,
    )
    train_split: str = option("Split to train on.", "train", metavar="NAME", rare=True)
    select_split: str | None = option(
        "Split that chooses the epoch. [default: the recipe's; 'held out' if the dataset has none]",
        metavar="NAME",
        rare=True,
    )
    force: bool = option(
        "Allow a test split to choose the epoch, and films of a test split in a mixture. Every result then states it.",
        False,
        rare=True,
    )
    on_missing_video: Literal["refuse", "skip"] = option(
        "Whether videos without features are refused or skipped.", "refuse", rare=True
    )
    from_run: InRun[AnyFile | None] = option(
        "Start from the weights of a run or of a converted checkpoint, with a new optimiser.",
        name="--from",
        metavar="RUN",
        rare=True,
    )
    measures: str | None = option(
        "Measures on the test splits. [default: R@1, dR@1 at 0.5 and 0.7, mIoU, AxIoU]", metavar="'A; B'"
    )
    seed: int = seed("weights, order and all draws")
    out: OutFolder[AnyFile | None] = option(
        "Output folder. An existing run in it is resumed. [default: runs/MODEL-DATASET-HASH-SEED]",
        name="-o --out",
        metavar="DIR",
    )
    results: Out[AnyFile | None] = option("File to which the figures are added, as CSV.", metavar="FILE.csv", rare=True)

    def check(self) -> None:
        """Refuse a dataset and a file of annotations, and neither."""
        if (self.dataset is None) == (self.annotations is None):
            raise UsageError("which annotations? give --dataset NAME or --annotations FILE, one of them")
        if not (self.annotations is None or is_file(self.annotations)):
            from truemoment.base.records import Annotations

            if isinstance(self.annotations, Annotations):
                raise UsageError(NO_OTHER_SPLITS)

    def resolved_recipe(self) -> Recipe:
        """Return the recipe with its changes and its mixture; refuse measures that it does not have."""
        from truemoment.learning.training.mixtures import read_mix, with_sources
        from truemoment.learning.training.recipes import read_recipe

        recipe = with_sources(read_recipe(self.recipe, self.changes), read_mix(several(self.mix)))
        if self.measures is not None:
            recipe.family.task.parse_measures(self.measures)
        return recipe

    def folder(self, recipe: Recipe) -> Path:
        """Return the folder of the run."""
        if self.out is not None:
            return Path(self.out)
        name = self.dataset or (self.source.annotations or Path("own")).stem
        return Path("runs") / f"{recipe.model}-{name}-{recipe.hash[:6]}-{self.seed}"

    def run_sources(self) -> RunSources:
        """Return annotations, features and sentences of the run."""
        from truemoment.learning.training.run import RunSources

        return RunSources(
            self.source,
            self.features,
            self.train_split,
            self.select_split,
            self.tests,
            force=self.force,
            skip_missing=self.on_missing_video == "skip",
            sentences=several(self.sentences),
            fps=self.fps,
            queries="" if self.queries is None else str(self.queries),
            start=path_of(self.from_run),
        )


@dataclass(frozen=True, kw_only=True)
class PredictionFile(Request):
    """Which queries are predicted, and the file of predictions."""

    limit: int | None = number("Predict the first N queries only.", None, 1)
    out: Out[AnyFile] = option("Predictions, .jsonl.", name="-o --out", metavar="FILE", required=True)

    def check(self) -> None:
        """Refuse a file of another format."""
        if self.file.suffix.lower() not in (".jsonl", ".json"):
            raise UsageError(f"-o: got {self.out}, expected a name that ends in .jsonl")

    @property
    def file(self) -> Path:
        """The file of predictions."""
        return Path(self.out)


@dataclass(frozen=True)
class PredictRequest(PredictionFile, MappedData):
    """A trained run, and the queries that it predicts."""

    run: InRun[AnyFile] = argument(metavar="RUN")
    _: KW_ONLY
    features: In[str | None] = option("Features in place of those of the training.", metavar="SOURCE")
    queries: In[AnyFile | None] = option(
        "Rows of the words of each query, for a run that reads them. [default: as in training]",
        metavar="DIR",
        rare=True,
    )
    change: str | None = option("Change the videos: shuffled, reversed, frozen or other-video.", metavar="WAY")
    chunks: float | None = option(
        "Cut the videos into chunks of S seconds; times count from the start of a chunk.", metavar="S", rare=True
    )
    first_look: int | None = number(
        "Number of windows of a film in which a query is searched: those with the frames most like it; 0 for all. "
        "[default: as the recipe]",
        None,
        0,
        metavar="K",
        rare=True,
    )
    sentences: In[AnyFile | None] = option("Sentence vectors for --first-look, .h5 or .npz.", metavar="FILE", rare=True)
    seed: int = seed("the changes of --change")
    engine: Literal["local", "ray"] = option(
        "Where parts of films are predicted: this machine, or a Ray cluster (environment variable RAY_ADDRESS).",
        "local",
        rare=True,
    )
    workers: int | None = number(
        "Number of processes for a run on films. [default: all cores]", None, 1, 256, rare=True
    )

    def check(self) -> None:
        """Refuse the address of a served model."""
        if "://" in str(self.run):
            raise UsageError(
                f"run: got the address {self.run}, expected the folder of a run; 'truemoment predict endpoint' "
                "(predict_endpoint in Python) predicts with served models"
            )


@dataclass(frozen=True, kw_only=True)
class CheckpointRequest(Request):
    """A published checkpoint, and what is made of it."""

    file: In[Path] = argument(metavar="FILE")
    model: str = option("Model of the checkpoint: moment-detr, qd-detr or flash-vtg.", metavar="NAME", required=True)
    out: NewFolder[Path | None] = option("Folder of the run, new or empty.", name="-o --out", metavar="RUN")
    safetensors: Out[Path | None] = option(
        "Write the tensors alone, under the names of TrueMoment.", metavar="FILE.safetensors"
    )
    features: In[str | None] = option("Features that the run reads where no others are given.", metavar="SOURCE")
    queries: In[AnyFile | None] = option(
        "Rows of the words of each query that the run reads where no others are given.", metavar="DIR"
    )
    set: tuple[str, ...] = option(
        "Change the recipe of the run, e.g. text.vectors=hidden:FOLDER.", (), metavar="KEY=VALUE"
    )
    quiet: bool = option("Report only problems.", False)

    def check(self) -> None:
        """Refuse a request for nothing, and tensors in a file of another kind."""
        if (self.out is None) == (self.safetensors is None):
            raise UsageError("what is written? give -o RUN or --safetensors FILE, one of them")
        if self.safetensors is not None and self.safetensors.suffix != ".safetensors":
            raise UsageError(f"--safetensors: got {self.safetensors}, expected a name that ends in .safetensors")
