"""``truemoment.train``: train a model by a recipe."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truemoment.base.errors import UsageError
from truemoment.data.datasets.source import AnnotationSource
from truemoment.learning.training import report as reports
from truemoment.learning.training.hardware import processes
from truemoment.learning.training.mixtures import read_mix, with_sources
from truemoment.learning.training.performing import TrainingResult, document, perform
from truemoment.learning.training.recipes import read_recipe
from truemoment.learning.training.run import Run, RunSources
from truemoment.report.model import Report
from truemoment.report.result import Result


@dataclass(frozen=True, repr=False, eq=False)
class TrainedRun(Result):
    """A training run that reports itself.

    Parameters
    ----------
    result
        The run, its epochs, its figures on the test splits.
    folder
        The folder of the run: checkpoints, predictions, ``run.json``.
    """

    result: TrainingResult
    folder: Path

    def report(self) -> Report:
        """Return the report for people."""
        return reports.report(self.result)

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment train --json`` writes it."""
        return document(self.result)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row a test split and measure."""
        return [
            {"split": row.split, "measure": row.measure, "value": float(row.value) if row.value else None}
            for row in self.result.tests
        ]

    def __repr__(self) -> str:
        """Return the model, the folder and the chosen epoch, in one line."""
        best = self.result.best
        return f"{self.result.run.recipe.model} in {self.folder}: epoch {best.epoch} of {len(self.result.history)}"


def train(
    recipe: str,
    out: str | os.PathLike[str],
    *,
    dataset: str | os.PathLike[str] | None = None,
    annotations: str | os.PathLike[str] | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    features: str | None = None,
    tests: Sequence[str] = (),
    changes: Mapping[str, object] | None = None,
    measures: str | None = None,
    sentences: Sequence[str] = (),
    mix: Sequence[str] = (),
    seed: int = 0,
    on_epoch: Callable[[Any], None] = lambda _: None,
) -> TrainedRun:
    """Train a model; an interrupted run in the same folder is resumed.

    Parameters
    ----------
    recipe
        ``tan2d``, ``blind-tan``, ``tcn-dcm``, ``mdd`` (small), their ``-full`` versions, or a YAML file.
    out
        Folder of the run.
    dataset, annotations
        Name of a dataset, or one's own JSON Lines file with splits: one of them.
    data_dir
        Folder with the datasets (or the variable ``TRUEMOMENT_DATA``).
    features
        Features of the videos: a file, a folder, or ``perception:Q`` for Charades and ActivityNet. None for models that
        see no video.
    tests
        Splits to predict and measure. [default: every test split]
    changes
        Changed settings of the recipe, as ``{"train.epochs": 3}``.
    measures
        Measures of the test splits. [default: those of the kind of model]
    sentences
        Vectors of the sentences, for models that rank clips: files, or ``encoder:NAME``.
    mix
        A mixture to learn from, as ``truemoment train --mix`` writes it.
    seed
        Seed of all draws.
    on_epoch
        Called with each epoch.

    Returns
    -------
    TrainedRun
        It shows its report in a notebook.

    Raises
    ------
    UsageError
        If the recipe is unknown, a test split would be learned from, or no data are named.
    MissingFileError, InputError, MissingPackageError
        If a file is missing or malformed, or a package of the extra ``models`` is missing.
    """
    if (dataset is None) == (annotations is None):
        raise UsageError("which annotations? give dataset or annotations, one of them")
    source = AnnotationSource(
        None if dataset is None else str(dataset),
        None if annotations is None else Path(annotations),
        None,
        None if data_dir is None else Path(data_dir),
    )
    settings = read_recipe(recipe, [f"{key}={value}" for key, value in (changes or {}).items()])
    settings = with_sources(settings, read_mix(mix))
    sources = RunSources(source, features, tests=tuple(tests), sentences=tuple(sentences))
    folder = Path(out)
    result = perform(Run.resolve(settings, sources, seed), folder, measures=measures, on_epoch=on_epoch)
    if processes().is_main_process:
        reports.save_curves(result)
    return TrainedRun(result, folder)
