"""A run: a recipe with all its data, resolved once."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from truemoment.base.errors import MissingFileError, UsageError
from truemoment.base.intervals import Floats
from truemoment.base.records import Annotations
from truemoment.data.datasets import get_dataset, made_of
from truemoment.data.datasets.source import AnnotationSource
from truemoment.data.split_file import read_groups
from truemoment.learning.models import Family
from truemoment.learning.training.mixed_stores import MixedFeatures, MixedSentences
from truemoment.learning.training.mixtures import Mixture, read_mixture, shared_films
from truemoment.learning.training.recipes import Recipe
from truemoment.learning.training.starting import StartWeights
from truemoment.learning.training.stores import open_sentences
from truemoment.learning.training.tracking import tracker_of
from truemoment.learning.training.vocabulary import NO_WORDS, TokenVocabulary
from truemoment.media.features.base import FeatureStore
from truemoment.media.features.sentences import SentenceStore

HELD_OUT = "held out"
NO_TEST = "none"
"""In place of the names of test splits: nothing is predicted."""

HELD_OUT_SHARE = 0.1
"""Share of the training videos that chooses where a dataset has no validation split."""


@dataclass(frozen=True)
class RunSources:
    """Sources of the data of a run, as options name them.

    Parameters
    ----------
    data
        Dataset or file of annotations; its split is not used.
    features
        Source of the features; None for a model that sees no video.
    train_split, select_split
        Split to learn from, and split that chooses the epoch; None for the recipe's.
    tests
        Splits to predict; none for every test split whose file is there, and :data:`NO_TEST` for no split.
    force
        Whether a test split may be learned from or choose the epoch. Every result then has a note on it.
    skip_missing
        Whether queries of videos without features are left out; else they are refused.
    sentences
        Sources of the vectors of sentences, for a model that compares them.
    fps
        Rows a second of features that state none; None if the rows cover each video evenly.
    queries
        Folder or file with the rows of the words of each query; "" for none.
    start
        Folder of the run whose weights are learned further; None to start anew.
    """

    data: AnnotationSource
    features: str | None = None
    train_split: str = "train"
    select_split: str | None = None
    tests: tuple[str, ...] = ()
    force: bool = False
    skip_missing: bool = False
    sentences: tuple[str, ...] = ()
    fps: float | None = None
    queries: str = ""
    start: Path | None = None

    def is_test(self, split: str) -> bool:
        """Whether a split is a test split, or part of one."""
        if self.data.annotations is not None:
            return is_test(split)
        splits = get_dataset(self.data.dataset or "").splits
        return is_test(split, [name for other in splits if other.name.startswith("test") for name in other.merges])

    def read_tests(self) -> tuple[dict[str, Annotations], list[str]]:
        """Read the splits to predict, by name; return a note on each default one whose file is missing, too."""
        if NO_TEST in self.tests and len(self.tests) > 1:
            raise UsageError(f"--test: got {', '.join(self.tests)}, expected names of splits, or {NO_TEST} alone")
        if self.tests:
            return {name: self.data.read(name) for name in self.tests if name != NO_TEST}, []
        tests, notes = dict[str, Annotations](), []
        for name in self.data.split_names():
            if name.startswith("test"):
                try:
                    tests[name] = self.data.read(name)
                except MissingFileError:
                    notes.append(f"{self.data.dataset}/{name} is not predicted: its file is missing")
        return tests, notes


@dataclass(frozen=True, eq=False)
class Run:
    """A recipe with its data: the training split, the split that chooses the epoch, and the test splits.

    Parameters
    ----------
    recipe, seed
        The recipe, and the seed of all draws.
    train, val
        What is learned from, and what the epoch is chosen by.
    tests
        Splits to predict, by name.
    features, store
        Source of the features, and the features; "" and None for a model that sees no video.
    made_of
        Dataset that a resplit folder was made of, and whose features are simulated; "" for other annotations.
    sentences
        Every sentence whose words may be looked up in a file of fixed vectors.
    data_dir
        Folder of the data.
    notes
        Notes that every result contains.
    caution
        Note of a forced run: all that makes its figures too good; "" for another run.
    text_sources, texts
        Sources of the vectors of sentences, and the vectors, for a model that compares them.
    weights
        How often each training query is drawn in an epoch; None for once.
    fps
        Rows a second of features that state none.
    queries
        Source of the rows of the words of each query; "" for none.
    start
        Weights that are learned further; None to start anew.
    vocabulary
        The words that the network knows; :func:`~truemoment.learning.training.performing.perform` collects them.
    """

    recipe: Recipe
    seed: int
    train: Annotations
    val: Annotations
    tests: Mapping[str, Annotations] = field(default_factory=dict)
    features: str = ""
    store: FeatureStore | None = None
    made_of: str = ""
    sentences: Sequence[str] = ()
    data_dir: Path | None = None
    notes: tuple[str, ...] = ()
    caution: str = ""
    text_sources: tuple[str, ...] = ()
    texts: SentenceStore | None = None
    weights: Floats | None = None
    fps: float | None = None
    queries: str = ""
    start: StartWeights | None = None
    vocabulary: TokenVocabulary = NO_WORDS

    def __post_init__(self) -> None:
        """Refuse features for a model that sees none, none for one that does, and a test split that chooses unasked."""
        if self.family.sees_video and self.store is None:
            raise UsageError(f"{self.recipe.model} sees the video: give --features, e.g. --features FILE.hdf5")
        if not self.family.sees_video and self.store is not None:
            raise UsageError(f"{self.recipe.model} sees no video, expected no --features")
        if (is_test(self.val.split) or is_test(self.train.split)) and not self.caution:
            split = self.val.split if is_test(self.val.split) else self.train.split
            raise UsageError(f"{split} is a test split: nothing is learned from it or chosen by it, unless forced")
        self.family.task.check_run(self)

    @property
    def family(self) -> Family:
        """The family of the model."""
        return self.recipe.family

    @property
    def n_dimensions(self) -> int:
        """Numbers of a row of features; 0 for a model that sees no video."""
        return 0 if self.store is None else self.store.n_dimensions

    def require_tests(self) -> None:
        """Refuse a run without a test split, for a study that compares figures on one."""
        if not self.tests:
            raise UsageError("--test: got no split to predict, expected one or more")

    def learnable(self) -> Run:
        """Return the run without the training queries that its model cannot learn from."""
        learnable = self.family.task.learnable(self.train, self.family.needs)
        if not learnable.any():
            raise UsageError(f"{self.train.dataset}/{self.train.split} has no query that can be learned from")
        weights = None if self.weights is None else self.weights[learnable]
        return dataclasses.replace(self, train=self.train.select_queries(learnable), weights=weights)

    @classmethod
    def resolve(
        cls, recipe: Recipe, sources: RunSources, seed: int, *, warn: Callable[[str], None] = lambda _: None
    ) -> Run:
        """Read the data of a recipe, and refuse what would make its figures too good.

        Parameters
        ----------
        recipe, sources, seed
            What is trained, on what, with which seed.
        warn
            Receives a line about each split in which queries are left out.

        Raises
        ------
        UsageError
            If a test split would be learned from or choose the epoch, or splits share queries, without `force`.
        """
        tracker_of(recipe)  # a missing package is reported before files are read
        mixture = read_mixture(recipe.data, seed, sources.data.data_dir) if recipe.data else None
        train = sources.data.read(sources.train_split) if mixture is None else mixture.annotations
        split, notes = _selection_split(recipe, sources, train.dataset)
        train, val = _train_and_val(train, sources, split, seed)
        tests, missing = sources.read_tests()
        notes += missing
        shared = _refuse_shared_queries(sources, (train, val), tests)
        uses = _uses_of_tests(sources, split, shared, is_mixed=mixture is not None)
        uses += _refuse_shared_films(mixture, sources, tests)
        notes += mixture.notes() if mixture else []
        if sources.sentences and "sentence" not in recipe.family.needs:
            raise UsageError(f"{recipe.model} reads words, expected no --sentences")
        dataset = made_of(sources.data.dataset) if sources.data.dataset else train.dataset
        store = _open_features(recipe, sources, mixture, dataset, seed)
        if store is not None:
            train, val, *usable = (
                _with_features(annotations, store, recipe, skip_missing=sources.skip_missing, warn=warn)
                for annotations in (train, val, *tests.values())
            )
            tests = dict(zip(tests, usable, strict=True))
            notes += [caveat] if (caveat := getattr(store, "caution", "")) else []
        return cls(
            recipe=recipe,
            seed=seed,
            train=train,
            val=val,
            tests=tests,
            features=sources.features or "",
            made_of="" if dataset in (sources.data.dataset, train.dataset) else dataset,
            store=store,
            sentences=[text for annotations in (train, val, *tests.values()) for text in annotations.queries.sentence],
            data_dir=sources.data.data_dir,
            caution=f"by force: {'; '.join(uses)}; figures on these splits are too good" if uses else "",
            notes=tuple(notes),
            text_sources=sources.sentences,
            fps=sources.fps,
            queries=sources.queries,
            start=None if sources.start is None else StartWeights.read(sources.start, recipe.model),
            texts=_open_texts(recipe, sources, mixture),
            weights=_weights_of(mixture, train),
        )


def is_test(split: str, merged: Sequence[str] = ()) -> bool:
    """Return whether a split is a test split.

    Parameters
    ----------
    split
        Its name.
    merged
        Names of the splits that a test split of the dataset is merged from.
    """
    return re.search(r"(?<![a-z])test", split.casefold()) is not None or split in merged


def hold_out(train: Annotations, seed: int) -> tuple[Annotations, Annotations]:
    """Divide the training videos by seed: nine tenths to learn from, one tenth to choose the epoch.

    Examples
    --------
    >>> rows = [(f"v{n}#0", f"v{n}", 9.0, "a door opens", 1.0, 2.0) for n in range(20)]
    >>> rest, held = hold_out(Annotations.from_rows(rows, split="train"), seed=0)
    >>> rest.n_videos, held.n_videos, held.split
    (18, 2, 'held out of train')
    """
    videos = np.unique(train.queries.video_id.astype(str))
    if len(videos) < 2:
        raise UsageError(f"{train.dataset}/{train.split} has {len(videos)} video(s), expected 2 or more")
    sample = np.random.default_rng([seed, 0]).permutation(videos)[: max(1, round(HELD_OUT_SHARE * len(videos)))]
    held_out = np.isin(train.queries.video_id.astype(str), sample)
    rest = dataclasses.replace(train.select_queries(~held_out), split=f"{train.split} less {len(sample)} videos")
    return rest, dataclasses.replace(train.select_queries(held_out), split=f"held out of {train.split}")


# ---------------------------------------------------------------------------------------------- splits


def _selection_split(recipe: Recipe, sources: RunSources, dataset: str) -> tuple[str, list[str]]:
    """Return the split that chooses the epoch, and a note if it is not the recipe's; refuse a test split."""
    split = sources.select_split or recipe.select.split
    notes = []
    if split != HELD_OUT and sources.select_split is None and split not in sources.data.split_names():
        notes.append(
            f"{dataset} has no split {split}: the epoch was chosen on a tenth of the training videos, held out"
        )
        split = HELD_OUT
    uses = (("--train-split", sources.train_split, "train on"), ("--select-split", split, "choose the epoch on"))
    for option, name, use in uses:
        if name != HELD_OUT and sources.is_test(name) and not sources.force:
            raise UsageError(
                f"{option} {name}: would {use} a test split; give --force to do so, and every result says so"
            )
    return split, notes


