"""Training runs in a folder, as ``truemoment train`` and ``truemoment sweep`` write them, and their figures.

A run is a folder with ``run.json`` and ``result.json``; folders without the second one are not finished and are
skipped. Reading them loads no PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from truemoment.base.boundary.files import Seed, read_json, read_number
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import InputError, MissingFileError
from truemoment.base.records import Annotations, Predictions
from truemoment.data.formats import read_predictions
from truemoment.learning.training.recipes import Recipe
from truemoment.learning.training.results import ResultRow
from truemoment.media.features.base import SIMULATED
from truemoment.media.features.own import FILE_OF
from truemoment.report.words import counted


class _Learned(msgspec.Struct, frozen=True):
    """The part of a run's annotations that a table needs."""

    dataset: str


class _RunRequest(msgspec.Struct, frozen=True):
    """The part of run.json that a table needs."""

    recipe: Recipe
    seed: Seed
    train: _Learned
    features: str
    features_name: str
    schema: Literal["truemoment/run/1"]
    forced: bool = False


class _RunResult(msgspec.Struct, frozen=True):
    """The part of result.json that a table needs."""

    figures: tuple[ResultRow, ...]


class RunPredictions(NamedTuple):
    """Predictions of a run on a split, and the number of queries without any."""

    predictions: Predictions
    n_missing: int

    @property
    def remark(self) -> str:
        """Remark for figures of these predictions."""
        return f"no predictions for {counted(self.n_missing, 'query', 'queries')}" if self.n_missing else ""


@dataclass(frozen=True, eq=False)
class RunFolder:
    """A finished training run.

    Parameters
    ----------
    folder
        Its folder.
    recipe, seed
        Recipe with all defaults, and seed of all draws.
    dataset
        Dataset that it learned from.
    features
        What it saw: ``perception:Q`` for simulated perception, with the name of its file if it was written to one; the
        name of other features, or "none".
    forced
        Whether a test split was learned from or chose the epoch.
    figures
        Figures in its ``result.json``.
    """

    folder: Path
    recipe: Recipe
    seed: int
    dataset: str
    features: str
    forced: bool
    figures: tuple[ResultRow, ...]

    @property
    def is_simulated(self) -> bool:
        """Whether it saw simulated perception."""
        return self.features.startswith(SIMULATED)

    @property
    def label(self) -> str:
        """Family and hash of the recipe."""
        return f"{self.recipe.model} {self.recipe.hash}"

    @property
    def kind(self) -> tuple[str, str]:
        """Label of the recipe and features, which runs with other seeds share."""
        return self.label, self.features

    def predictions(self, split: str, annotations: Annotations) -> RunPredictions | None:
        """Read its predictions on a split, those of other queries ignored; None if it wrote none.

        Raises
        ------
        InputError
            If the file is invalid, or answers no query of the annotations.
        """
        path = OwnPath(self.folder) / f"{split}.jsonl"
        if not path.is_file():
            return None
        predictions, report = read_predictions(path, annotations, on_unknown="ignore")
        if report.missing == annotations.n_queries:
            expected = f"the {annotations.n_queries:,} queries of {annotations.dataset}/{annotations.split}"
            raise InputError(
                f"answers none of {expected}", path=path, hint="remove it, or write it with truemoment predict"
            )
        return RunPredictions(predictions, report.missing)

    def figure(self, split: str, measure: str) -> float | None:
        """Return a figure of its ``result.json``, a fraction; None if it has none, or an undefined one.

        Raises
        ------
        InputError
            If the figure is no fraction.
        """
        text = next((row.value for row in self.figures if (row.split, row.measure) == (split, measure)), "")
        if not text:
            return None
        value = read_number(text)
        if not 0 <= value <= 1:
            problem = f"got {text!r} for {measure} on {split}, expected a number from 0 to 1"
            raise InputError(problem, path=self.folder / "result.json", field="figures.value")
        return value


def read_run_folders(folder: Path) -> tuple[RunFolder, ...]:
    """Read every finished run in a folder and the folders in it, by path.

    Raises
    ------
    MissingFileError
        If the folder is missing or contains no finished run.
    InputError
        If a file of a run is invalid.
    """
    if not folder.is_dir():
        raise MissingFileError(f"--runs {folder}: no such folder")
    requests = sorted(path for path in folder.rglob("run.json") if path.exists())  # Python 3.12 lists dead links too
    runs = tuple(_read(path.parent) for path in requests if (path.parent / "result.json").is_file())
    if not runs:
        unfinished = f"; {len(requests)} unfinished" if requests else ""
        raise MissingFileError(f"--runs {folder}: contains no run with run.json and result.json{unfinished}")
    return runs


def _read(folder: Path) -> RunFolder:
    run_folder = OwnPath(folder)
    request = read_json(run_folder / "run.json", _RunRequest)
    features = _features(request.features, request.features_name)
    figures = read_json(run_folder / "result.json", _RunResult).figures
    return RunFolder(folder, request.recipe, request.seed, request.train.dataset, features, request.forced, figures)


def _features(source: str, name: str) -> str:
    """Return what runs with other seeds share of the features that a run saw: simulated ones are drawn for each seed.

    Examples
    --------
    >>> _features("perception:0.3", "perception:0.3 (frame mAP 0.27), seed=1"), _features("i3d.h5", "hdf5:i3d.h5#12")
    ('perception:0.3', 'hdf5:i3d.h5#12')
    >>> _features("simulated", "perception:0.3 (frame mAP 0.27), seed=0; own:simulated#34")
    'perception:0.3, own:simulated#34'
    """
    if source.startswith(SIMULATED):
        return source
    if name.startswith(SIMULATED):
        return f"{name.split(maxsplit=1)[0].rstrip(',')}, {name.rpartition(FILE_OF)[2]}"
    return name or "none"


def dataset_name(dataset: str) -> str:
    """Return our name of a dataset that papers name, as in "Charades-CD"."""
    return dataset.lower().replace(" ", "-")


def of_dataset(runs: Sequence[RunFolder], dataset: str) -> list[RunFolder]:
    """Return the runs that learned from a dataset, named as papers name it, as in "Charades-CD"."""
    return [run for run in runs if run.dataset == dataset_name(dataset)]
