"""All splits of a dataset, or of a file of annotations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from truemoment.base.errors import MissingFileError, UsageError
from truemoment.base.known_names import one_of_known
from truemoment.base.records import Annotations
from truemoment.data.datasets import get_dataset, load_annotations
from truemoment.data.datasets.entries import ReferenceEntry, as_annotations, splits_in
from truemoment.data.python_values import reference_entries
from truemoment.data.references import AS_STATED, NO_SPLIT, ReferenceOptions, read_entries

_USUAL = ("train", "val", "test", "test-iid", "test-ood")


class AllSplits(NamedTuple):
    """All splits of a dataset by name, its name for people, and notes on splits that are missing or made of others."""

    title: str
    splits: dict[str, Annotations]
    notes: tuple[str, ...] = ()


def splits_of_dataset(name: str, only: Sequence[str] = (), *, data_dir: Path | None = None) -> AllSplits:
    """Read the splits of a dataset or of a resplit folder: those that are named, or all whose files exist.

    A split that is made of others represents them.
    """
    dataset = get_dataset(name)
    whole_of = {part: split.name for split in dataset.splits for part in split.merges}
    if only:
        for part in only:
            dataset.split(part)
            if whole_of.get(part) in only:
                raise UsageError(f"{name}: {whole_of[part]} is made of {part}, expected only one of them")
        return AllSplits(dataset.title, {split: load_annotations(name, split, data_dir=data_dir) for split in only})
    splits, notes = {}, []
    for split in dataset.splits:
        if split.name in whole_of:
            continue
        try:
            splits[split.name] = load_annotations(name, split.name, data_dir=data_dir)
        except MissingFileError as error:
            missing = error
            notes.append(f"{split.name} is missing")
    if not splits:
        raise missing
    notes += [f"{split.name} contains {' and '.join(split.merges)}" for split in dataset.splits if split.merges]
    return AllSplits(dataset.title, splits, tuple(notes))


def splits_of_file(path: Path, only: Sequence[str] = (), how: ReferenceOptions = AS_STATED) -> AllSplits:
    """Read the splits of a file of annotations."""
    return splits_of_entries(path, read_entries(path, how), only)


def splits_of_value(value: Any, only: Sequence[str] = (), how: ReferenceOptions = AS_STATED) -> AllSplits:  # noqa: ANN401
    """Return the splits of a record, or of a Python value that is no file."""
    if isinstance(value, Annotations):
        return AllSplits(value.dataset, {value.split: value})
    return splits_of_entries(Path("annotations"), reference_entries(value, how), only)


def splits_of_entries(path: Path, entries: Sequence[ReferenceEntry], only: Sequence[str] = ()) -> AllSplits:
    """Return the splits of entries, the usual ones in their usual order; `path` names their source.

    Entries without a split are a split of their own, :data:`NO_SPLIT`, where others name one.
    """
    names, whole = splits_in(entries), as_annotations(path, entries, None)
    if not names:
        if only:
            raise UsageError(f"{path}: its lines name no split, expected no --split")
        return AllSplits(path.name, {whole.split: whole})
    ordered = [*(name for name in _USUAL if name in names), *sorted(names - set(_USUAL))]
    if unknown := next((name for name in only if name not in names), None):
        raise UsageError(f"{path} has no split {unknown!r}, expected {one_of_known(unknown, ordered)}")
    splits = {name: as_annotations(path, entries, name) for name in ordered}
    # Lines without a split are read with every split; if there is only one split, they belong to it.
    shared = set.intersection(*(set(part.query_id) for part in splits.values())) if len(splits) > 1 else set()
    if shared:
        splits = {name: _select(part, shared, keep=False) for name, part in splits.items()}
        splits[NO_SPLIT] = _select(whole, shared, keep=True)
    return AllSplits(path.name, {name: part for name, part in splits.items() if not only or name in only})


def _select(annotations: Annotations, ids: set[str], *, keep: bool) -> Annotations:
    """Keep the queries with these ids, or all others."""
    return annotations.select_queries(np.array([(q in ids) == keep for q in annotations.queries.query_id], dtype=bool))