def _uses_of_tests(sources: RunSources, split: str, shared: Mapping[str, int], *, is_mixed: bool) -> list[str]:
    """Return how test splits are used, in words; a mixture has no training split of the sources."""
    train = "" if is_mixed else sources.train_split
    uses = [f"it was trained on {train}"] if train and sources.is_test(train) else []
    uses += [f"its epoch was chosen on {split}"] if split != HELD_OUT and sources.is_test(split) else []
    others = {name: count for name, count in shared.items() if name not in (train, split)}
    return uses + [f"it was trained on, or chosen by, {count:,} queries of {name}" for name, count in others.items()]


def _train_and_val(train: Annotations, sources: RunSources, split: str, seed: int) -> tuple[Annotations, Annotations]:
    """Return the annotations to learn from and those that choose the epoch, which share no query."""
    if split == HELD_OUT:
        return hold_out(train, seed)
    val = sources.data.read(split)
    if set(val.query_id) & set(train.query_id) and val.dataset == train.dataset:
        raise UsageError(f"--select-split {split}: shares queries with {sources.train_split}, expected another split")
    return train, val


def _refuse_shared_queries(
    sources: RunSources, learned: tuple[Annotations, Annotations], tests: Mapping[str, Annotations]
) -> dict[str, int]:
    """Refuse queries that are learned from and tested; with force, return how many each split has."""
    query_ids = {*learned[0].query_id, *learned[1].query_id}
    count = {}
    for name, test in tests.items():
        shared = len(query_ids & set(test.query_id))
        if shared and not sources.force:
            raise UsageError(
                f"--test {name}: {shared:,} of its queries are also in the training or validation data (lines without "
                "a split belong to all); name another split, or give --force, and every result says so"
            )
        if shared:
            count[name] = shared
    return count


