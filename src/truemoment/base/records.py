"""The three records: Annotations, Queries, Predictions.

They are columnar, frozen and checked when made (arrays are not copied: do not change them afterwards). All times are
seconds as float64. Readers keep times as in the file; only a protocol changes them.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import msgspec
import numpy as np
import numpy.typing as npt

from truemoment.base.errors import InputError
from truemoment.base.intervals import Bools, Floats, Ints

Strings = npt.NDArray[np.object_]

MAX_TIME_S = 1e8
"""No video is three years long: a later time is a mistake, of unit perhaps."""

Seconds = Annotated[float, msgspec.Meta(ge=-MAX_TIME_S, le=MAX_TIME_S)]
"""A time or duration as files have it; where one is read from JSON, an error names its file, line and field."""

Status = Literal["parsed", "no answer", "refused", "ambiguous", "failed"]
"""How an answer in words was understood.

``parsed``: moments were read. ``no answer``: there is no such moment, according to it. ``refused``: the model declines
to answer. ``ambiguous``: it can be read in more than one way, or it has only half of a moment. ``failed``: nothing
that could be a moment is found.
"""
STATUSES: tuple[Status, ...] = get_args(Status)
UNREADABLE_STATUSES: tuple[Status, ...] = ("refused", "ambiguous", "failed")

MAX_RATING = 4
"""The best rating of a clip in QVHighlights: very good."""


def as_strings(values: Iterable[object], name: str) -> Strings:
    """Return a read-only column (N,) of Python strings; other values are refused, with the column's name."""
    items = list(values)
    if set(map(type, items)) - {str}:
        wrong = next((i for i, item in enumerate(items) if not isinstance(item, str)), None)
        if wrong is not None:
            raise InputError(f"got {items[wrong]!r} in row {wrong}, expected text", field=name)
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype == object and not values.flags.writeable:
        return values
    column = np.empty(len(items), dtype=object)
    column[:] = items
    column.flags.writeable = False
    return column


def _as_times(values: npt.ArrayLike, name: str, n_rows: int) -> Floats:
    column = np.asarray(values)
    if column.dtype.kind == "O" and all(isinstance(value, numbers.Real) for value in column.ravel()):
        column = column.astype(np.float64)
    if column.dtype.kind not in "iuf":
        raise InputError("got something that is no number, expected seconds", field=name)
    column = column.astype(np.float64, copy=False).view()
    if column.shape != (n_rows,):
        raise InputError(f"got shape {column.shape}, expected ({n_rows},)", field=name)
    column.flags.writeable = False
    return column


def _as_offsets(values: npt.ArrayLike, name: str, n_lists: int, n_items: int) -> Ints:
    column = np.asarray(values)
    whole = column.dtype.kind in "iu" and column.shape == (n_lists + 1,)
    if not whole or column[0] != 0 or column[-1] != n_items or np.any(np.diff(column.astype(np.int64)) < 0):
        raise InputError(
            f"expected {n_lists + 1} rising positions from 0 to {n_items}, got shape {column.shape}", field=name
        )
    column = column.astype(np.int64, copy=False).view()
    column.flags.writeable = False
    return column


def within(column: Floats, low: float, high: float) -> bool:
    """Whether all numbers lie from `low` to `high`; NaN does not."""
    return len(column) == 0 or bool(np.min(column) >= low and np.max(column) <= high)


def _first_repeated(ids: Strings) -> str | None:
    if len(set(ids)) == len(ids):
        return None
    seen: set[str] = set()
    for item in ids:
        if item in seen:
            return str(item)
        seen.add(item)
    return None


def numbers_of(names: Iterable[str]) -> Ints:
    """Return the number of each name in order of first occurrence, from 0.

    Examples
    --------
    >>> numbers_of(["v", "w", "v"]).tolist()
    [0, 1, 0]
    """
    names = list(names)
    number = {name: at for at, name in enumerate(dict.fromkeys(names))}
    return np.fromiter(map(number.__getitem__, names), np.int64, len(names))


