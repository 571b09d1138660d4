"""From options to what a run learns from, chooses its epoch on, and predicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Bools, Floats
from truemoment.base.records import Annotations
from truemoment.data.datasets import get_dataset, made_of, own
from truemoment.data.datasets.source import AnnotationSource
from truemoment.data.split_file import read_groups
from truemoment.learning.models import get_family
from truemoment.learning.training.clip_features import open_clip_features
from truemoment.learning.training.mixed_stores import MixedFeatures, MixedSentences
from truemoment.learning.training.mixtures import Mixture, read_mixture, shared_films
from truemoment.learning.training.recipes import Recipe
from truemoment.learning.training.runs import HELD_OUT, TrainingTask, hold_out, is_test
from truemoment.learning.training.sentence_vectors import open_sentences
from truemoment.learning.training.tracking import tracker_of
from truemoment.media.features.alignment import check
from truemoment.media.features.base import FeatureStore
from truemoment.media.features.sentences import SentenceStore
from truemoment.searching.clips.clips import clip_name, own_id
from truemoment.searching.opening import open_features


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
    sentences
        Sources of the vectors of sentences, for a model that compares them.
    fps
        Rows a second of features that state none; None if the rows cover each video evenly.
    """

    source: AnnotationSource
    features: str | None = None
    train_split: str = "train"
    select_split: str | None = None
    tests: tuple[str, ...] = ()
    force: bool = False
    skip_missing: bool = False
    sentences: tuple[str, ...] = ()
    fps: float | None = None

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
    family = get_family(recipe.model)
    mixture = read_mixture(recipe.data, seed, data.source.data_dir) if recipe.data else None
    train = data.source.read(data.train_split) if mixture is None else mixture.annotations
    split, notes = _selection_split(recipe, data, train.dataset)
    train, val = _train_and_val(train, data, split, seed)
    tests = data.read_tests()
    is_forced = (mixture is None and data.is_test(data.train_split)) or (split != HELD_OUT and data.is_test(split))
    is_forced = _refuse_shared_queries(data, (train, val), tests) or is_forced
    caution = _refuse_shared_films(mixture, data, tests)
    notes += mixture.notes() if mixture else []
    if data.sentences and not family.retrieves:
        raise UsageError(f"{recipe.model} reads words, expected no --sentences")
    source = made_of(data.source.dataset) if data.source.dataset else train.dataset
    store = _open_store(recipe, data, mixture, source, seed)
    if store is not None:
        usable = [
            _with_features(of, store, recipe, skip_missing=data.skip_missing, warn=warn)
            for of in (train, val, *tests.values())
        ]
        tests = dict(zip(tests, usable[2:], strict=True))
        notes += [said] if (said := getattr(store, "caution", "")) else []
    else:
        usable = [train, val]
    task = TrainingTask(
        recipe=recipe,
        seed=seed,
        train=usable[0],
        val=usable[1],
        features=data.features or "",
        made_of="" if source in (data.source.dataset, train.dataset) else source,
        store=store,
        sentences=[s for of in (*usable[:2], *tests.values()) for s in of.queries.sentence],
        data_dir=data.source.data_dir,
        forced=is_forced or bool(caution),
        caution=caution,
        notes=tuple(notes),
        text_sources=data.sentences,
        fps=data.fps,
        texts=_open_texts(recipe, data, mixture),
        weights=_weights_of(mixture, usable[0]),
    )
    return task, tests


def _refuse_shared_queries(
    data: RunData, learned: tuple[Annotations, Annotations], tests: Mapping[str, Annotations]
) -> bool:
    """Refuse queries that are learned from and tested; return whether there are some, by force."""
    known = {*learned[0].query_id, *learned[1].query_id}
    is_shared = False
    for name, of in tests.items():
        shared = len(known & set(of.query_id))
        if shared and not data.force:
            raise UsageError(
                f"--test {name}: {shared:,} of its queries are also in the training or validation data (lines without "
                "a split belong to all); name another split, or give --force, and every result says so"
            )
        is_shared = is_shared or bool(shared)
    return is_shared


