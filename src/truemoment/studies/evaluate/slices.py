"""Slices: the same measures on classes of queries, each with its count and interval.

In every family of classes, each query is in exactly one class. A query with several references is placed by its
representative one (largest mean IoU with the others, Hidden Challenges, section 6; the first if none overlap), as
annotated. A class has values above its lower bound and up to its upper bound; a value within 1e-9 of a bound is on it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import TIE, Bools, Floats, Ints
from truemoment.base.records import Annotations
from truemoment.data.datasets.faults import normalised_sentence
from truemoment.data.language.marks import MARKS
from truemoment.evaluation.references import pad, representative
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import bootstrap, interval95, ratio
from truemoment.studies.evaluate.first_answers import is_shared, numbered, same_moment

# Bounds of the classes; values above the last one are a class of their own.
LENGTH_BOUNDS_NORM = (0.0, 0.1, 0.2, 0.3, 0.5)
LENGTH_BOUNDS_S = (0.0, 5.0, 10.0, 30.0, 60.0)
POSITION_BOUNDS_NORM = (0.0, 0.2, 0.4, 0.6, 0.8)
WORD_BOUNDS = (0, 5, 8, 12, 20)

NO_MOMENT = "no moment"
"""Class of the queries that have no reference moment, in families that depend on the reference."""

N_VERBS = 15
"""Number of verbs with a class of their own."""

EXTRA = {"first verb": "verbs", "in train": "train_sentences"} | dict.fromkeys(MARKS, "marks")
"""Families that need more than the annotations, and the argument of :func:`membership` that provides it."""


@dataclass(frozen=True, eq=False)
class Membership:
    """A family of classes, and the class of each query.

    Parameters
    ----------
    family
        Property that divides the queries.
    labels
        Label of each class, in order; every class has a query.
    number : (Q,)
        The class of each query, a position in `labels`.
    """

    family: str
    labels: tuple[str, ...]
    number: Ints

    @property
    def masks(self) -> Bools:
        """Which queries are in each class, shape (C, Q); each query is in one."""
        return np.asarray(np.arange(len(self.labels))[:, None] == self.number)


@dataclass(frozen=True, eq=False)
class Slice:
    """The figures of one class of queries.

    Parameters
    ----------
    value : (M,)
        Figure of each measure of the scores, a fraction; NaN where it is undefined.
    ci95 : (M, 2)
        95 % intervals by resampling the videos of the whole split; NaN with fewer than 2 videos, or where a
        resample leaves the measure without weight.
    """

    family: str
    label: str
    n_queries: int
    n_videos: int
    value: Floats
    ci95: Floats


class ReferenceLengths(NamedTuple):
    """Length and place of each query's representative reference, as annotated.

    Parameters
    ----------
    length_s : (Q,)
        Seconds; NaN where the reference is empty or swapped, or there is none.
    length_norm : (Q,)
        Share of the video, more than 1 where it ends after the video; NaN also where the duration is not
        known.
    middle_norm : (Q,)
        Its middle as a share of the video, clipped to 0 to 1; NaN as above.
    """

    length_s: Floats
    length_norm: Floats
    middle_norm: Floats


def reference_lengths(annotations: Annotations) -> ReferenceLengths:
    """Return length and place of each query's representative reference."""
    start, end = (pad(annotations.offsets, column) for column in (annotations.start_s, annotations.end_s))
    selected = representative(start, end)[:, None]
    start_s, end_s = (np.take_along_axis(table, selected, axis=1)[:, 0] for table in (start, end))
    proper = end_s > start_s
    duration_s = np.where(annotations.queries.duration_s > 0, annotations.queries.duration_s, np.nan)
    return ReferenceLengths(
        np.where(proper, end_s - start_s, np.nan),
        np.where(proper, (end_s - start_s) / duration_s, np.nan),
        np.where(proper, np.clip((start_s + end_s) / 2 / duration_s, 0, 1), np.nan),
    )


