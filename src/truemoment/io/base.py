"""What a prediction file holds before it is matched to queries: rows, as the file has them.

To add a format: write one module in this folder with a ``FORMAT``, and name it in ``io/__init__.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np

from truemoment.exceptions import InputError
from truemoment.intervals import Floats, Ints
from truemoment.records import MAX_TIME_S, Annotations, Predictions, within

OnNegative = Literal["refuse", "clip"]


@dataclass(frozen=True, eq=False)
class PredictionRows:
    """Answers as a file lists them, one row a query, not yet matched.

    Parameters
    ----------
    path, format
        Where they come from, and how it was read.
    line : R line (or row) numbers, for messages; None where the format has none
    query_id, video_id, sentence : R values
        What each row says of its query; None where it says nothing.
    offsets, start_s, end_s, score
        Ranked moments, flat; row r owns ``offsets[r]:offsets[r + 1]``.
    saliency_offsets, saliency
        Predicted clip ratings, flat, where the format has them.
    header
        What the file says of itself.
    moment_line : M line numbers, where each moment has a line of its own
    moments_field
        What the format calls the list of moments, for messages; "" where each moment is a row.
    """

    path: Path
    format: str
    line: Sequence[int] | None
    query_id: Sequence[str | None]
    video_id: Sequence[str | None]
    sentence: Sequence[str | None]
    offsets: Ints
    start_s: Floats
    end_s: Floats
    score: Floats
    saliency_offsets: Ints | None = None
    saliency: Floats | None = None
    header: dict[str, object] = field(default_factory=dict)
    moment_line: Sequence[int] | None = None
    moments_field: str = "moments"

    def __len__(self) -> int:
        return len(self.query_id)

    def line_of(self, row: int) -> int | None:
        """Line on which a row stands, where the format has lines."""
        return None if self.line is None else self.line[row]

    def place(self, row: int) -> str:
        """Say what a row says of its query, for messages."""
        if self.query_id[row] is not None:
            return f"query {self.query_id[row]!r}"
        return f"video {self.video_id[row]!r}, sentence {(self.sentence[row] or '')[:60]!r}"


@dataclass(frozen=True)
class Format:
    """A prediction format.

    Parameters
    ----------
    name
        What ``--format`` takes.
    summary
        What it is, in a line.
    recognise
        Given the path and its first bytes, say why it looks like this format, or None.
    read
        Read the whole file; the switch asks for progress on standard error where reading takes long.
    write
        Write predictions, if the format can hold them.
    """

    name: str
    summary: str
    recognise: Callable[[Path, bytes], str | None]
    read: Callable[[Path, bool], PredictionRows]
    write: Callable[[Path, Predictions, Annotations], None] | None = None


Moments = tuple[Ints, Floats, Floats, Floats]
"""Ragged lists of moments: offsets, starts, ends, scores."""


def flatten(
    path: Path,
    line: Sequence[int] | None,
    moments: Sequence[Sequence[Sequence[float]]],
    *,
    field: str = "moments",
) -> Moments:
    """Flatten rows of [start, end] or [start, end, score] into offsets and columns.

    Without scores the order of the list is the rank: scores fall by 1 from 0.

    Raises
    ------
    InputError
        If a moment has another number of values, or a row mixes moments with and without score.
    """
    lengths = [len(row) for row in moments]
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)
    widths = set(map(len, chain.from_iterable(moments)))
    if widths <= {3}:
        n_values = 3 * int(offsets[-1])
        flat = np.fromiter(chain.from_iterable(chain.from_iterable(moments)), np.float64, n_values).reshape(-1, 3)
        return offsets, flat[:, 0].copy(), flat[:, 1].copy(), flat[:, 2].copy()
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
        (*moment[:2], moment[2] if len(moment) == 3 else -float(rank))
        for row in moments
        for rank, moment in enumerate(row)
    ]
    table = np.array(ranked, dtype=np.float64).reshape(-1, 3)
    return offsets, table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy()


def join(blocks: Sequence[Moments]) -> Moments:
    """Put blocks of rows one behind the other."""
    shifts = np.cumsum([0, *(int(offsets[-1]) for offsets, *_ in blocks)])
    offsets = [np.zeros(1, dtype=np.int64)]
    offsets += [block[0][1:] + shift for block, shift in zip(blocks, shifts, strict=False)]
    start, end, score = (np.concatenate([block[at] for block in blocks]) for at in (1, 2, 3))
    return np.concatenate(offsets).astype(np.int64), start, end, score


def flatten_lists(lists: Iterable[Sequence[float]]) -> tuple[Ints, Floats]:
    """Flatten lists of numbers into offsets and values."""
    rows = list(lists)
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)]).astype(np.int64)
    return offsets, np.fromiter(chain.from_iterable(rows), np.float64, int(offsets[-1]))


def checked_times(rows: PredictionRows, *, on_negative: OnNegative) -> tuple[Floats, Floats]:
    """Return the rows' times, refusing times that no video has and scores that rank nothing.

    Parameters
    ----------
    rows
        As read.
    on_negative
        ``"refuse"``, or ``"clip"`` to lift negative times to 0 (times beyond 1e8 s either way, and what is
        not finite, are always refused).

    Returns
    -------
    start_s, end_s : (M,)
        Seconds from 0 to 1e8.

    Raises
    ------
    InputError
        Naming file, line and value of the first time outside these bounds, or score that is not finite.
    """
    least = -MAX_TIME_S if on_negative == "clip" else 0.0
    largest = np.finfo(np.float64).max
    for name, column, low, high in (
        ("start", rows.start_s, least, MAX_TIME_S),
        ("end", rows.end_s, least, MAX_TIME_S),
        ("score", rows.score, -largest, largest),
    ):
        if not within(column, low, high):
            wrong = np.flatnonzero(~((column >= low) & (column <= high)))
            raise _wrong_number(rows, name, column, int(wrong[0]))
    if on_negative == "clip":
        return np.maximum(rows.start_s, 0.0), np.maximum(rows.end_s, 0.0)
    return rows.start_s, rows.end_s


def _wrong_number(rows: PredictionRows, name: str, column: Floats, moment: int) -> InputError:
    """Say which number of which moment is none."""
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