def _refuse_shared_films(mixture: Mixture | None, sources: RunSources, tests: Mapping[str, Annotations]) -> list[str]:
    """Refuse a mixture that shares films with a test split; with force, return which, a line a source and split."""
    if mixture is None:
        return []
    files = [part.source.annotations for part in mixture.parts] + [sources.data.annotations]
    folders = dict.fromkeys(Path(file).parent for file in files if file)
    groups = {film: group for folder in folders for film, group in read_groups(folder).items()}  # of a collection
    shared = list(shared_films(mixture, tests, groups))
    if shared and not sources.force:
        raise UsageError(
            f"data: {shared[0]}; leave the source or the split out, or give --force, and every result says so"
        )
    return shared


# ------------------------------------------------------------------------------------ features and texts


def _open_features(
    recipe: Recipe, sources: RunSources, mixture: Mixture | None, dataset: str, seed: int
) -> FeatureStore | None:
    """Open the features of the run and of the sources of its mixture; None for a model that sees no video."""
    mixed = [part.source.features for part in mixture.parts if part.source.features] if mixture else []
    names = [*([sources.features] if sources.features is not None else []), *mixed]
    if not names:
        return None
    if not recipe.family.sees_video:
        raise UsageError(f"{recipe.model} sees no video, expected no --features")
    task = recipe.family.task
    stores = tuple(
        task.open_features(name, recipe, dataset, sources.data.data_dir, seed=seed, fps=sources.fps)
        for name in dict.fromkeys(names)
    )
    return stores[0] if len(stores) == 1 else MixedFeatures(stores)