@dataclass(frozen=True, eq=False)
class Queries:
    """Input of a method on a test split: a row per query, and no moments.

    Parameters
    ----------
    query_id : (Q,) text, unique
    video_id : (Q,) text
    duration_s : (Q,) seconds; NaN where unknown
    sentence : (Q,) text, as in the file

    Raises
    ------
    InputError
        If columns differ in length or have the wrong type, or a query id is repeated.
    """

    query_id: Strings
    video_id: Strings
    duration_s: Floats
    sentence: Strings

    def __post_init__(self) -> None:
        """Check all columns and freeze them."""
        set_column = functools.partial(object.__setattr__, self)
        set_column("query_id", as_strings(self.query_id, "query_id"))
        set_column("video_id", as_strings(self.video_id, "video_id"))
        set_column("sentence", as_strings(self.sentence, "sentence"))
        n_queries = len(self.query_id)
        set_column("duration_s", _as_times(self.duration_s, "duration_s", n_queries))
        if not len(self.video_id) == len(self.sentence) == n_queries:
            raise InputError("expected columns of one length", field="Queries")
        repeated = _first_repeated(self.query_id)
        if repeated is not None:
            raise InputError(f"{repeated!r} appears twice, expected each query once", field="query_id")

    def __repr__(self) -> str:
        return f"<Queries: {len(self):,} queries, {len(set(self.video_id.tolist())):,} videos>"

    @property
    def video_duration_s(self) -> dict[str, float]:
        """Duration of each video in seconds, in the order of their first queries."""
        return dict(zip(self.video_id.tolist(), self.duration_s.tolist(), strict=True))

    def select(self, rows: Ints) -> Queries:
        """Return the queries at some rows, in that order."""
        return Queries(self.query_id[rows], self.video_id[rows], self.duration_s[rows], self.sentence[rows])

    def first(self, count: int | None) -> Queries:
        """Return the first queries; all of them for None."""
        return Queries(self.query_id[:count], self.video_id[:count], self.duration_s[:count], self.sentence[:count])

    def order_by_hash(self) -> Ints:
        """Return the rows by the SHA-256 of their query ids, (Q,): an order in which nobody picks examples."""
        digests = [hashlib.sha256(query_id.encode("utf-8", "surrogatepass")).digest() for query_id in self.query_id]
        return np.array(sorted(range(len(digests)), key=digests.__getitem__), dtype=np.int64)

    def __len__(self) -> int:
        return len(self.query_id)

    @functools.cached_property
    def index(self) -> dict[str, int]:
        """Row of each query id."""
        return {query_id: row for row, query_id in enumerate(self.query_id)}


@dataclass(frozen=True, eq=False)
class Saliency:
    """Ratings of single clips of a video, as in QVHighlights; clips not listed rate 0.

    Parameters
    ----------
    offsets : (Q + 1,)
        The clips of query q are rows ``offsets[q]:offsets[q + 1]``.
    clip : (C,) clip numbers from 0
    rating : (C, A) whole numbers 0 (very bad) to 4 (very good), one column per annotator
    clip_length_s : seconds per clip
    """

    offsets: Ints
    clip: Ints
    rating: Ints
    clip_length_s: float

    def __post_init__(self) -> None:
        """Check shapes and freeze the columns."""
        clip, rating = np.array(self.clip), np.array(self.rating)
        if (clip.size and clip.dtype.kind not in "iu") or (rating.size and rating.dtype.kind not in "iu"):
            raise InputError("got something else, expected whole numbers", field="saliency")
        offsets = _as_offsets(self.offsets, "saliency offsets", len(np.asarray(self.offsets)) - 1, len(clip))
        if rating.ndim != 2 or len(rating) != len(clip):
            raise InputError(f"got shape {rating.shape}, expected ({len(clip)}, annotators)", field="saliency")
        if np.any(clip < 0):
            raise InputError("got a negative clip number, expected 0 or more", field="saliency")
        if np.any((rating < 0) | (rating > MAX_RATING)):
            wrong = rating[(rating < 0) | (rating > MAX_RATING)][0]
            raise InputError(f"got rating {wrong}, expected 0 to {MAX_RATING}", field="saliency")
        for name, column in (("offsets", offsets), ("clip", clip), ("rating", rating)):
            whole = column.astype(np.int64)
            whole.flags.writeable = False
            object.__setattr__(self, name, whole)


