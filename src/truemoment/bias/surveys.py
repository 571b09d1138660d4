"""Everything there is to say of a dataset before anybody looks at a video, in one record.

:func:`survey` asks the other modules of this folder, each part with draws of its own, so that a part more or less
changes no figure of the others. A part that does not apply says why and is no error: one split has no distance to
another, sentences without verbs tell nothing by verb.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Generic, TypeVar

import numpy as np

from truemoment.bias.distances import SplitDistance, split_distance
from truemoment.bias.grids import Grid
from truemoment.bias.information import VerbInformation, verb_information
from truemoment.bias.locations import Locations, length_shares
from truemoment.bias.spread import ConstantBias, Evenness, constant_bias, evenness
from truemoment.bias.statistics import DatasetStatistics, dataset_statistics
from truemoment.bias.uniqueness import Uniqueness, uniqueness
from truemoment.bias.verbs import VerbUse, verb_use
from truemoment.bias.vocabulary import LongTail, Overlap, long_tail, overlap
from truemoment.exceptions import InputError, UsageError
from truemoment.intervals import TIE, Floats, temporal_iou
from truemoment.language import verbs_of
from truemoment.language.base import Engine
from truemoment.language.remembered import Remembered
from truemoment.records import Annotations

OVER = (0.3, 0.5, 0.7)
"""Shares of the video whose longer moments are counted (Closer Look, Fig. 3)."""

THRESHOLD = 0.5
"""IoU above which a constant answer hits."""

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Part(Generic[T]):
    """A part of a survey, or why there is none.

    Parameters
    ----------
    value
        What was found; None if the part does not apply.
    why
        Why it does not; "" if it does.
    """

    value: T | None
    why: str = ""


@dataclass(frozen=True, eq=False)
class SplitSurvey:
    """Where the moments of a split lie.

    Parameters
    ----------
    name, sha256
        The split, and the hash of its annotations ("" for several together).
    n_queries, n_videos, n_moments
        As in the annotations; moments are their rows that name one.
    n_without_moment, n_unknown_duration, n_left_out
        Queries without a moment; videos of unknown duration; moments that have no place in their video (its duration
        is not known, or they are empty, swapped or outside).
    locations
        Places of the moments that have one.
    duration_s : (N,)
        Duration of the video of each place.
    longer : (3,)
        Share of the moments longer than each of :data:`OVER`; NaN without places.
    evenness, constant
        How unevenly moments are spread, and what one answer to all queries reaches.
    constant_of_train
        What the best constant of the split `train` reaches here, as a fraction.
    verbs
        Verbs of each query, in the order of the queries.
    """

    name: str
    sha256: str
    n_queries: int
    n_videos: int
    n_moments: int
    n_without_moment: int
    n_unknown_duration: int
    n_left_out: int
    locations: Part[Locations]
    duration_s: Floats
    longer: Floats
    evenness: Part[Evenness]
    constant: Part[ConstantBias]
    constant_of_train: Part[float]
    verbs: Sequence[Sequence[str]] = field(repr=False)

    @property
    def grid(self) -> Grid | None:
        """The grid that moments lie on and are held against; None if there is none, or nothing was held against it."""
        found = self.evenness.value or self.constant.value
        return None if found is None else found.grid

    @property
    def points(self) -> Floats:
        """Start and end of each place as shares of the video, (N, 2); none without places."""
        return np.zeros((0, 2)) if self.locations.value is None else self.locations.value.start_end_norm

    def of_verb(self, verb: str) -> Floats:
        """Places of the moments whose query has a verb, (M, 2)."""
        if self.locations.value is None:
            return np.zeros((0, 2))
        has = np.array([verb in verbs for verbs in self.verbs], dtype=bool)
        return np.asarray(self.points[has[self.locations.value.query]])


@dataclass(frozen=True, eq=False)
class Between:
    """How far two splits lie apart."""

    a: str
    b: str
    distance: Part[SplitDistance]


@dataclass(frozen=True, eq=False)
class SharedWords:
    """What two splits share of their words."""

    train: str
    test: str
    overlap: Overlap


@dataclass(frozen=True, eq=False)
class Survey:
    """All there is to say of a dataset.

    Parameters
    ----------
    dataset, title
        Its name, and what it is called.
    splits, whole
        Each split, and all together; a query that stands in several splits counts once there.
    between
        Distances of splits from each other.
    verb_use
        How often verbs occur.
    information
        What verbs tell about places, over all splits.
    statistics
        Durations, queries and words.
    tail
        How unevenly words are used.
    shared
        Words of train and of tests.
    uniqueness
        Sentences unlike all others of their video, by threshold.
    engine
        Name of what read the sentences.
    permutations, draws
        Of tests that permute, and of those that simulate.
    notes
        What a reader of the figures should know.
    """

    dataset: str
    title: str
    splits: tuple[SplitSurvey, ...]
    whole: SplitSurvey
    between: tuple[Between, ...]
    verb_use: Part[VerbUse]
    information: Part[VerbInformation]
    statistics: DatasetStatistics
    tail: Part[LongTail]
    shared: tuple[SharedWords, ...]
    uniqueness: Part[tuple[Uniqueness, ...]]
    engine: str
    permutations: int
    draws: int
    notes: tuple[str, ...] = ()

    def split(self, name: str) -> SplitSurvey | None:
        """A split by name; None if there is none."""
        return next((split for split in self.splits if split.name == name), None)

    @property
    def tested(self) -> SplitSurvey:
        """The split that conclusions are drawn on: the first of test-ood, test, test-iid, val; else the last one."""
        found = (self.split(name) for name in ("test-ood", "test", "test-iid", "val"))
        return next((split for split in found if split is not None), self.splits[-1])


def survey(
    annotations_by_split: Mapping[str, Annotations],
    rng: np.random.Generator,
    engine: Engine,
    *,
    title: str = "",
    permutations: int = 1000,
    draws: int = 200,
    n_verbs: int = 50,
    top_verbs: int = 30,
    notes: Sequence[str] = (),
    tell: Callable[[str], None] = lambda _: None,
) -> Survey:
    """Survey a dataset.

    Parameters
    ----------
    annotations_by_split
        Its splits by name, in the order of the report.
    rng
        Generator that the draws of each part are derived from; the same state gives the same survey.
    engine
        What finds words and verbs; each distinct sentence is read once.
    title
        What the dataset is called; its name by default.
    permutations
        Of the tests between splits.
    draws
        Simulated datasets, of the tests of one split and of verbs.
    n_verbs
        Frequent verbs whose places are compared.
    top_verbs
        Frequent verbs that are listed.
    notes
        What a reader should know; it is kept.
    tell
        Told what is being done.

    Returns
    -------
    Survey

    Raises
    ------
    UsageError
        If there is no split.

    Examples
    --------
    >>> import numpy as np
    >>> from truemoment.language import get_engine
    >>> from truemoment.worlds import make_world
    >>> found = survey(make_world(40, seed=0).splits, np.random.default_rng(0), get_engine(), permutations=20, draws=20)
    >>> [split.name for split in found.splits], found.tested.name
    (['train', 'val', 'test-iid', 'test-ood'], 'test-ood')
    """
    if not annotations_by_split:
        raise UsageError("a survey of no split, expected one or more")
    dataset = next(iter(annotations_by_split.values())).dataset
    reader = engine if isinstance(engine, Remembered) else Remembered(engine)
    of_splits, of_between, of_verbs = rng.spawn(3)

    tell(f"{dataset}: reading the sentences")
    statistics = dataset_statistics(annotations_by_split, reader)
    verbs_by_split = {name: verbs_of(split.queries.sentence, reader) for name, split in annotations_by_split.items()}
    together, verbs_together = _together(annotations_by_split, verbs_by_split)

    splits: list[SplitSurvey] = []
    train: Part[ConstantBias] = Part(None, "there is no split train before this one")
    named = {**annotations_by_split, "": together}
    for (name, split), own in zip(named.items(), of_splits.spawn(len(named)), strict=True):
        if name == "" and len(annotations_by_split) == 1:
            break
        tell(f"{dataset}: places of {name or 'all splits'}")
        verbs = verbs_by_split[name] if name else verbs_together
        splits.append(_survey_of_split(name, split, verbs, train, own, draws=draws))
        if name == "train":
            train = splits[-1].constant
    whole = splits.pop() if len(splits) > len(annotations_by_split) else splits[0]

    pairs = _pairs(splits)
    between = []
    for (a, b), own in zip(pairs, of_between.spawn(len(pairs)), strict=True):
        tell(f"{dataset}: {a.name} against {b.name}")
        between.append(Between(a.name, b.name, _distance(a, b, own, permutations)))

    tell(f"{dataset}: verbs")
    use = verb_use(verbs_by_split, top_verbs)
    has_verbs = any(counts for counts in use.counts.values())
    information = _information(whole, of_verbs, n_verbs, draws)
    tell(f"{dataset}: words")
    words = statistics.whole.sentences.vocabulary
    tell(f"{dataset}: sentences like others of their video")
    return Survey(
        dataset=dataset,
        title=title or dataset,
        splits=tuple(splits),
        whole=whole,
        between=tuple(between),
        verb_use=Part(use) if has_verbs else Part(None, "no sentence has a verb"),
        information=information,
        statistics=statistics,
        tail=Part(long_tail(words)) if words.n_words else Part(None, "no sentence has a word"),
        shared=_shared(statistics, [split.name for split in splits]),
        uniqueness=_unique(together),
        engine=reader.name,
        permutations=permutations,
        draws=draws,
        notes=tuple(notes),
    )


def _together(
    annotations_by_split: Mapping[str, Annotations], verbs_by_split: Mapping[str, Sequence[Sequence[str]]]
) -> tuple[Annotations, list[Sequence[str]]]:
    """All splits as one, with the verbs of its queries; a query that an earlier split has is left out."""
    seen: set[tuple[str, str, str]] = set()
    parts, verbs = [], []
    for name, split in annotations_by_split.items():
        of = split.queries
        keys = list(zip(of.query_id, of.video_id, of.sentence, strict=True))
        new = np.array([key not in seen for key in keys], dtype=bool)
        seen.update(keys)
        parts.append((name, split if new.all() else split.select_queries(new)))
        verbs += [own for own, is_new in zip(verbs_by_split[name], new.tolist(), strict=True) if is_new]
    ids = np.array([f"{name}/{query_id}" for name, split in parts for query_id in split.query_id], dtype=object)

    def column(of: str) -> Any:  # noqa: ANN401 - text or numbers
        return np.concatenate([getattr(split, of) for _, split in parts])

    together = Annotations(
        query_id=ids,
        video_id=column("video_id"),
        duration_s=column("duration_s"),
        sentence=column("sentence"),
        start_s=column("start_s"),
        end_s=column("end_s"),
        annotator=column("annotator"),
        dataset=parts[0][1].dataset,
    )
    return together, verbs


def _survey_of_split(
    name: str,
    annotations: Annotations,
    verbs: Sequence[Sequence[str]],
    train: Part[ConstantBias],
    rng: np.random.Generator,
    *,
    draws: int,
) -> SplitSurvey:
    of_evenness, of_constant = rng.spawn(2)
    named = ~np.isnan(annotations.start_s)
    unknown = ~(annotations.queries.duration_s > 0)
    places = _locations(annotations)
    value = places.value
    even: Part[Evenness] = Part(None, places.why)
    constant: Part[ConstantBias] = Part(None, places.why)
    if value is not None:
        even = _attempt(lambda: evenness(value, of_evenness, draws=draws))
        constant = _attempt(lambda: constant_bias(value, of_constant, threshold=THRESHOLD, draws=draws))
    return SplitSurvey(
        name=name or "all",
        sha256=annotations.sha256 if name else "",
        n_queries=annotations.n_queries,
        n_videos=annotations.n_videos,
        n_moments=int(named.sum()),
        n_without_moment=int(annotations.without_moment.sum()),
        n_unknown_duration=len(set(annotations.queries.video_id[unknown])),
        n_left_out=int(named.sum()) - (0 if value is None else len(value.row)),
        locations=places,
        duration_s=np.zeros(0) if value is None else annotations.duration_s[value.row],
        longer=np.full(len(OVER), np.nan) if value is None else length_shares(value, OVER),
        evenness=even,
        constant=constant,
        constant_of_train=_transferred(train, places),
        verbs=verbs,
    )


def _locations(annotations: Annotations) -> Part[Locations]:
    if annotations.without_moment.all():
        return Part(None, "no query has a moment")
    if not np.any(annotations.duration_s > 0):
        return Part(None, "no video's duration is known")
    return _attempt(lambda: Locations.of(annotations), "no moment lies within its video")


def _attempt(find: Callable[[], T], why: str = "") -> Part[T]:
    """What a function finds, or why it refuses its input."""
    try:
        return Part(find())
    except (InputError, UsageError) as error:
        return Part(None, why or str(error))


def _transferred(train: Part[ConstantBias], places: Part[Locations]) -> Part[float]:
    constant = train.value
    if constant is None:
        return Part(None, train.why)
    if places.value is None:
        return Part(None, places.why)
    start, end = places.value.start_end_norm.T
    overlap = temporal_iou(np.array(constant.start_norm), np.array(constant.end_norm), start, end)
    return Part(float(np.mean(overlap > THRESHOLD + TIE)))


def _pairs(splits: Sequence[SplitSurvey]) -> list[tuple[SplitSurvey, SplitSurvey]]:
    """Pairs of splits that are compared: train and each other, and the tests; without train each and each."""
    if not any(split.name == "train" for split in splits):
        return list(combinations(splits, 2))
    return [
        (a, b) if b.name != "train" else (b, a)
        for a, b in combinations(splits, 2)
        if "train" in (a.name, b.name) or (a.name.startswith("test") and b.name.startswith("test"))
    ]


def _distance(a: SplitSurvey, b: SplitSurvey, rng: np.random.Generator, permutations: int) -> Part[SplitDistance]:
    if a.locations.value is None or b.locations.value is None:
        lacking = a if a.locations.value is None else b
        return Part(None, f"{lacking.name}: {lacking.locations.why}")
    one, other = a.locations.value, b.locations.value
    return _attempt(lambda: split_distance(one, other, rng, permutations=permutations))


def _information(whole: SplitSurvey, rng: np.random.Generator, n_verbs: int, draws: int) -> Part[VerbInformation]:
    places = whole.locations.value
    if places is None:
        return Part(None, whole.locations.why)
    if not any(whole.verbs):
        return Part(None, "no sentence has a verb")
    return _attempt(lambda: verb_information(whole.verbs, places, rng, n_verbs=n_verbs, permutations=draws))


def _shared(statistics: DatasetStatistics, names: Sequence[str]) -> tuple[SharedWords, ...]:
    if "train" not in names:
        return ()
    words = {name: statistics.of_split[name].sentences.vocabulary for name in names}
    return tuple(
        SharedWords("train", name, overlap(words["train"], words[name]))
        for name in names
        if name != "train" and words[name].n_words and words["train"].n_words
    )


def _unique(together: Annotations) -> Part[tuple[Uniqueness, ...]]:
    return _attempt(lambda: tuple(uniqueness(together)))