def _refuse_shared_films(mixture: Mixture | None, data: RunData, tests: Mapping[str, Annotations]) -> str:
    """Refuse a mixture that shares films with a test split; return what results must say by force, "" for nothing."""
    if mixture is None:
        return ""
    shared = list(shared_films(mixture, tests, _groups_of(mixture, data)))
    if shared and not data.force:
        raise UsageError(
            f"data: {shared[0]}; leave the source or the split out, or give --force, and every result says so"
        )
    return f"by force: {'; '.join(shared)}; figures on these splits are too good" if shared else ""


def _groups_of(mixture: Mixture, data: RunData) -> dict[str, str]:
    """Return the groups of films that are the same, where annotations lie in the folder of a collection."""
    files = [part.source.annotations for part in mixture.parts] + [data.source.annotations]
    folders = dict.fromkeys(Path(file).parent for file in files if file)
    return {film: group for folder in folders for film, group in read_groups(folder).items()}


def _open_store(recipe: Recipe, data: RunData, mixture: Mixture | None, source: str, seed: int) -> FeatureStore | None:
    """Open the features of the run and of the sources of its mixture; None for a model that sees no video."""
    family = get_family(recipe.model)
    own = [part.source.features for part in mixture.parts if part.source.features] if mixture else []
    names = [*([data.features] if data.features is not None else []), *own]
    if not names:
        return None
    if "video" not in family.needs:
        raise UsageError(f"{recipe.model} sees no video, expected no --features")
    stores: list[FeatureStore] = []
    for name in dict.fromkeys(names):
        if family.retrieves:
            stores.append(open_clip_features(name, recipe, source, data.source.data_dir, seed=seed, fps=data.fps))
        else:
            stores.append(open_features(name, dataset=source, data_dir=data.source.data_dir, seed=seed, fps=data.fps))
    return stores[0] if len(stores) == 1 else MixedFeatures(tuple(stores))


def _open_texts(recipe: Recipe, data: RunData, mixture: Mixture | None) -> SentenceStore | None:
    """Open the vectors of sentences of the run and of the sources of its mixture; None for a model that reads words."""
    if not get_family(recipe.model).retrieves:
        return None
    texts = open_sentences(data.sentences)
    if mixture is None:
        return texts
    own = {part.source.title: part.source.sentences for part in mixture.parts}
    by_source = {title: open_sentences([name]) for title, name in own.items() if name}
    found = {title: store for title, store in by_source.items() if store is not None}
    return MixedSentences(found, texts, tuple(own)) if found or texts else None


def _weights_of(mixture: Mixture | None, train: Annotations) -> Floats | None:
    """Return how often each training query is drawn, (Q,); None for once."""
    if mixture is None or mixture.weights is None:
        return None
    weight_of = dict(zip(mixture.annotations.queries.query_id.tolist(), mixture.weights.tolist(), strict=True))
    return np.array([weight_of[query_id] for query_id in train.queries.query_id.tolist()])


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
    of: Annotations,
    store: FeatureStore,
    recipe: Recipe,
    *,
    skip_missing: bool,
    warn: Callable[[str], None],
) -> Annotations:
    """Return the annotations of videos with features; all of them, unless videos may be skipped."""
    if get_family(recipe.model).retrieves:
        kept = _clips_with_features(of, store, skip_missing=skip_missing)
    else:
        usable = check(store, of).require(skip_missing=skip_missing)
        kept = np.isin(of.queries.video_id.astype(str), usable)
    if not kept.all():
        warn(f"{of.dataset}/{of.split}: {int((~kept).sum()):,} queries are skipped, their videos have no features")
    return of.select_queries(kept)


def _clips_with_features(of: Annotations, store: FeatureStore, *, skip_missing: bool) -> Bools:
    """Return which queries have features of their clip or its video, (Q,); refuse a split that has none."""
    names = zip(of.queries.query_id.tolist(), of.queries.video_id.tolist(), strict=True)
    kept = np.array([clip_name(own_id(query), video) in store or video in store for query, video in names], dtype=bool)
    if not kept.any() or (not kept.all() and not skip_missing):
        missing = of.queries.video_id[~kept][0]
        raise InputError(
            f"has no features of {int((~kept).sum()):,} of {len(kept):,} clips of {of.dataset}/{of.split}, e.g. of "
            f"video {missing!r}",
            path=store.name,
        )
    return kept