def _open_texts(recipe: Recipe, sources: RunSources, mixture: Mixture | None) -> SentenceStore | None:
    """Open the vectors of sentences of the run and of the sources of its mixture; None for a model that reads words."""
    if "sentence" not in recipe.family.needs:
        return None
    texts = open_sentences(sources.sentences)
    if mixture is None:
        return texts
    mixed = {part.source.title: part.source.sentences for part in mixture.parts}
    opened = {title: open_sentences([name]) for title, name in mixed.items() if name}
    by_source = {title: store for title, store in opened.items() if store is not None}
    return MixedSentences(by_source, texts, tuple(mixed)) if by_source or texts else None


def _with_features(
    split: Annotations, store: FeatureStore, recipe: Recipe, *, skip_missing: bool, warn: Callable[[str], None]
) -> Annotations:
    """Return the annotations of videos with features; all of them, unless videos may be skipped."""
    has_features = recipe.family.task.with_features(split, store, skip_missing=skip_missing)
    if not has_features.all():
        warn(
            f"{split.dataset}/{split.split}: {int((~has_features).sum()):,} queries are skipped, their videos have no "
            "features"
        )
    return split.select_queries(has_features)


def _weights_of(mixture: Mixture | None, train: Annotations) -> Floats | None:
    """Return how often each training query is drawn, (Q,); None for once."""
    if mixture is None or mixture.weights is None:
        return None
    weight_of = dict(zip(mixture.annotations.queries.query_id.tolist(), mixture.weights.tolist(), strict=True))
    return np.array([weight_of[query_id] for query_id in train.queries.query_id.tolist()])
