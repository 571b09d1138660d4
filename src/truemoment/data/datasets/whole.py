"""All queries of a dataset or a file, to be split again, and the splits that they have."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from truemoment.base.boundary.text import as_text
from truemoment.base.errors import MissingFileError, UsageError
from truemoment.base.records import Annotations
from truemoment.data.datasets import DATASETS, get_dataset, load_annotations
from truemoment.data.datasets.all_splits import splits_of_file
from truemoment.data.datasets.resplit_folder import COPY, ResplitSource
from truemoment.data.references import AS_STATED, ReferenceOptions, read_annotations, recognise, splits_of


class OriginalSplits(NamedTuple):
    """The training split and the test splits that a dataset has."""

    train: Annotations
    tests: tuple[Annotations, ...]


class WholeDataset(NamedTuple):
    """All queries of a dataset, and the splits that it has.

    `source` is as in a datasheet. `original` is None if there is no training split or no test split. `missing` are
    splits whose files are missing. `copied` are splits that the new folder gets a copy of, as no file of our own form
    has them; `loses_ratings` if they had ratings of clips, which the copy has not.
    """

    annotations: Annotations
    source: ResplitSource
    original: OriginalSplits | None
    missing: tuple[str, ...] = ()
    copied: tuple[Annotations, ...] = ()
    loses_ratings: bool = False


def whole_dataset(name: str, only: Sequence[str] = (), *, data_dir: Path | None = None) -> WholeDataset:
    """Read the splits of a dataset as one: those that are named, or all whose files exist."""
    dataset = get_dataset(name)
    if dataset.name not in DATASETS:
        raise UsageError(f"{dataset.name} is split again already, expected the original dataset")
    names = list(dict.fromkeys(only)) or [split.name for split in dataset.splits if not split.merges]
    for split in names:
        if any(part in names for part in dataset.split(split).merges):
            raise UsageError(f"{dataset.name}: {split} contains other splits that are named, expected each query once")
    parts, missing = [], []
    for split in names:
        try:
            parts.append(load_annotations(dataset.name, split, data_dir=data_dir))
        except MissingFileError:
            if only or split == names[0]:
                raise
            missing.append(split)
    source = ResplitSource(dataset=dataset.name, splits={part.split: part.sha256 for part in parts})
    by_name = {part.split: part for part in parts}
    return WholeDataset(Annotations.joined(parts), source, _original(by_name.__getitem__, by_name), tuple(missing))


def whole_file(path: Path, folder: Path, how: ReferenceOptions = AS_STATED) -> WholeDataset:
    """Read all of a file of annotations: a datasheet in `folder` refers to one that states everything."""
    if path.exists() and not path.is_file():
        raise UsageError(f"{path}: is not a regular file; expected one, because the folder refers to it")
    if how.given or recognise(path)[0].name not in ("own", "answers"):
        return whole_copy(splits_of_file(path, how=how).splits.values())
    seen_from_folder = os.path.relpath(os.path.realpath(path), folder)
    if as_text(seen_from_folder) != seen_from_folder:
        raise UsageError(f"{path}: its name is not text, expected one that a datasheet can contain")
    whole = read_annotations(path)
    original = _original(lambda split: read_annotations(path, split), splits_of(path))
    return WholeDataset(whole, ResplitSource(annotations=seen_from_folder, splits={"all": whole.sha256}), original)


def whole_copy(splits: Iterable[Annotations]) -> WholeDataset:
    """Return all queries of splits, of which the new folder gets a copy in our own form, without ratings of clips."""
    rated = {part.split: part for part in splits}
    parts = {name: replace(part, saliency=None) for name, part in rated.items()}
    whole = Annotations.joined(list(parts.values()))
    source = ResplitSource(annotations=COPY, splits={"all": whole.sha256})
    original, loses = _original(parts.__getitem__, parts), any(part.saliency is not None for part in rated.values())
    return WholeDataset(whole, source, original, copied=tuple(parts.values()), loses_ratings=loses)


def _original(read: Callable[[str], Annotations], names: Iterable[str]) -> OriginalSplits | None:
    """Return the split train and the tests that share no query with it (lines without a split belong to all)."""
    if "train" not in names:
        return None
    train = read("train")
    query_ids = set(train.query_id)
    tests = [read(name) for name in sorted(names) if name.startswith("test")]
    tests = [test for test in tests if query_ids.isdisjoint(test.query_id)]
    return OriginalSplits(train, tuple(tests)) if tests else None