@dataclass(frozen=True, eq=False)
class Annotations:
    """The reference moments of a split: one row per reference moment.

    The rows of one query are adjacent; they are several moments, or several annotators (named by `annotator`). A query
    without a moment in its video is one row with NaN as start and end. Times are as in the file, faults included.

    Parameters
    ----------
    query_id, video_id, sentence, annotator : (N,) text
        `annotator` is "" where the file names none.
    duration_s, start_s, end_s : (N,) seconds
        Within 1e8 s of 0 (three years), negative ones included; `duration_s` is NaN where unknown, `start_s` and
        `end_s` where there is no moment.
    dataset, split
        Source of the rows, for signatures and messages.
    saliency
        Optional clip ratings, one list per query.

    Raises
    ------
    InputError
        If columns differ in length or type, a time is out of range, the rows of a query are not adjacent or disagree on
        video, sentence or duration, or `saliency` has not one list per query.

    Examples
    --------
    >>> a = Annotations.from_rows([("v#0", "v", 30.0, "a door opens", 2.0, 5.0)])
    >>> a
    <Annotations of own/all: 1 queries, 1 videos, 1 reference moments>
    >>> len(a), a.n_queries, a.queries.sentence[0]
    (1, 1, 'a door opens')
    >>> nan = float("nan")
    >>> Annotations.from_rows([("v#1", "v", 30.0, "a dog barks", nan, nan)]).without_moment
    array([ True])
    """

    query_id: Strings
    video_id: Strings
    duration_s: Floats
    sentence: Strings
    start_s: Floats
    end_s: Floats
    annotator: Strings
    dataset: str = "own"
    split: str = "all"
    saliency: Saliency | None = None

    def __post_init__(self) -> None:
        """Check all columns and freeze them."""
        for name in ("query_id", "video_id", "sentence", "annotator"):
            object.__setattr__(self, name, as_strings(getattr(self, name), name))
        n_rows = len(self.query_id)
        for name in ("duration_s", "start_s", "end_s"):
            object.__setattr__(self, name, _as_times(getattr(self, name), name, n_rows))
        if not len(self.video_id) == len(self.sentence) == len(self.annotator) == n_rows:
            raise InputError("expected columns of one length", field="Annotations")
        for name in ("start_s", "end_s", "duration_s"):
            column = getattr(self, name)
            good = np.abs(column) <= MAX_TIME_S
            good |= np.isnan(column) if name == "duration_s" else self._without_times
            if not good.all():
                row = int(np.flatnonzero(~good)[0])
                raise InputError(
                    f"got {column[row]:.10g} for query {self.query_id[row]!r}, expected seconds up to {MAX_TIME_S:g}",
                    field=name,
                )
        heads = self.offsets[:-1]
        repeated = _first_repeated(self.query_id[heads])
        if repeated is not None:
            raise InputError(f"rows of query {repeated!r} are scattered, expected them together", field="query_id")
        head_of_row = np.repeat(heads, np.diff(self.offsets))
        beside = self._without_times & (np.diff(self.offsets) > 1).repeat(np.diff(self.offsets))
        if beside.any():
            row = int(np.flatnonzero(beside)[0])
            raise InputError(
                f"got a row without a moment beside others for query {self.query_id[row]!r}, expected it alone",
                field="start_s",
            )
        for name in ("video_id", "sentence", "duration_s"):
            column = getattr(self, name)
            differs = column != column[head_of_row]
            if name == "duration_s":
                differs &= ~(np.isnan(column) & np.isnan(column[head_of_row]))
            if np.any(differs):
                row = int(np.flatnonzero(differs)[0])
                raise InputError(f"rows of query {self.query_id[row]!r} disagree", field=name)
        if self.saliency is not None and len(self.saliency.offsets) != self.n_queries + 1:
            raise InputError(f"expected a list for each of {self.n_queries} queries", field="saliency")

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[Any]], *, dataset: str = "own", split: str = "all") -> Annotations:
        """Make annotations from rows (query_id, video_id, duration_s, sentence, start_s, end_s[, annotator])."""
        table = list(rows)
        widths = set(map(len, table))
        if not widths <= {6, 7}:
            raise InputError(f"got a row of {min(widths - {6, 7})} values, expected 6 or 7", field="rows")
        if len(widths) > 1:
            table = [(*row, "")[:7] for row in table]
        columns = list(zip(*table, strict=True)) or [()] * 6
        if len(columns) == 6:
            columns.append(("",) * len(table))
        query_id, video_id, duration_s, sentence, start_s, end_s, annotator = columns
        return cls(
            as_strings(query_id, "query_id"),
            as_strings(video_id, "video_id"),
            np.array(duration_s),
            as_strings(sentence, "sentence"),
            np.array(start_s),
            np.array(end_s),
            as_strings(annotator, "annotator"),
            dataset,
            split,
        )

    def __repr__(self) -> str:
        counts = f"{self.n_queries:,} queries, {self.n_videos:,} videos, {len(self):,} reference moments"
        return f"<Annotations of {self.dataset}/{self.split}: {counts}>"

    def __len__(self) -> int:
        return len(self.query_id)

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.offsets) - 1

    @functools.cached_property
    def offsets(self) -> Ints:
        """The rows of query q are ``offsets[q]:offsets[q + 1]``, shape (Q + 1,)."""
        if len(self.query_id) == 0:
            return np.zeros(1, dtype=np.int64)
        new = np.flatnonzero(self.query_id[1:] != self.query_id[:-1]) + 1
        return np.concatenate([[0], new, [len(self.query_id)]]).astype(np.int64)

    @property
    def query_of_row(self) -> Ints:
        """Number of the query of each row, shape (N,)."""
        return np.repeat(np.arange(self.n_queries), np.diff(self.offsets))

    @property
    def _without_times(self) -> Bools:
        """Which rows have no moment, shape (N,)."""
        return np.isnan(self.start_s) & np.isnan(self.end_s)

    @functools.cached_property
    def without_moment(self) -> Bools:
        """Which queries have no reference moment, (Q,)."""
        return np.asarray(self._without_times[self.offsets[:-1]])

    def with_moments(self) -> Annotations:
        """Return the queries that have a reference moment, in order."""
        return self.select_queries(~self.without_moment) if self.without_moment.any() else self

    @functools.cached_property
    def queries(self) -> Queries:
        """The queries without their moments, in file order."""
        heads = self.offsets[:-1]
        return Queries(self.query_id[heads], self.video_id[heads], self.duration_s[heads], self.sentence[heads])

    @property
    def n_videos(self) -> int:
        """Number of distinct videos."""
        return len(set(self.video_id))

    @functools.cached_property
    def sha256(self) -> str:
        """Hash of all columns, independent of the file."""
        digest = hashlib.sha256()
        for text_column in (self.query_id, self.video_id, self.sentence, self.annotator):
            digest.update(json.dumps(text_column.tolist()).encode())
        start_s, end_s = (np.where(np.isnan(times), np.nan, times) for times in (self.start_s, self.end_s))  # one NaN
        for time_column in (self.duration_s, start_s, end_s):
            digest.update(time_column.astype("<f8").tobytes())
        if self.saliency is not None:
            digest.update(str(float(self.saliency.clip_length_s)).encode())
            for column in (self.saliency.offsets, self.saliency.clip, self.saliency.rating):
                digest.update(column.astype("<i8").tobytes())
        return digest.hexdigest()

    def select_queries(self, keep: Bools) -> Annotations:
        """Return the rows of the queries marked True, in order; `keep` has shape (Q,)."""
        return self.select_rows(np.repeat(keep, np.diff(self.offsets)))

    def select_rows(self, rows: Bools | Ints) -> Annotations:
        """Return some rows; clip ratings of the remaining queries are kept.

        Parameters
        ----------
        rows
            A mask of shape (N,), or positions in the new order, those of a query adjacent.

        Examples
        --------
        >>> moments = [("v#0", 2.0, "ann"), ("v#0", 3.0, "bob"), ("v#1", 7.0, "ann")]
        >>> a = Annotations.from_rows([(q, "v", 30.0, f"sentence {q}", s, 9.0, name) for q, s, name in moments])
        >>> a.select_rows(a.annotator == "ann").start_s.tolist()
        [2.0, 7.0]
        """
        rows = np.arange(len(self))[rows]
        columns = {name: getattr(self, name)[rows] for name in _ANNOTATION_COLUMNS}
        saliency = self.saliency
        if saliency is not None:
            query = np.searchsorted(self.offsets, rows, side="right") - 1
            lists = query[np.append(True, query[1:] != query[:-1])[: len(query)]]
            offsets = np.concatenate([[0], np.cumsum(np.diff(saliency.offsets)[lists])])
            clips = positions_in_lists(saliency.offsets, lists)
            saliency = Saliency(offsets, saliency.clip[clips], saliency.rating[clips], saliency.clip_length_s)
        return dataclasses.replace(self, **columns, saliency=saliency)

    def in_order(self, query_ids: Iterable[str]) -> Annotations:
        """Return all rows of some queries, in this order.

        Examples
        --------
        >>> a = Annotations.from_rows([(f"v#{q}", "v", 30.0, f"sentence {q}", 2.0, 9.0) for q in range(3)])
        >>> a.in_order(["v#2", "v#0"]).query_id.tolist()
        ['v#2', 'v#0']
        """
        ids, index = as_strings(query_ids, "query_id"), self.queries.index
        unknown = next((query_id for query_id in ids if query_id not in index), None)
        if unknown is not None:
            raise InputError(f"{self.dataset}/{self.split} has no query {unknown!r}", field="query_id")
        repeated = _first_repeated(ids)
        if repeated is not None:
            raise InputError(f"{repeated!r} appears twice, expected each query once", field="query_id")
        query = np.array([index[query_id] for query_id in ids], dtype=np.int64)
        return self.select_rows(positions_in_lists(self.offsets, query))

    @classmethod
    def joined(cls, parts: Sequence[Annotations], *, split: str = "all") -> Annotations:
        """Return several splits of a dataset as one; clip ratings are kept if all parts have the same form.

        Examples
        --------
        >>> first = Annotations.from_rows([("v#0", "v", 30.0, "a door opens", 2.0, 5.0)], split="train")
        >>> second = Annotations.from_rows([("w#0", "w", 20.0, "a dog barks", 0.0, 5.0)], split="test")
        >>> Annotations.joined([first, second]).query_id.tolist()
        ['v#0', 'w#0']
        """
        if not parts:
            raise InputError("got no annotations to join, expected one or more")
        seen: dict[str, Annotations] = {}
        for part in parts:
            for query_id in part.queries.query_id:
                if query_id in seen:
                    both = f"{seen[query_id].split} and {part.split}"
                    raise InputError(f"{query_id!r} is in {both}, expected it in one", field="query_id")
                seen[query_id] = part
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _ANNOTATION_COLUMNS}
        return cls(**columns, dataset=parts[0].dataset, split=split, saliency=_joined_saliency(parts))


