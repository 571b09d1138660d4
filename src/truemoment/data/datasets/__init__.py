"""The datasets of the field, read as their files are, and your own annotations.

``load_annotations("charades-cd", "test-ood", data_dir=...)`` reads a split. The data folder has one folder per dataset,
under its name.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from truemoment.base.errors import InputError, UsageError
from truemoment.base.known_names import nearest, spelled_alike
from truemoment.base.records import Annotations
from truemoment.base.registry import Registry
from truemoment.data.datasets import (
    activitynet_captions,
    activitynet_cd,
    charades_cd,
    charades_sta,
    compositional,
    didemo,
    ego4d_nlq,
    human_activitynet,
    human_charades,
    lsmdc,
    mad,
    next_gqa,
    qvhighlights,
    resplit_folder,
    tacos,
    timelens_bench,
    tvgbench,
    tvr,
)
from truemoment.data.datasets.base import Dataset, SourceFile, Split, numbered, required_file
from truemoment.data.datasets.check import CheckReport, check_dataset

__all__ = [
    "DATASETS",
    "CheckReport",
    "Dataset",
    "SourceFile",
    "Split",
    "check_dataset",
    "data_folder",
    "get_dataset",
    "load_annotations",
    "made_of",
    "numbered",
    "required_file",
]

DATASETS = Registry[Dataset](
    "datasets",
    {
        dataset.name: dataset
        for dataset in (
            charades_sta.DATASET,
            activitynet_captions.DATASET,
            tacos.DATASET,
            didemo.DATASET,
            qvhighlights.DATASET,
            tvr.DATASET,
            *ego4d_nlq.DATASETS,
            mad.DATASET,
            lsmdc.DATASET,
            charades_cd.DATASET,
            activitynet_cd.DATASET,
            *compositional.DATASETS,
            human_charades.DATASET,
            human_activitynet.DATASET,
            *timelens_bench.DATASETS,
            tvgbench.DATASET,
            next_gqa.DATASET,
        )
    },
    Dataset,
)
"""Every dataset by name."""


def get_dataset(name: str) -> Dataset:
    """Return a dataset by name in any case, with ``-`` or ``_``; or by its folder if ``truemoment resplit`` made it."""
    if (registered := _registered(name)) is not None:
        return DATASETS[registered]
    if os.path.isfile(name):  # noqa: PTH113 - pathlib raises at a name that is too long
        raise UsageError(f"unknown dataset {name!r}, expected the option --annotations for a file (annotations=...)")
    if resplit_folder.is_folder(name):
        return resplit_folder.dataset_of(Path(name))
    raise UsageError(f"unknown dataset {name!r}, expected {_known_dataset(name)}")


def _registered(name: str) -> str | None:
    """Return the name of a dataset as it is registered; None if it is a folder's, or no dataset has it."""
    if name in DATASETS:
        return name
    return None if resplit_folder.is_folder(name) else spelled_alike(name, DATASETS)


def _known_dataset(name: str) -> str:
    """Name the command that lists the names, with a suggestion if one is similar."""
    meant = nearest(name, DATASETS)
    return "one that 'truemoment datasets list' shows" + ("" if meant is None else f"; did you mean {meant}?")


NO_DATA_FOLDER = (
    "where are the datasets? give --data-dir DIR, set the variable TRUEMOMENT_DATA, or once: truemoment config set "
    "data-dir DIR"
)


def has_data_folder(data_dir: str | Path | None = None) -> bool:
    """Whether a folder of the datasets is named, by `data_dir` or the variable ``TRUEMOMENT_DATA``."""
    return bool(data_dir or os.environ.get("TRUEMOMENT_DATA"))


def made_of(name: str) -> str:
    """Return the dataset that a folder made by ``truemoment resplit`` was made of; any other name as it is."""
    folder = Path(name)
    if name in DATASETS or not (folder / resplit_folder.DATASHEET).is_file():
        return name
    return resplit_folder.read_datasheet(folder).source.dataset or name


def data_folder(data_dir: str | Path | None = None, *, must_exist: bool = True) -> Path:
    """Return the folder of the datasets: `data_dir`, or the variable ``TRUEMOMENT_DATA``."""
    path = data_dir or os.environ.get("TRUEMOMENT_DATA")
    if not path:
        raise UsageError(NO_DATA_FOLDER)
    folder = Path(path)
    if must_exist and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder, expected a folder with one folder per dataset")
    return folder


def load_annotations(name: str, split: str, *, data_dir: str | Path | None = None) -> Annotations:
    """Read a split of a dataset.

    Parameters
    ----------
    name, split
        As in ``truemoment datasets list``; or a folder that ``truemoment resplit`` made, and one of its splits.
    data_dir
        Folder with one folder per dataset. Default: the variable ``TRUEMOMENT_DATA``.

    Raises
    ------
    UsageError, MissingFileError, InputError
        If the name is unknown, or a file is missing or malformed.
    """
    dataset = get_dataset(name)
    split = dataset.split(split).name
    if _registered(name) is None:
        return resplit_folder.read(Path(name), split, partial(_load_of_registry, Path(name), data_dir=data_dir))
    return dataset.read(data_folder(data_dir) / dataset.name, split)


def _load_of_registry(folder: Path, name: str, split: str, *, data_dir: str | Path | None) -> Annotations:
    """Read a split of the dataset that a folder was made of; another folder is refused."""
    if name not in DATASETS:
        problem = f"got {name!r}, expected {_known_dataset(name)}"
        raise InputError(problem, path=folder / resplit_folder.DATASHEET, field="source.dataset")
    return load_annotations(name, split, data_dir=data_dir)
