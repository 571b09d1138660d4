"""Surveys: the location, verb and word biases of a dataset in one record.

:func:`survey` calls the other modules of this package. Each part has its own random stream, so that a further part
changes no figure of the others. A part that does not apply has a reason and is no error: a single split has no distance
to another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Generic, TypeVar

import numpy as np

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import TIE, Floats, temporal_iou
from truemoment.base.known_names import NO_DURATION
from truemoment.base.records import Annotations
from truemoment.data.datasets.all_splits import AllSplits
from truemoment.data.language import verbs_of
from truemoment.data.language.base import Engine
from truemoment.data.language.remembered import Remembered
from truemoment.studies.bias.distances import SplitDistance, split_distance
from truemoment.studies.bias.grids import Grid
from truemoment.studies.bias.information import VerbInformation, verb_information
from truemoment.studies.bias.locations import Locations, length_shares
from truemoment.studies.bias.order import SplitOrder, orders_of_splits
from truemoment.studies.bias.spread import ConstantBias, Evenness, constant_bias, evenness
from truemoment.studies.bias.statistics import DatasetStatistics, dataset_statistics, each_query_once
from truemoment.studies.bias.uniqueness import Uniqueness, uniqueness
from truemoment.studies.bias.vocabulary import LongTail, Overlap, VerbUse, long_tail, overlap, verb_use

OVER = (0.3, 0.5, 0.7)
"""Lengths, as shares of the video: longer moments are counted (Closer Look, Fig. 3)."""

THRESHOLD = 0.5
"""IoU above which a constant answer hits."""

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class SurveyPart(Generic[T]):
    """A part of a survey, or None and the reason why it does not apply."""

    value: T | None
    why: str = ""


@dataclass(frozen=True, eq=False)
class SplitSurvey:
    """Locations of the moments of a split.

    Parameters
    ----------
    name, sha256
        The split, and the hash of its annotations ("" for several splits).
    n_without_moment, n_unknown_duration, n_left_out
        Number of queries without a moment, of videos of unknown duration, and of moments without a location (the
        duration is unknown, or they are empty, swapped or outside the video).
    longer : (3,)
        Share of the moments longer than each of :data:`OVER`; NaN without locations.
    constant_of_train
        Share of the moments that the best constant prediction of the split ``train`` hits here.
    """

    name: str
    sha256: str
    n_queries: int
    n_videos: int
    n_moments: int
    n_without_moment: int
    n_unknown_duration: int
    n_left_out: int
    locations: SurveyPart[Locations]
    longer: Floats
    evenness: SurveyPart[Evenness]
    constant: SurveyPart[ConstantBias]
    constant_of_train: SurveyPart[float]
    verbs: Sequence[Sequence[str]] = field(repr=False)

    @property
    def grid(self) -> Grid | None:
        """The grid of the moments; None if there is none, or if neither evenness nor constant is defined."""
        part = self.evenness.value or self.constant.value
        return None if part is None else part.grid

    @property
    def points(self) -> Floats:
        """Start and end of each location as shares of the video, (N, 2)."""
        return np.zeros((0, 2)) if self.locations.value is None else self.locations.value.start_end_norm

    @property
    def duration_s(self) -> Floats:
        """Duration of the video of each location, (N,)."""
        locations = self.locations.value
        return np.zeros(0) if locations is None or locations.duration_s is None else locations.duration_s

    def points_of_verb(self, verb: str) -> Floats:
        """Return the points of the moments whose query has a verb, (M, 2)."""
        if self.locations.value is None:
            return np.zeros((0, 2))
        mask = np.array([verb in verbs for verbs in self.verbs], dtype=bool)
        return np.asarray(self.points[mask[self.locations.value.query]])


@dataclass(frozen=True, eq=False)
class SplitPair:
    """The distance between two splits, by name."""

    a: str
    b: str
    distance: SurveyPart[SplitDistance]


@dataclass(frozen=True, eq=False)
class SharedWords:
    """The words that two splits share."""

    train: str
    test: str
    overlap: Overlap


@dataclass(frozen=True, eq=False)
class Survey:
    """The location, verb and word biases of a dataset.

    Parameters
    ----------
    splits, whole
        Each split, and all splits together; a query in several splits counts once there.
    uniqueness
        Sentences unlike all others of their video, by threshold.
    order
        Order of the sentences of each split, and how far it predicts their moments.
    """

    dataset: str
    title: str
    splits: tuple[SplitSurvey, ...]
    whole: SplitSurvey
    pairs: tuple[SplitPair, ...]
    verb_use: SurveyPart[VerbUse]
    information: SurveyPart[VerbInformation]
    statistics: DatasetStatistics
    tail: SurveyPart[LongTail]
    shared: tuple[SharedWords, ...]
    uniqueness: SurveyPart[tuple[Uniqueness, ...]]
    order: tuple[SplitOrder, ...]
    engine: str
    permutations: int
    draws: int
    notes: tuple[str, ...] = ()

    def split(self, name: str) -> SplitSurvey | None:
        """Return a split by name; None if there is none."""
        return next((split for split in self.splits if split.name == name), None)

    @property
    def tested(self) -> SplitSurvey:
        """The split under test: the first of test-ood, test, test-iid, val; else the last one."""
        splits = (self.split(name) for name in ("test-ood", "test", "test-iid", "val"))
        return next((split for split in splits if split is not None), self.splits[-1])

    @property
    def train_to_tested(self) -> SplitPair | None:
        """The distance from train to the split under test; None if one of them is missing."""
        return next((pair for pair in self.pairs if (pair.a, pair.b) == ("train", self.tested.name)), None)


def survey_all(
    datasets: Sequence[AllSplits],
    engine: Engine,
    *,
    seed: int = 0,
    permutations: int = 1000,
    draws: int = 200,
    top_verbs: int = 30,
    on_status: Callable[[str], None] = lambda _: None,
) -> list[Survey]:
    """Survey several datasets, each with its own random stream; see :func:`survey`."""
    return [
        survey(
            dataset.splits,
            rng,
            engine,
            title=dataset.title,
            permutations=permutations,
            draws=draws,
            top_verbs=top_verbs,
            notes=dataset.notes,
            on_status=on_status,
        )
        for dataset, rng in zip(datasets, np.random.default_rng(seed).spawn(len(datasets)), strict=True)
    ]


def survey(
    annotations_by_split: Mapping[str, Annotations],
    rng: np.random.Generator,
    engine: Engine,
    *,
    title: str = "",
    permutations: int = 1000,
    draws: int = 200,
    top_verbs: int = 30,
    notes: Sequence[str] = (),
    on_status: Callable[[str], None] = lambda _: None,
) -> Survey:
    """Survey the splits of a dataset, by name; the `top_verbs` most frequent verbs are listed.

    `permutations` is their number in tests between splits; `draws` is that of simulated datasets in other tests.

    Examples
    --------
    >>> import numpy as np
    >>> from truemoment.data.language import get_engine
    >>> from truemoment.worlds import make_world
    >>> splits, rng = make_world(40, seed=0).splits, np.random.default_rng(0)
    >>> result = survey(splits, rng, get_engine(), permutations=20, draws=20)
    >>> [split.name for split in result.splits], result.tested.name
    (['train', 'val', 'test-iid', 'test-ood'], 'test-ood')
    """
    if not annotations_by_split:
        raise UsageError("got no split to survey, expected one or more")
    dataset = next(iter(annotations_by_split.values())).dataset
    reader = engine if isinstance(engine, Remembered) else Remembered(engine)
    of_splits, of_pairs, of_verbs = rng.spawn(3)

    def step(text: str) -> None:
        on_status(f"{dataset}: {text}")

    step("reading the sentences")
    statistics = dataset_statistics(annotations_by_split, reader)
    union = _union(annotations_by_split)
    surveys = _survey_splits(_parts(annotations_by_split, union), reader, of_splits, draws, step)
    splits, whole = surveys[: len(annotations_by_split)], surveys[-1]
    pairs = []
    split_pairs = _pairs(splits)
    for (a, b), child in zip(split_pairs, of_pairs.spawn(len(split_pairs)), strict=True):
        step(f"distance between {a.name} and {b.name}")
        pairs.append(SplitPair(a.name, b.name, _distance(a, b, child, permutations)))
    step("verbs")
    use = verb_use({split.name: split.verbs for split in splits}, top_verbs)
    information = _information(whole, of_verbs, draws)
    step("order of sentences")
    order = orders_of_splits(annotations_by_split)
    step("words")
    return Survey(
        dataset=dataset,
        title=title or dataset,
        splits=tuple(splits),
        whole=whole,
        pairs=tuple(pairs),
        verb_use=SurveyPart(use) if any(use.counts.values()) else SurveyPart(None, "no sentence has a verb"),
        information=information,
        statistics=statistics,
        tail=_tail(statistics),
        shared=_shared(statistics),
        uniqueness=_attempt(lambda: uniqueness(union.queries.video_id.tolist(), union.queries.sentence.tolist())),
        order=order,
        engine=reader.name,
        permutations=permutations,
        draws=draws,
        notes=tuple(notes),
    )


def _union(annotations_by_split: Mapping[str, Annotations]) -> Annotations:
    """Return all splits as one; a query that a split repeats of an earlier one is left out."""
    parts, _ = each_query_once(list(annotations_by_split.values()))
    renamed = [
        replace(
            split, query_id=np.array([f"{name}/{query_id}" for query_id in split.query_id], dtype=object), saliency=None
        )
        for name, split in zip(annotations_by_split, parts, strict=True)
    ]
    return Annotations.joined(renamed)


def _parts(annotations_by_split: Mapping[str, Annotations], union: Annotations) -> list[tuple[str, Annotations]]:
    """Return each split by name, and all together ("") if there are several."""
    parts = list(annotations_by_split.items())
    return [*parts, ("", union)] if len(parts) > 1 else parts


def _survey_splits(
    parts: Sequence[tuple[str, Annotations]],
    engine: Engine,
    rng: np.random.Generator,
    draws: int,
    step: Callable[[str], None],
) -> list[SplitSurvey]:
    """Survey each part; the constant of train is scored on later ones."""
    surveys: list[SplitSurvey] = []
    train: SurveyPart[ConstantBias] = SurveyPart(None, "there is no split train before this one")
    streams = rng.spawn(max(len(parts), 2))  # one for all splits together, even where there is only one
    for (name, split), child in zip(parts, streams, strict=False):
        step(f"locations of {name or 'all splits'}")
        verbs = verbs_of(split.queries.sentence, engine)
        surveys.append(_survey_of_split(name, split, verbs, train, child, draws=draws))
        if name == "train":
            train = surveys[-1].constant
    return surveys


def _survey_of_split(
    name: str,
    annotations: Annotations,
    verbs: Sequence[Sequence[str]],
    train: SurveyPart[ConstantBias],
    rng: np.random.Generator,
    *,
    draws: int,
) -> SplitSurvey:
    of_evenness, of_constant = rng.spawn(2)
    n_moments = int((~np.isnan(annotations.start_s)).sum())
    unknown = ~(annotations.queries.duration_s > 0)
    places = _locations(annotations)
    value = places.value
    spread: SurveyPart[Evenness] = SurveyPart(None, places.why)
    constant: SurveyPart[ConstantBias] = SurveyPart(None, places.why)
    if value is not None:
        spread = _attempt(lambda: evenness(value, of_evenness, draws=draws))
        constant = _attempt(lambda: constant_bias(value, of_constant, threshold=THRESHOLD, draws=draws))
    return SplitSurvey(
        name=name or "all",
        sha256=annotations.sha256 if name else "",
        n_queries=annotations.n_queries,
        n_videos=annotations.n_videos,
        n_moments=n_moments,
        n_without_moment=int(annotations.without_moment.sum()),
        n_unknown_duration=len(set(annotations.queries.video_id[unknown])),
        n_left_out=n_moments - (0 if value is None else len(value)),
        locations=places,
        longer=np.full(len(OVER), np.nan) if value is None else length_shares(value, OVER),
        evenness=spread,
        constant=constant,
        constant_of_train=_transferred(train, places),
        verbs=verbs,
    )


def _locations(annotations: Annotations) -> SurveyPart[Locations]:
    if annotations.without_moment.all():
        return SurveyPart(None, "no query has a moment")
    if not np.any(annotations.duration_s > 0):
        return SurveyPart(None, NO_DURATION)
    return _attempt(lambda: Locations.of(annotations), "no moment lies within its video")


def _attempt(find: Callable[[], T], why: str = "") -> SurveyPart[T]:
    """Return the result of a function, or the reason why it refuses its input."""
    try:
        return SurveyPart(find())
    except (InputError, UsageError) as error:
        return SurveyPart(None, why or str(error))


def _transferred(train: SurveyPart[ConstantBias], places: SurveyPart[Locations]) -> SurveyPart[float]:
    constant = train.value
    if constant is None or places.value is None:
        return SurveyPart(None, train.why or places.why)
    start, end = places.value.start_end_norm.T
    iou = temporal_iou(np.array(constant.start_norm), np.array(constant.end_norm), start, end)
    return SurveyPart(float(np.mean(iou > THRESHOLD + TIE)))


def _pairs(splits: Sequence[SplitSurvey]) -> list[tuple[SplitSurvey, SplitSurvey]]:
    """Return pairs of splits: train and each other split, and pairs of tests; without train, all pairs."""
    if not any(split.name == "train" for split in splits):
        return list(combinations(splits, 2))
    return [
        (a, b) if b.name != "train" else (b, a)
        for a, b in combinations(splits, 2)
        if "train" in (a.name, b.name) or (a.name.startswith("test") and b.name.startswith("test"))
    ]


def _distance(a: SplitSurvey, b: SplitSurvey, rng: np.random.Generator, permutations: int) -> SurveyPart[SplitDistance]:
    first, second = a.locations.value, b.locations.value
    if first is None or second is None:
        missing = a if first is None else b
        return SurveyPart(None, f"{missing.name}: {missing.locations.why}")
    return _attempt(lambda: split_distance(first, second, rng, permutations=permutations))


def _tail(statistics: DatasetStatistics) -> SurveyPart[LongTail]:
    words = statistics.whole.sentences.vocabulary
    return SurveyPart(long_tail(words)) if words.n_words else SurveyPart(None, "no sentence has a word")


def _information(whole: SplitSurvey, rng: np.random.Generator, draws: int) -> SurveyPart[VerbInformation]:
    places = whole.locations.value
    if places is None:
        return SurveyPart(None, whole.locations.why)
    if not any(whole.verbs):
        return SurveyPart(None, "no sentence has a verb")
    return _attempt(lambda: verb_information(whole.verbs, places, rng, permutations=draws))


def _shared(statistics: DatasetStatistics) -> tuple[SharedWords, ...]:
    words = {
        name: part.sentences.vocabulary
        for name, part in statistics.of_split.items()
        if part.sentences.vocabulary.n_words
    }
    if "train" not in words:
        return ()
    return tuple(
        SharedWords("train", name, overlap(words["train"], test)) for name, test in words.items() if name != "train"
    )