def _joined_saliency(parts: Sequence[Annotations]) -> Saliency | None:
    """Clip ratings of all parts; None if one has none, or they differ in annotators or length of a clip."""
    saliency = [part.saliency for part in parts if part.saliency is not None]
    if len(saliency) < len(parts) or len({(part.rating.shape[1], part.clip_length_s) for part in saliency}) > 1:
        return None
    lengths = np.concatenate([np.diff(part.offsets) for part in saliency])
    clip, rating = (
        np.concatenate(columns) for columns in zip(*((part.clip, part.rating) for part in saliency), strict=True)
    )
    return Saliency(np.concatenate([[0], np.cumsum(lengths)]), clip, rating, saliency[0].clip_length_s)


def positions_in_lists(offsets: Ints, lists: Ints) -> Ints:
    """Return the positions of the items of some ragged lists, list after list.

    Examples
    --------
    >>> positions_in_lists(np.array([0, 2, 2, 5]), np.array([2, 0])).tolist()
    [2, 3, 4, 0, 1]
    """
    lengths = np.diff(offsets)[lists]
    shift = offsets[:-1][lists] - (np.cumsum(lengths) - lengths)
    return np.asarray(np.repeat(shift, lengths) + np.arange(lengths.sum()), dtype=np.int64)


_ANNOTATION_COLUMNS = ("query_id", "video_id", "duration_s", "sentence", "start_s", "end_s", "annotator")