def class_of(value: Floats, bounds: Sequence[float] | Floats) -> Ints:
    """Return the class of each value among rising bounds: class k is above ``bounds[k]``, up to ``bounds[k + 1]``.

    The first class contains its lower bound too; the last is above all bounds. A value within 1e-9 of a bound is on it.
    """
    number = np.searchsorted(np.asarray(bounds, dtype=np.float64)[1:] + TIE, value, side="left")
    return np.asarray(number, dtype=np.int64)


def membership(
    annotations: Annotations,
    *,
    families: Collection[str] | None = None,
    train_sentences: Iterable[str] | None = None,
    verbs: Sequence[str] | None = None,
    marks: Mapping[str, Bools] | None = None,
) -> list[Membership]:
    """Divide queries into classes, by one family after the other.

    =========================  ==========================================================================
    ``reference length``       share of the video
    ``reference length (s)``   seconds
    ``position``               fifth of the video in which the reference's middle lies
    ``video length``           quarter of the videos, by duration
    ``sentence length``        words between blanks
    ``references``             one, several or none
    ``shared moment``          whether another query of the video has the very same reference
    ``first verb``             the 15 most frequent and the rest; where `verbs` are given
    ``in train``               verbatim in the training set; where `train_sentences` are given
    ``temporal order``         whether the sentence orders events; this and the next three where `marks` are given
    ``negation``               whether it negates
    ``counting``               whether it counts things or times
    ``anaphora``               whether it refers to something outside the sentence
    =========================  ==========================================================================

    Parameters
    ----------
    annotations
        The queries.
    families
        Names of families, in the order of the table; by default all that can be computed.
    train_sentences
        Sentences of the training set. They are compared stripped, in lower case and without a last full stop.
    verbs : one a query
        First verb of each sentence, "" where it has none.
    marks
        Which sentences have each mark, (Q,), from :func:`truemoment.data.language.marks.marks_of`.

    Returns
    -------
    list of Membership
        Classes without a query are left out. Queries whose duration is not known, whose reference is empty or
        swapped, or that have none, are in a class ``unknown``, ``empty or swapped`` or ``no moment`` where that
        matters.

    Examples
    --------
    >>> a = Annotations.from_rows([("v#0", "v", 40.0, "a door opens", 10.0, 30.0)])
    >>> [m.labels for m in membership(a, families=["reference length", "position"])]
    [('30-50 %',), ('40-60 %',)]
    """
    lengths = reference_lengths(annotations)
    unknown, no_moment = ~(annotations.queries.duration_s > 0), annotations.without_moment
    percents = _ranges([100 * bound for bound in LENGTH_BOUNDS_NORM], "%")
    fifths = [f"{20 * k}-{20 * k + 20} %" for k in range(5)]
    classes = {
        "reference length": _by_reference(lengths.length_norm, LENGTH_BOUNDS_NORM, percents, unknown, no_moment),
        "reference length (s)": _by_reference(
            lengths.length_s, LENGTH_BOUNDS_S, _ranges(LENGTH_BOUNDS_S, "s"), np.zeros_like(unknown), no_moment
        ),
        "position": _by_reference(lengths.middle_norm, POSITION_BOUNDS_NORM, fifths, unknown, no_moment),
        "video length": _by_video_length(annotations, unknown),
        "sentence length": _by_words(annotations),
        "references": _or_none(np.diff(annotations.offsets) > 1, ("one", "several"), no_moment),
        "shared moment": _or_none(_shares_moment(annotations), ("of one query", "of several queries"), no_moment),
    }
    if verbs is not None:
        classes["first verb"] = _by_verb(annotations, verbs)
    if train_sentences is not None:
        known = set(map(normalised_sentence, train_sentences))
        verbatim = [normalised_sentence(sentence) in known for sentence in annotations.queries.sentence]
        classes["in train"] = _in_two(np.array(verbatim, dtype=bool), ("not in train", "verbatim in train"))
    for mark, mask in (marks or {}).items():
        classes[mark] = _in_two(mask, ("no", "yes"))
    names = set(classes) if families is None else set(families)
    for family in sorted(names - set(classes)):
        if family in EXTRA:
            raise UsageError(f"family {family!r} needs {EXTRA[family]}")
        raise UsageError(f"got family {family!r}, expected one of {', '.join(dict.fromkeys((*classes, *EXTRA)))}")
    members = []
    for family, (labels, number) in classes.items():
        if family in names:  # without empty classes
            numbers, renumbered = np.unique(number, return_inverse=True)
            member = renumbered.reshape(-1).astype(np.int64)
            members.append(Membership(family, tuple(labels[c] for c in numbers), member))
    return members


