"""Source of annotations: a split of a dataset or a file, and the other splits beside it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from truemoment.base.errors import MissingFileError, UsageError
from truemoment.base.known_names import spelled_alike
from truemoment.base.records import Annotations
from truemoment.data.datasets import DATASETS, get_dataset, load_annotations
from truemoment.data.datasets.entries import ReferenceEntry, splits_in
from truemoment.data.datasets.resplit_folder import files_of_folder, is_folder
from truemoment.data.python_values import annotations_from
from truemoment.data.references import AS_STATED, ReferenceOptions, read_references, splits_of


@dataclass(frozen=True)
class AnnotationSource:
    """Annotations by name or file.

    Parameters
    ----------
    dataset
        Name of a dataset, or a folder made by ``truemoment resplit``; None for a file.
    annotations
        File of your own annotations, instead of a dataset.
    split
        Name of the split.
    data_dir
        Folder with one folder per dataset; None for the variable ``TRUEMOMENT_DATA``.
    how
        How files of annotations are read.
    entries
        Queries of a Python value, in place of a file; `annotations` is then what messages call it.
    """

    dataset: str | None = None
    annotations: Path | None = None
    split: str | None = None
    data_dir: Path | None = None
    how: ReferenceOptions = AS_STATED
    entries: Sequence[ReferenceEntry] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Spell the names of dataset and split as the registry does."""
        if self.dataset is not None and not is_folder(self.dataset):
            object.__setattr__(self, "dataset", name := spelled_alike(self.dataset, DATASETS) or self.dataset)
            names = [split.name for split in DATASETS[name].splits] if name in DATASETS else []
            if self.split is not None and self.split not in names:
                object.__setattr__(self, "split", spelled_alike(self.split, names) or self.split)

    def read(self, split: str | None = None) -> Annotations:
        """Read the split, or another one."""
        split = split or self.split
        if self.dataset is not None and self.annotations is not None:
            raise UsageError("got --dataset and --annotations, expected one of them")
        if self.entries is not None:
            return annotations_from(self.entries, split, str(self.annotations))
        if self.annotations is not None:
            return read_references(self.annotations, split, self.how)
        if self.how.fields is not None:
            raise UsageError("--fields maps the columns of --annotations; --prediction-fields those of predictions")
        if self.dataset is None:
            raise UsageError("which annotations? give --dataset NAME with --split NAME, or --annotations FILE")
        if split is None:
            names = ", ".join(split.name for split in get_dataset(self.dataset).splits)
            raise UsageError(f"which split? give --split NAME; {self.dataset} has {names}")
        return load_annotations(self.dataset, split, data_dir=self.data_dir)

    def split_names(self) -> list[str]:
        """Return the names of the splits of a dataset, or of those in a file or a value."""
        if self.entries is not None:
            return sorted(splits_in(self.entries))
        if self.annotations is not None:
            return sorted(splits_of(self.annotations, self.how))
        return [split.name for split in get_dataset(self.dataset or "").splits]

    def words(self) -> list[str]:
        """Return the options of the command line that name this source."""
        options = {
            "--dataset": self.dataset,
            "--annotations": self.annotations if self.entries is None else None,
            "--split": self.split,
            "--data-dir": self.data_dir,
            **self.how.words(),
        }
        return [word for name, value in options.items() if value is not None for word in (name, str(value))]

    def beside(self, name: str) -> Annotations | None:
        """Read another split; None if it does not exist."""
        if self.split is None or name == self.split:
            return None
        if self.annotations is not None:
            return self.read(name) if name in self.split_names() else None
        try:
            return self.read(name)
        except (UsageError, MissingFileError):
            return None

    def training(
        self, reference: Annotations, split: str | None = None, file: Path | None = None
    ) -> Annotations | None:
        """Read the training annotations of baselines: the given split or file, else ``train``; None if there is none.

        The split ``none`` is nothing. `reference` is under test.
        """
        if split is not None and file is not None:
            raise UsageError("got --fit-split and --fit-annotations, expected one of them")
        if split == "none":
            return None
        if file is not None:
            return without_queries_of(reference, read_references(file, None, self.how), "--fit-annotations")
        if split is not None:
            return without_queries_of(reference, self.read(split), "--fit-split")
        if self.dataset is not None and any(split.name == "train" for split in get_dataset(self.dataset).splits):
            return None if self.split == "train" else self.read("train")
        train = self.beside("train")
        return None if train is None else without_queries_of(reference, train, "split train")

    def other_splits(self, annotations: Annotations | None) -> tuple[Annotations, ...]:
        """Read every other split that is there, except those that contain this one or are contained in it.

        `annotations` is a split that was read already.
        """
        if self.annotations is not None:
            names = self.split_names()
        else:
            splits = get_dataset(self.dataset or "").splits
            selected = next((split for split in splits if split.name == self.split), None)
            names = [
                split.name
                for split in splits
                if not split.merges and (selected is None or split.name not in selected.merges)
            ]
        by_name = {} if annotations is None else {annotations.split: annotations}
        for name in names:
            if name not in by_name and (other := self.beside(name)) is not None:
                by_name[name] = other
        return tuple(by_name.values())

    def files(self) -> list[Path]:
        """Return the files that may be read: those of every dataset in the folder, and those of a resplit folder."""
        if self.annotations is not None:
            return [self.annotations] if self.entries is None else []
        return [] if self.dataset is None else files_of(self.dataset, self.data_dir)


def without_queries_of(reference: Annotations, other: Annotations, option: str) -> Annotations:
    """Return the other split, which `option` names; refuse it if it contains queries under test."""
    shared = set(other.query_id) & set(reference.query_id) if other.dataset == reference.dataset else set()
    if other.sha256 == reference.sha256 or shared:
        raise UsageError(
            f"{option}: {other.dataset}/{other.split} contains queries of {reference.dataset}/{reference.split} (lines "
            "without a split belong to all); baselines must not learn from queries under test; name another split, or "
            "--fit-split none"
        )
    return other


def files_of(dataset: str | None, data_dir: Path | None) -> list[Path]:
    """Return the files that reading a dataset may open: those of every dataset in the folder.

    For a folder made by ``truemoment resplit`` also its own files, and the annotations it was made of.
    """
    if dataset is None:
        return []
    folder = data_dir or (Path(value) if (value := os.environ.get("TRUEMOMENT_DATA")) else None)
    paths = (
        []
        if folder is None
        else [folder / dataset.name / file.name for dataset in DATASETS.values() for file in dataset.files]
    )
    if folder is not None:
        paths += [folder / name / "annotations" for name in DATASETS]  # where MAD's lie as they are unpacked
    return [*paths, *(files_of_folder(Path(dataset)) if dataset not in DATASETS and is_folder(dataset) else [])]