def fault_of_statuses(statuses: Iterable[str], lengths: Ints) -> tuple[int, str] | None:
    """Return the first row whose status is unknown or contradicts its list, and what is wrong; or None."""
    for row, (status, length) in enumerate(zip(statuses, lengths.tolist(), strict=True)):
        if status not in STATUSES or (status == "parsed") != (length > 0):
            expected = f"parsed with moments, or one of {', '.join(STATUSES[1:])} without"
            return row, f"got {status!r} with {length} moments, expected {expected}"
    return None


@dataclass(frozen=True, eq=False)
class Predictions:
    """Ranked answers: per query a list of moments (start_s, end_s, score), stored flat.

    Lists keep the order of their file. :meth:`ranked_by_score` sorts them, ties in file order; the protocol decides
    which order is the rank. An empty list is an abstention. A moment whose end is not after its start overlaps nothing,
    and is counted by reports.

    Parameters
    ----------
    query_id : (Q,) text, unique
    offsets : (Q + 1,)
        The moments of query q are rows ``offsets[q]:offsets[q + 1]``.
    start_s, end_s : (M,) float64
        Seconds from 0 to 1e8 (three years).
    score : (M,) float64
        Finite; higher is better.
    name
        Name of the method or file in reports.
    saliency_offsets, saliency : optional, (Q + 1,) and (S,)
        A predicted rating for each clip of the video, in order; finite, higher is better.
    status : optional, (Q,) text
        How each answer in words was understood, one of :data:`STATUSES`; None for moments given as numbers.
    scored
        Whether scores were given; if not, they fall by 1 from 0 in the order of each list.

    Raises
    ------
    InputError
        If a time is not within 0 to 1e8 s, a score or rating is not finite, a query id is repeated, a status
        contradicts its list, or columns do not fit.

    Examples
    --------
    >>> p = Predictions.from_lists({"v#0": [(2.0, 5.0, 0.4), (0.0, 9.0, 0.9)]})
    >>> p.ranked_by_score().start_s.tolist()
    [0.0, 2.0]
    """

    query_id: Strings
    offsets: Ints
    start_s: Floats
    end_s: Floats
    score: Floats
    name: str = "predictions"
    saliency_offsets: Ints | None = None
    saliency: Floats | None = None
    status: Strings | None = None
    scored: bool = True

    def __post_init__(self) -> None:
        """Check all columns and freeze them."""
        object.__setattr__(self, "query_id", as_strings(self.query_id, "query_id"))
        repeated = _first_repeated(self.query_id)
        if repeated is not None:
            raise InputError(f"{repeated!r} appears twice, expected each query once", field="query_id")
        n_moments = len(np.asarray(self.start_s))
        for name in ("start_s", "end_s", "score"):
            object.__setattr__(self, name, _as_times(getattr(self, name), name, n_moments))
        offsets = _as_offsets(self.offsets, "offsets", len(self.query_id), n_moments)
        object.__setattr__(self, "offsets", offsets)
        for name in ("start_s", "end_s"):
            column = getattr(self, name)
            if not within(column, 0.0, MAX_TIME_S):
                row = int(np.flatnonzero(~((column >= 0) & (column <= MAX_TIME_S)))[0])
                raise InputError(
                    f"got {column[row]:.10g} for query {self._owner(row)!r}, expected seconds from 0 to {MAX_TIME_S:g}",
                    field=name,
                )
        largest = np.finfo(np.float64).max
        if not within(self.score, -largest, largest):
            row = int(np.flatnonzero(~np.isfinite(self.score))[0])
            raise InputError(
                f"got {self.score[row]} for query {self._owner(row)!r}, expected a finite number", field="score"
            )
        if self.saliency is not None:
            saliency = np.array(self.saliency, dtype=np.float64)
            if self.saliency_offsets is None or not np.all(np.isfinite(saliency)):
                raise InputError("expected finite numbers with offsets", field="saliency")
            saliency.flags.writeable = False
            object.__setattr__(self, "saliency", saliency)
            offsets = _as_offsets(self.saliency_offsets, "saliency_offsets", len(self.query_id), len(saliency))
            object.__setattr__(self, "saliency_offsets", offsets)
        if self.status is not None:
            self._check_status(as_strings(self.status, "status"))

    def _check_status(self, status: Strings) -> None:
        """Refuse a status that is unknown or contradicts its list."""
        if len(status) != len(self.query_id):
            raise InputError(f"got {len(status)} values, expected {len(self.query_id)}", field="status")
        fault = fault_of_statuses(status, self.lengths)
        if fault is not None:
            row, problem = fault
            raise InputError(f"{problem} (query {self.query_id[row]!r})", field="status")
        object.__setattr__(self, "status", status)

    def _owner(self, row: int) -> str:
        return str(self.query_id[np.searchsorted(self.offsets, row, side="right") - 1])

    @classmethod
    def joined(cls, parts: Sequence[Predictions]) -> Predictions:
        """Return the lists of several predictions for different queries as one.

        Examples
        --------
        >>> first, second = (Predictions.from_lists({query_id: [(2.0, 5.0)]}) for query_id in ("v#0", "v#1"))
        >>> Predictions.joined([first, second]).query_id.tolist()
        ['v#0', 'v#1']
        """
        start_s, end_s, score = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("start_s", "end_s", "score")
        )
        offsets = np.concatenate([[0], np.cumsum(np.concatenate([part.lengths for part in parts]))])
        query_id = np.concatenate([part.query_id for part in parts])
        scored = any(part.scored for part in parts)
        return cls(query_id, offsets, start_s, end_s, score, name=parts[0].name, scored=scored)

    @classmethod
    def from_lists(cls, lists: dict[str, Sequence[Sequence[float]]], *, name: str = "predictions") -> Predictions:
        """Make predictions from {query_id: [(start_s, end_s[, score]), ...]}; without scores the order is the rank."""
        offsets = np.concatenate([[0], np.cumsum([len(moments) for moments in lists.values()])]).astype(np.int64)
        flat = [
            (*moment, -float(rank)) if len(moment) == 2 else tuple(moment)
            for moments in lists.values()
            for rank, moment in enumerate(moments)
        ]
        wrong = next((moment for moment in flat if len(moment) != 3), None)
        if wrong is not None:
            raise InputError(f"got {wrong!r}, expected (start_s, end_s, score)", field="moments")
        table = np.array(flat).reshape(-1, 3) if flat else np.zeros((0, 3))
        scored = any(len(moment) == 3 for moments in lists.values() for moment in moments) or not flat
        columns = table[:, 0], table[:, 1], table[:, 2]
        return cls(as_strings(lists, "query_id"), offsets, *columns, name, scored=scored)

    def __repr__(self) -> str:
        return f"<Predictions of {self.name}: {len(self):,} queries, {len(self.start_s):,} moments>"

    def __len__(self) -> int:
        return len(self.query_id)

    @functools.cached_property
    def sha256(self) -> str:
        """Hash of queries, moments and scores, independent of the file."""
        digest = hashlib.sha256(json.dumps(self.query_id.tolist()).encode())
        digest.update(self.offsets.astype("<i8").tobytes())
        for column in (self.start_s, self.end_s, self.score):
            digest.update(column.astype("<f8").tobytes())
        return digest.hexdigest()

    @property
    def lengths(self) -> Ints:
        """Number of moments per query, (Q,)."""
        return np.diff(self.offsets)

    @property
    def unreadable(self) -> Bools:
        """Which answers in words could not be read (refused, ambiguous or failed), (Q,)."""
        if self.status is None:
            return np.zeros(len(self), dtype=bool)
        return np.isin(self.status.astype(str), UNREADABLE_STATUSES)

    @property
    def abstains(self) -> Bools:
        """Which queries have an abstention, (Q,): an empty list that is not an unreadable answer."""
        return np.asarray((self.lengths == 0) & ~self.unreadable)

    @functools.cached_property
    def rises(self) -> Bools:
        """True where a moment's score exceeds the one before it in its list, shape (M,)."""
        higher = np.zeros(len(self.score), dtype=bool)
        np.greater(self.score[1:], self.score[:-1], out=higher[1:])
        higher[self.offsets[:-1][self.lengths > 0]] = False
        return higher

    def rows_of(self, query_ids: Iterable[str]) -> Ints:
        """Return the row of each query, -1 without predictions, (Q,)."""
        if isinstance(query_ids, np.ndarray) and np.array_equal(query_ids, self.query_id):
            return np.arange(len(query_ids), dtype=np.int64)
        row = {query_id: row for row, query_id in enumerate(self.query_id)}
        return np.array([row.get(query_id, -1) for query_id in query_ids], dtype=np.int64)

    def select_queries(self, keep: Bools) -> Predictions:
        """Return the answers to the queries marked True, in order; `keep` has shape (Q,)."""
        if keep.all():
            return self
        moments = np.repeat(keep, self.lengths)
        columns = {name: getattr(self, name)[moments] for name in ("start_s", "end_s", "score")}
        if self.saliency is not None and self.saliency_offsets is not None:
            clips = np.diff(self.saliency_offsets)
            columns["saliency"] = self.saliency[np.repeat(keep, clips)]
            columns["saliency_offsets"] = np.concatenate([[0], np.cumsum(clips[keep])])
        return dataclasses.replace(
            self,
            query_id=self.query_id[keep],
            offsets=np.concatenate([[0], np.cumsum(self.lengths[keep])]),
            status=None if self.status is None else self.status[keep],
            **columns,
        )

    def ranked_by_score(self) -> Predictions:
        """Return the same predictions, each list by falling score, ties in file order."""
        if not self.rises.any():
            return self
        owner = np.repeat(np.arange(len(self)), self.lengths)
        order = np.lexsort((-self.score, owner))  # stable, so ties keep the order of the file
        return dataclasses.replace(self, start_s=self.start_s[order], end_s=self.end_s[order], score=self.score[order])
