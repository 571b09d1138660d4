"""Rows of a prediction file before they are matched to queries.

A reader returns :class:`PredictionRows` (moments as numbers) or :class:`AnswerRows` (answers in words, which
:mod:`truemoment.data.answers` reads); a writer takes :class:`PredictionRows`.

To add a format: write one module in this folder with a struct of an entry, a function that makes a row of it, a writer
and a ``FORMAT``, and name it in ``data/formats/__init__.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Sized
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal, cast

import numpy as np

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import MAX_TIME_S, UNREADABLE_STATUSES, Status, fault_of_statuses, within
from truemoment.base.rules import OnNegative
from truemoment.data.axes import SECONDS, Axis
from truemoment.data.formats.head import Head


class FileRows:
    """Rows of a file, one per query, which each states in one of several ways."""

    query_id: Sequence[str | None]
    video_id: Sequence[str | None]
    sentence: Sequence[str | None]
    number: Sequence[int | None] | None

    def __len__(self) -> int:
        return len(self.query_id)

    def place(self, row: int) -> str:
        """Return the query of a row in words, for messages."""
        if (query_id := self.query_id[row]) is not None:
            return f"query {query_id!r}"
        if self.number is not None and (number := self.number[row]) is not None:
            return f"video {self.video_id[row]!r}, sentence number {number}"
        return f"video {self.video_id[row]!r}, sentence {(self.sentence[row] or '')[:60]!r}"


@dataclass(frozen=True, eq=False)
class PredictionRows(FileRows):
    """Answers of a file, one row per query, not yet matched.

    Parameters
    ----------
    path
        The file.
    line : R line (or row) numbers, for messages, or None
    query_id, video_id, sentence : R values
        Ids, videos and sentences as the rows state them, or None.
    offsets, start, end, score
        Ranked moments, flat, on `axis`; row r has ``offsets[r]:offsets[r + 1]``. An infinite end is the end of the
        video.
    scored
        Whether the file has scores; if not, the order is the rank, and scores fall by 1 from 0.
    saliency_offsets, saliency
        Predicted clip ratings, flat, or None.
    status
        How each answer in words was understood; None for moments given as numbers.
    parsing
        How the answers in words were read, or None.
    axis
        Unit of the numbers; None if the file does not state it.
    counts_frames
        Whether they are frame numbers from 0 at an unknown rate.
    header
        Statements of the file about itself.
    moment_line : M line numbers, if each moment has a line
    moments_field
        Name of the list of moments in the format, for messages; "" if each moment is a row.
    format
        Name of the format.
    number
        Number of each row's query in its video, from 0, or None.
    note
        What was left out, for the report; "" for nothing.
    """

    path: AnyPath
    line: Sequence[int] | None
    query_id: Sequence[str | None]
    video_id: Sequence[str | None]
    sentence: Sequence[str | None]
    offsets: Ints
    start: Floats
    end: Floats
    score: Floats
    scored: bool = True
    saliency_offsets: Ints | None = None
    saliency: Floats | None = None
    status: Sequence[Status] | None = None
    parsing: Parsing | None = None
    axis: Axis | None = None
    counts_frames: bool = False
    header: dict[str, object] = field(default_factory=dict)
    moment_line: Sequence[int] | None = None
    moments_field: str = "moments"
    format: str = ""
    number: Sequence[int | None] | None = None
    note: str = ""

    def line_of(self, row: int) -> int | None:
        """Line of a row, if the format has lines."""
        return None if self.line is None else self.line[row]


@dataclass(frozen=True, eq=False)
class AnswerRows(FileRows):
    """Answers in words of a file, one row per query, not yet read; an answer of None counts as failed.

    `text_field` is the name of the answer in the format, for messages; the other fields are as in
    :class:`PredictionRows`.
    """

    path: AnyPath
    line: Sequence[int] | None
    query_id: Sequence[str | None]
    video_id: Sequence[str | None]
    sentence: Sequence[str | None]
    text: Sequence[str | None]
    text_field: str = "answer"
    header: dict[str, object] = field(default_factory=dict)
    format: str = ""
    number: Sequence[int | None] | None = None
    note: str = ""


@dataclass(frozen=True)
class Sample:
    """One answer in words, and its reading.

    `place` is its query in words; `text` the answer, or the part of a long one around the evidence. Moments are
    (start, end) on the axis; an end of None is the end of the video. ``text[slice(*span)]`` is the evidence.
    """

    place: str
    text: str
    status: Status
    moments: tuple[tuple[float, float | None], ...]
    span: tuple[int, int] | None
    why: str


@dataclass(frozen=True)
class Parsing:
    """How the answers in words of a file were read.

    Parameters
    ----------
    reading
        Options of the reading, as text.
    version
        Version of the reader.
    counts
        Answers by status.
    whys
        Answers by reason, most frequent first.
    identical
        Number of answers with the most frequent text.
    sample, failures
        Some readable answers, and some unreadable ones.
    """

    reading: str
    version: int
    counts: dict[Status, int]
    whys: dict[str, int]
    identical: int
    sample: tuple[Sample, ...] = ()
    failures: tuple[Sample, ...] = ()


Loss = Literal[
    "abstentions",
    "ratings",
    "statuses",
    "several moments",
    "ids",
    "videos and sentences",
    "repeated rows",
    "repeated sentences",
]
"""Properties that a format may be unable to represent, or (ids, videos and sentences) may need."""

Recognise = Callable[[Head], str | None]
"""Returns why the beginning of a file looks like a format, or None."""

Read = Callable[[AnyPath, bool], PredictionRows | AnswerRows]
"""Reads a whole file; the switch asks for progress on standard error."""

Write = Callable[[AnyPath, PredictionRows], None]
"""Writes rows, complete or not at all."""


@dataclass(frozen=True)
class Format:
    """A prediction format.

    Parameters
    ----------
    name
        Value of ``--format``.
    summary
        Description in a line.
    recognise, read, write
        How it is recognised, read and written; `write` is None if the format is read only.
    loses
        Properties that the format cannot represent; rows with them are refused.
    numbers_queries
        Whether its ids may be numbers of its own; rows with video and sentence are then matched by these.
    needs
        Keys of its entries, by which a file that is not recognised is compared with it; none for a format without.
    """

    name: str
    summary: str
    recognise: Recognise
    read: Read
    write: Write | None = None
    loses: frozenset[Loss] = frozenset({"ratings", "statuses"})
    numbers_queries: bool = False
    needs: frozenset[str] = frozenset()


Moments = Sequence[Sequence[float]]
"""Ranked [start, end] or [start, end, score]."""

# Lists of moments as columns: offsets, starts, ends, scores, and whether the file gave the scores.
MomentColumns = tuple[Ints, Floats, Floats, Floats, bool]


def offsets_of(lists: Iterable[Sized]) -> Ints:
    """Return the offsets of lists in their concatenation."""
    return np.cumsum([0, *map(len, lists)], dtype=np.int64)


def flatten(path: AnyPath, line: Sequence[int] | None, moments: Sequence[Moments], *, field: str) -> MomentColumns:
    """Return lists of moments as columns; without scores the order is the rank, and scores fall by 1 from 0."""
    offsets = offsets_of(moments)
    widths = set(map(len, chain.from_iterable(moments)))
    if widths <= {3}:
        n_values = 3 * int(offsets[-1])
        flat = np.fromiter(chain.from_iterable(chain.from_iterable(moments)), np.float64, n_values).reshape(-1, 3)
        return offsets, flat[:, 0].copy(), flat[:, 1].copy(), flat[:, 2].copy(), True
    for at, row in enumerate(moments):
        got = {len(moment) for moment in row}
        if not (got <= {2} or got <= {3}):
            wrong = next((len(m) for m in row if len(m) not in (2, 3)), None)
            came = "moments with and without a score" if wrong is None else f"a moment of {wrong} values"
            raise InputError(
                f"got {came}, expected [start, end] or [start, end, score] throughout",
                path=path,
                line=None if line is None else line[at],
                field=field,
            )
    ranked = [
        (*moment[:2], moment[2] if len(moment) == 3 else float(-rank))
        for row in moments
        for rank, moment in enumerate(row)
    ]
    table = np.array(ranked, dtype=np.float64).reshape(-1, 3)
    return offsets, table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy(), 3 in widths


def checked_statuses(
    statuses: Sequence[str | None], offsets: Ints, path: AnyPath, line: Sequence[int] | None
) -> list[Status] | None:
    """Return the status of each row, or None if no row has one; a status must not contradict its list."""
    if not any(statuses):
        return None
    lengths = np.diff(offsets)
    read = [status or ("parsed" if length else "no answer") for status, length in zip(statuses, lengths, strict=True)]
    fault = fault_of_statuses(read, lengths)
    if fault is not None:
        row, problem = fault
        raise InputError(problem, path=path, line=None if line is None else line[row], field="status")
    return cast(list[Status], read)


def refuse_loss(rows: PredictionRows, format_: Format, path: AnyPath) -> None:
    """Refuse to write rows that a format cannot represent."""
    lengths = np.diff(rows.offsets)
    empty = np.flatnonzero(lengths == 0)
    several = np.flatnonzero(lengths > 1)
    unread = np.flatnonzero(np.isin(np.array(rows.status or (), dtype=str), UNREADABLE_STATUSES))
    nameless = [r for r, query_id in enumerate(rows.query_id) if query_id is None]
    texts = zip(rows.video_id, rows.sentence, strict=True)
    wordless = [r for r, (video_id, sentence) in enumerate(texts) if video_id is None or sentence is None]
    losses: tuple[tuple[Loss, Sequence[int] | Ints, str], ...] = (
        ("ratings", [0] if rows.saliency is not None else [], "clip ratings; write native, parquet or moment-detr"),
        ("statuses", unread, "an answer that could not be read ({}); write native"),
        ("abstentions", empty, "an abstention ({}); write native or parquet"),
        ("several moments", several, "several moments for {}; write native"),
        ("ids", nameless, "rows without an id ({}); give --dataset or --annotations, so that ids are known"),
        ("videos and sentences", wordless, "{} without video and sentence; give --dataset or --annotations"),
    )
    for loss, rows_lost, message in losses:
        if loss in format_.loses and len(rows_lost):
            raise InputError(
                f"format {format_.name} cannot represent {message.format(rows.place(int(rows_lost[0])))}", path=path
            )
    same: tuple[tuple[Loss, Iterable[tuple[str | None, ...]], str], ...] = (
        ("repeated rows", zip(rows.query_id, rows.video_id, rows.sentence, strict=True), "native or parquet"),
        ("repeated sentences", zip(rows.video_id, rows.sentence, strict=True), "native or csv"),
    )
    for loss, names, instead in same:
        repeated = _first_repeated(names) if loss in format_.loses else None
        if repeated is not None:
            raise InputError(
                f"format {format_.name} cannot represent two answers to {rows.place(repeated)}; write {instead}",
                path=path,
            )


def _first_repeated(names: Iterable[tuple[str | None, ...]]) -> int | None:
    """Row of the first name that occurs a second time."""
    seen: set[tuple[str | None, ...]] = set()
    for row, name in enumerate(names):
        if name in seen:
            return row
        seen.add(name)
    return None


def checked_times(
    rows: PredictionRows, *, on_negative: OnNegative, duration_s: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return the rows' times in seconds, from 0 to 1e8; refuse other times, and scores that are not finite.

    `duration_s` has the duration of each row's video, NaN where unknown; None if all are unknown.
    """
    start_s, end_s = in_seconds(rows, duration_s)
    least = -MAX_TIME_S if on_negative == "clip" else 0.0
    largest = np.finfo(np.float64).max
    for name, column, low, high in (
        ("start", start_s, least, MAX_TIME_S),
        ("end", end_s, least, MAX_TIME_S),
        ("score", rows.score, -largest, largest),
    ):
        if not within(column, low, high):
            wrong = np.flatnonzero(~((column >= low) & (column <= high)))
            raise _wrong_number(rows, name, column, int(wrong[0]))
    if on_negative == "clip":
        return np.maximum(start_s, 0.0), np.maximum(end_s, 0.0)
    return start_s, end_s