def check_same_queries(scores: Scores, annotations: Annotations) -> None:
    """Refuse scores that are not of the annotations' queries, in their order."""
    if scores.query_id.tolist() != annotations.queries.query_id.tolist():
        raise InputError(
            f"got scores of {len(scores):,} queries of {scores.dataset}/{scores.split}, expected scores of the "
            f"{annotations.n_queries:,} queries of {annotations.dataset}/{annotations.split}, in their order"
        )


def slices(
    scores: Scores,
    annotations: Annotations,
    rng: np.random.Generator,
    members: Sequence[Membership],
    *,
    resamples: int = 1000,
) -> list[Slice]:
    """Return the figures of every class of queries (:func:`membership`), with intervals.

    The videos of the whole split are resampled, the same draws for all classes, so the size of a class varies as it
    would in another sample of videos.

    Examples
    --------
    >>> from truemoment import Predictions
    >>> from truemoment.evaluation.evaluate import evaluate
    >>> rows = [("v#0", "v", 40.0, "a door opens", 10.0, 30.0), ("w#0", "w", 40.0, "he sits", 0.0, 4.0)]
    >>> a = Annotations.from_rows(rows)
    >>> scores = evaluate(a, Predictions.from_lists({"v#0": [(10.0, 20.0)], "w#0": [(9.0, 20.0)]}), "mIoU")
    >>> lengths = membership(a, families=["reference length"])
    >>> [(s.label, s.n_queries, s.value.tolist()) for s in slices(scores, a, np.random.default_rng(0), lengths)]
    [('0-10 %', 1, [0.0]), ('30-50 %', 1, [0.5])]
    """
    check_same_queries(scores, annotations)
    if not members:
        return []
    by_video = [_sums(scores, member) for member in members]
    tables = [np.concatenate([pair[part] for pair in by_video]) for part in (0, 1)]  # (S, M, V)
    n_slices, n_measures, n_videos = tables[0].shape
    videos = np.array(list(dict.fromkeys(scores.video_id)), dtype=object)
    of_slices = replace(
        scores,
        measures=scores.measures * n_slices,
        query_id=videos,
        video_id=videos,
        numerator=tables[0].reshape(-1, n_videos),
        weight=tables[1].reshape(-1, n_videos),
        on_threshold=np.tile(scores.on_threshold, n_slices),
    )
    intervals = interval95(bootstrap(of_slices, rng, resamples=resamples)).reshape(n_slices, n_measures, 2)
    total, weight = (table.sum(axis=2) for table in tables)
    value = ratio(total, weight)
    n_videos_of = np.concatenate([pair[2] for pair in by_video])
    intervals[n_videos_of < 2] = np.nan
    labels = [(member, c) for member in members for c in range(len(member.labels))]
    return [
        Slice(
            member.family,
            member.labels[c],
            int(np.count_nonzero(member.number == c)),
            int(n_videos_of[s]),
            value[s],
            intervals[s],
        )
        for s, (member, c) in enumerate(labels)
    ]


_Classes = tuple[Sequence[str], Ints]  # labels, and the class of each query


def _ranges(bounds: Sequence[float], unit: str) -> list[str]:
    """Write classes as "0-5 s", the last one as "over 60 s"."""
    return [f"{low:g}-{high:g} {unit}" for low, high in pairwise(bounds)] + [f"over {bounds[-1]:g} {unit}"]


