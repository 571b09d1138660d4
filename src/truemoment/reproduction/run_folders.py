"""Training runs in a folder, as ``truemoment train`` and ``truemoment sweep`` write them, and their figures.

A run is a folder with ``run.json`` and ``result.json``; folders without the second one are not finished and are
skipped. Reading them loads no PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from truemoment.exceptions import MissingFileError
from truemoment.features.base import SIMULATED
from truemoment.features.own import FILE_OF
from truemoment.files import read_json
from truemoment.io import read_predictions
from truemoment.records import Annotations, Predictions
from truemoment.training.recipes import Recipe
from truemoment.training.results import ResultRow


class _Learned(msgspec.Struct, frozen=True):
    """The part of a run's annotations that a table needs."""

    dataset: str


class _Request(msgspec.Struct, frozen=True):
    """The part of run.json that a table needs."""

    recipe: Recipe
    seed: int
    train: _Learned
    features: str
    features_name: str
    schema: Literal["truemoment/run/1"]
    forced: bool = False


class _RunResult(msgspec.Struct, frozen=True):
    """The part of result.json that a table needs."""

    figures: tuple[ResultRow, ...]


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
        """What runs with other seeds share: label of the recipe, and features."""
        return self.label, self.features

    def predictions(self, split: str, annotations: Annotations) -> Predictions | None:
        """Read its predictions on a split, those of other queries ignored; None if it wrote none."""
        path = self.folder / f"{split}.jsonl"
        if not path.is_file():
            return None
        return read_predictions(path, annotations, on_unknown="ignore")[0]

    def figure(self, split: str, measure: str) -> float | None:
        """Return a figure of its ``result.json``, a fraction; None if it has none, or an undefined one."""
        found = next((row.value for row in self.figures if (row.split, row.measure) == (split, measure)), "")
        return float(found) if found else None


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
    requests = sorted(folder.rglob("run.json"))
    done = tuple(_read(path.parent) for path in requests if (path.parent / "result.json").is_file())
    if not done:
        unfinished = f"; {len(requests)} unfinished" if requests else ""
        raise MissingFileError(f"--runs {folder}: contains no run with run.json and result.json{unfinished}")
    return done


def _read(folder: Path) -> RunFolder:
    request = read_json(folder / "run.json", _Request)
    features = _features(request.features, request.features_name)
    figures = read_json(folder / "result.json", _RunResult).figures
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


def of_dataset(runs: Sequence[RunFolder], dataset: str) -> list[RunFolder]:
    """Return the runs that learned from a dataset, named as papers name it, as in "Charades-CD"."""
    return [run for run in runs if run.dataset == dataset.lower().replace(" ", "-")]