def in_seconds(rows: PredictionRows, duration_s: Floats | None = None) -> tuple[Floats, Floats]:
    """Convert a file's numbers to seconds; `duration_s` has one value per row, None if unknown."""
    to_the_end = np.isposinf(rows.end) if rows.parsing is not None else np.zeros(len(rows.end), dtype=bool)
    axis = rows.axis or SECONDS
    if axis == SECONDS and not to_the_end.any():
        return rows.start, rows.end
    of_row = np.full(len(rows), np.nan) if duration_s is None else duration_s
    of_moment = np.repeat(of_row, np.diff(rows.offsets))
    unknown = ~(of_moment > 0) & (to_the_end | axis.needs_duration)
    if unknown.any():
        row = int(np.searchsorted(rows.offsets, int(np.flatnonzero(unknown)[0]), side="right")) - 1
        problem = f"is on the axis {axis}" if axis.needs_duration else "runs to the end of the video"
        raise InputError(
            f"the answer to {rows.place(row)} {problem}, and the duration of the video is unknown",
            path=rows.path,
            line=rows.line_of(row),
            hint="give --dataset, or --annotations with duration_s, or --durations FILE",
        )
    finite = np.where(to_the_end, 0.0, rows.end)  # an infinite number of a file of numbers is refused later
    start_s, end_s = axis.to_seconds(rows.start, finite, of_moment)
    return start_s, np.where(to_the_end, of_moment, end_s)


def _wrong_number(rows: PredictionRows, name: str, column: Floats, moment: int) -> InputError:
    """Return an error that names the wrong number and its moment."""
    row = int(np.searchsorted(rows.offsets, moment, side="right")) - 1
    within = f"{rows.moments_field}[{moment - int(rows.offsets[row])}]." if rows.moments_field else ""
    expected = "a finite number" if name == "score" else f"seconds from 0 to {MAX_TIME_S:g}"
    clippable = name != "score" and -MAX_TIME_S <= column[moment] < 0
    return InputError(
        f"got {column[moment]:.10g} for {rows.place(row)}, expected {expected}",
        path=rows.path,
        line=rows.line_of(row) if rows.moment_line is None else rows.moment_line[moment],
        field=f"{within}{name}",
        hint="--on-negative clip lifts negative times to 0" if clippable else None,
    )