def _by_reference(
    value: Floats, bounds: Sequence[float], labels: Sequence[str], unknown: Bools, no_moment: Bools
) -> _Classes:
    """Return classes by a value of the reference, which is NaN where the reference or the duration is invalid."""
    number = np.where(unknown, len(labels), class_of(value, bounds))
    number = np.where(np.isnan(value) & ~unknown, len(labels) + 1, number)
    return [*labels, "unknown", "empty or swapped", NO_MOMENT], np.where(no_moment, len(labels) + 2, number)


def _by_video_length(annotations: Annotations, unknown: Bools) -> _Classes:
    queries = annotations.queries
    of_video = dict(zip(queries.video_id[~unknown], queries.duration_s[~unknown].tolist(), strict=True))
    if not of_video:
        return ["unknown"], np.zeros(len(queries), dtype=np.int64)
    lengths = np.array(list(of_video.values()))
    low, high = math.floor(lengths.min() * 10) / 10, math.ceil(lengths.max() * 10) / 10
    bounds = np.unique([low, *np.quantile(lengths, (0.25, 0.5, 0.75)).round(1), high]).tolist()
    labels = [f"{start:.1f}-{end:.1f} s" for start, end in pairwise(bounds)] or [f"{low:.1f} s"]
    number = class_of(queries.duration_s, bounds[: len(labels)])
    return [*labels, "unknown"], np.where(unknown, len(labels), number)


def _by_words(annotations: Annotations) -> _Classes:
    words = np.array([len(sentence.split()) for sentence in annotations.queries.sentence], dtype=np.float64)
    labels = [f"{low + 1}-{high} words" for low, high in pairwise(WORD_BOUNDS)]
    labels = [f"up to {WORD_BOUNDS[1]} words", *labels[1:], f"over {WORD_BOUNDS[-1]} words"]
    return labels, class_of(words, WORD_BOUNDS)


def _by_verb(annotations: Annotations, verbs: Sequence[str]) -> _Classes:
    if len(verbs) != annotations.n_queries:
        raise InputError(f"got {len(verbs)} verbs, expected one for each of {annotations.n_queries} queries")
    counts = Counter(verb for verb in verbs if verb)
    frequent = sorted(counts, key=lambda verb: (-counts[verb], verb))[:N_VERBS]
    place = {verb: at for at, verb in enumerate(frequent)} | {"": len(frequent) + 1}
    number = np.array([place.get(verb, len(frequent)) for verb in verbs], dtype=np.int64)
    return [*frequent, "other verb", "no verb"], number


def _in_two(second: Bools, labels: tuple[str, str]) -> _Classes:
    return labels, second.astype(np.int64)


def _or_none(second: Bools, labels: tuple[str, str], no_moment: Bools) -> _Classes:
    return [*labels, NO_MOMENT], np.where(no_moment, 2, second.astype(np.int64))


def _shares_moment(annotations: Annotations) -> Bools:
    """Return which queries have the same reference as another query of their video, shape (Q,)."""
    has_moment = ~np.isnan(annotations.start_s)
    query = annotations.query_of_row[has_moment]
    moment = same_moment(
        numbered(annotations.video_id[has_moment]), annotations.start_s[has_moment], annotations.end_s[has_moment]
    )
    return np.bincount(query, is_shared(moment, query), annotations.n_queries) > 0


def _sums(scores: Scores, member: Membership) -> tuple[Floats, Floats, Ints]:
    """Return sums of numerators and of weights by class, measure and video, (C, M, V), and videos of a class, (C,)."""
    video = numbered(scores.video_id)
    n_classes, n_videos = len(member.labels), int(video.max(initial=-1)) + 1
    cell = member.number * n_videos + video

    def sums_of(table: Floats) -> Floats:
        columns = [np.bincount(cell, row, n_classes * n_videos).reshape(n_classes, n_videos) for row in table]
        return np.stack(columns, axis=1).astype(np.float64)

    counts = np.bincount(cell, minlength=n_classes * n_videos).reshape(n_classes, n_videos)
    return sums_of(scores.numerator), sums_of(scores.weight), np.count_nonzero(counts, axis=1).astype(np.int64)
