"""From options to what a run learns from, chooses its epoch on, and predicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from truemoment.datasets import get_dataset, made_of, own
from truemoment.datasets.source import AnnotationSource
from truemoment.exceptions import UsageError
from truemoment.features.alignment import check
from truemoment.features.base import FeatureStore
from truemoment.features.opening import open_features
from truemoment.models import get_family
from truemoment.records import Annotations
from truemoment.training.recipes import Recipe
from truemoment.training.runs import HELD_OUT, TrainingTask, hold_out, is_test
from truemoment.training.tracking import tracker_of


@dataclass(frozen=True)
class RunData:
    """The data of a run.

    Parameters
    ----------
    source
        Dataset or file of annotations; its split is not used.
    features
        Source of the features; None for a model that sees no video.
    train_split, select_split
        Split to learn from, and split that chooses the epoch; None for the recipe's.
    tests
        Splits to predict; none for every test split.
    force
        Whether a test split may be learned from or choose the epoch. Every result then says so.
    skip_missing
        Whether queries of videos without features are left out; else they are refused.
    """

    source: AnnotationSource
    features: str | None = None
    train_split: str = "train"
    select_split: str | None = None
    tests: tuple[str, ...] = ()
    force: bool = False
    skip_missing: bool = False

    def split_names(self) -> list[str]:
        """Return the names of all splits of the dataset, or of the user's own file."""
        if self.source.annotations is not None:
            return sorted(own.splits_of(self.source.annotations))
        return [split.name for split in get_dataset(self.source.dataset or "").splits]

    def is_test(self, split: str) -> bool:
        """Whether a split is a test split, or part of one."""
        if self.source.annotations is not None:
            return is_test(split)
        splits = get_dataset(self.source.dataset or "").splits
        return is_test(split, [name for of in splits if of.name.startswith("test") for name in of.merges])

    def read_tests(self) -> dict[str, Annotations]:
        """Read the splits to predict, by name."""
        names = self.tests or [name for name in self.split_names() if name.startswith("test")]
        return {name: self.source.read(name) for name in names}


def prepare(
    recipe: Recipe, data: RunData, seed: int, *, warn: Callable[[str], None] = lambda _: None
) -> tuple[TrainingTask, dict[str, Annotations]]:
    """Read the data of a run, and refuse what would make its figures too good.

    Parameters
    ----------
    recipe, data, seed
        What is trained, on what, with which seed.
    warn
        Receives a line about each split in which queries are left out.

    Returns
    -------
    task, tests
        What is trained, and the splits to predict by name.

    Raises
    ------
    UsageError
        If a test split would be learned from or choose the epoch, or splits share queries, without `force`.
    """
    tracker_of(recipe)  # a missing package is reported before files are read
    train = data.source.read(data.train_split)
    split, notes = _selection_split(recipe, data, train.dataset)
    train, val = _train_and_val(train, data, split, seed)
    tests = data.read_tests()
    is_forced = data.is_test(data.train_split) or (split != HELD_OUT and data.is_test(split))
    learned = {*train.query_id, *val.query_id}
    for name, of in tests.items():
        shared = len(learned & set(of.query_id))
        if shared and not data.force:
            raise UsageError(
                f"--test {name}: {shared:,} of its queries are also in the training or validation data (lines without "
                "a split belong to all); name another split, or give --force, and every result says so"
            )
        is_forced = is_forced or bool(shared)
    source = made_of(data.source.dataset) if data.source.dataset else train.dataset
    store = None
    if data.features is not None:
        if "video" not in get_family(recipe.model).needs:
            raise UsageError(f"{recipe.model} sees no video, expected no --features")
        store = open_features(data.features, dataset=source, data_dir=data.source.data_dir, seed=seed)
        train, val, *others = (
            _with_features(of, store, skip_missing=data.skip_missing, warn=warn) for of in (train, val, *tests.values())
        )
        tests = dict(zip(tests, others, strict=True))
        notes += [caution] if (caution := getattr(store, "caution", "")) else []
    task = TrainingTask(
        recipe=recipe,
        seed=seed,
        train=train,
        val=val,
        features=data.features or "",
        made_of="" if source in (data.source.dataset, train.dataset) else source,
        store=store,
        sentences=[s for of in (train, val, *tests.values()) for s in of.queries.sentence],
        data_dir=data.source.data_dir,
        forced=is_forced,
        notes=tuple(notes),
    )
    return task, tests


def _selection_split(recipe: Recipe, data: RunData, dataset: str) -> tuple[str, list[str]]:
    """Return the split that chooses the epoch, and a note if it is not the recipe's; refuse a test split."""
    split = data.select_split or recipe.select.split
    notes = []
    if split != HELD_OUT and data.select_split is None and split not in data.split_names():
        notes.append(
            f"{dataset} has no split {split}: the epoch was chosen on a tenth of the training videos, held out"
        )
        split = HELD_OUT
    uses = (("--train-split", data.train_split, "train on"), ("--select-split", split, "choose the epoch on"))
    for option, name, use in uses:
        if name != HELD_OUT and data.is_test(name) and not data.force:
            raise UsageError(
                f"{option} {name}: would {use} a test split; give --force to do so, and every result says so"
            )
    return split, notes


def _train_and_val(train: Annotations, data: RunData, split: str, seed: int) -> tuple[Annotations, Annotations]:
    """Return the annotations to learn from and those that choose the epoch, which share no query."""
    if split == HELD_OUT:
        return hold_out(train, seed)
    val = data.source.read(split)
    if set(val.query_id) & set(train.query_id) and val.dataset == train.dataset:
        raise UsageError(f"--select-split {split}: shares queries with {data.train_split}, expected another split")
    return train, val


def _with_features(
    of: Annotations, store: FeatureStore, *, skip_missing: bool, warn: Callable[[str], None]
) -> Annotations:
    """Return the annotations of videos with features; all of them, unless videos may be skipped."""
    usable = check(store, of).require(skip_missing=skip_missing)
    kept = np.isin(of.queries.video_id.astype(str), usable)
    if not kept.all():
        warn(f"{of.dataset}/{of.split}: {int((~kept).sum()):,} queries are skipped, their videos have no features")
    return of.select_queries(kept)
