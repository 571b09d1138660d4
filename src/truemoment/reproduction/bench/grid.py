"""The trials of a table: methods and seeds on the same data, each in its own folder.

::

    DIR/METHOD/FEATURES/seed-S/    a training run, as ``truemoment train`` makes it

FEATURES is ``perception=Q`` for simulated features, ``features`` for others, and ``none`` for a method that sees no
video.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.records import Annotations
from truemoment.data.datasets import get_dataset
from truemoment.data.datasets.source import AnnotationSource
from truemoment.learning.training.recipes import Recipe
from truemoment.learning.training.run import Run, RunSources
from truemoment.learning.training.sweep import Method
from truemoment.learning.training.trials import TrainingTrial
from truemoment.media.features.base import SIMULATED


@dataclass(frozen=True)
class BenchGrid:
    """Methods and seeds on a dataset; it is sent to the processes that train.

    Parameters
    ----------
    methods, seeds
        What is trained, and how often.
    folder
        Seeds of all runs.
    dataset, data_dir
        The data.
    features
        Source of the features of methods that see the video, e.g. ``perception:0.3``.
    """

    methods: tuple[Method, ...]
    seeds: tuple[int, ...]
    folder: Path
    dataset: str
    data_dir: Path | None
    features: str

    @property
    def quality(self) -> float | None:
        """Quality of simulated features; None for others."""
        return float(self.features.removeprefix(SIMULATED)) if self.features.startswith(SIMULATED) else None

    def trials(self) -> list[TrainingTrial]:
        """List every trial, seed by seed, so that a part of them has all methods with the first seeds."""
        return [TrainingTrial(method.name, None, seed) for seed in self.seeds for method in self.methods]

    def recipe_of(self, trial: TrainingTrial) -> Recipe:
        """Return the recipe of a trial."""
        return next(method.recipe for method in self.methods if method.name == trial.method)

    def folder_of(self, trial: TrainingTrial) -> OwnPath:
        """Return the folder of a trial's run."""
        features = "features" if self.quality is None else f"perception={self.quality:.12g}"
        of_features = features if self.recipe_of(trial).family.sees_video else "none"
        return OwnPath(self.folder) / trial.method / of_features / f"seed-{trial.seed}"

    def features_of(self, trial: TrainingTrial) -> str:
        """Return the source of a trial's features; "" for a method that sees no video."""
        return self.features if self.recipe_of(trial).family.sees_video else ""

    @property
    def source(self) -> AnnotationSource:
        """The annotations."""
        return AnnotationSource(self.dataset, None, None, self.data_dir)

    def read(self) -> dict[str, Annotations]:
        """Read the training split, the validation split if there is one, and every test split, by name."""
        names = [split.name for split in get_dataset(self.dataset).splits]
        return {name: self.source.read(name) for name in names if name in ("train", "val") or name.startswith("test")}

    def __call__(self, trial: TrainingTrial) -> Run:
        """Read what a trial learns from and what it predicts, as ``truemoment train`` does."""
        sources = RunSources(self.source, self.features_of(trial) or None)
        return Run.resolve(self.recipe_of(trial), sources, trial.seed)
