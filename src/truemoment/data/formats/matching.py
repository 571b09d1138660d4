"""Matching rows of a prediction file to queries.

A row with a query id is matched by it (its sentence or video, if given, is checked). Other rows are matched by video
and sentence, ignoring punctuation and case; else by position within the video, if it has as many such rows as queries.
Each way is counted. Unmatched rows are refused or ignored, and counted.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any, get_args

import msgspec
import numpy as np

from truemoment.base.errors import MatchError, UsageError
from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.records import Annotations, Predictions, Queries, Strings, as_strings
from truemoment.base.rules import OnNegative, OnUnknown
from truemoment.data.axes import is_coarse
from truemoment.data.datasets.faults import PAST_END_S
from truemoment.data.formats.base import Parsing, PredictionRows, checked_times
from truemoment.data.units import ENOUGH, ReferenceTimes, Suspicion, look_at_units


class _Blanks(dict[int, str | int]):
    """For str.translate: punctuation, symbols, blanks and control characters become blanks; the rest stays."""

    def __missing__(self, code: int) -> str | int:
        self[code] = " " if unicodedata.category(chr(code))[0] in "PSZC" else code
        return self[code]


_BLANKS = _Blanks()


LISTS_AT_A_TIME = 4096


@dataclass(frozen=True)
class MatchReport:
    """Counts of what was read and how it was matched.

    Parameters
    ----------
    format, recognised
        Format of the file, and how it was recognised.
    rows
        Rows in the file.
    by_id, by_text, by_position
        Rows matched by query id, by the same sentence (up to punctuation, case and blanks), by position in the video.
    text_differs
        Rows matched by id or text whose sentence is not exactly the annotation's.
    shared
        Queries that share one row with another of the same video and sentence.
    unmatched, missing
        Rows of unknown queries, left out; queries without a row.
    empty
        Matched rows without a moment: abstentions.
    refused, ambiguous, failed
        Matched rows whose answer in words could not be read: the model declines; it has several readings or half a
        moment; it contains no moment.
    moments
        Moments of the matched rows.
    swapped, zero_length, past_end
        Moments whose end is before the start, at it, or more than 1e-6 s after the end of the video.
    clipped
        Moments with a negative time that was raised to 0.
    ties, reordered
        Queries with two predictions of equal score, and queries whose list is not sorted by falling score.
    coarse
        Queries whose first moment starts and ends on multiples of 5 s.
    axis
        Unit of the file's numbers.
    signs
        Signs that the first moments are not in seconds or lie on a coarse grid, in words.
    units
        What the first moments look like if they are improbable as seconds; None if they are not.
    parsing
        How answers in words were read; None if the file has none.
    notes
        Notes in the file itself (``made_by.notes``), e.g. that the features were simulated.
    windows
        Windows of films that the predictions were chosen from, as the file states (``made_by.windows``); "" for all.
    """

    format: str
    recognised: str
    rows: int
    by_id: int = 0
    by_text: int = 0
    by_position: int = 0
    text_differs: int = 0
    shared: int = 0
    unmatched: int = 0
    missing: int = 0
    empty: int = 0
    refused: int = 0
    ambiguous: int = 0
    failed: int = 0
    moments: int = 0
    swapped: int = 0
    zero_length: int = 0
    past_end: int = 0
    clipped: int = 0
    ties: int = 0
    reordered: int = 0
    coarse: int = 0
    axis: str = "seconds"
    signs: tuple[str, ...] = ()
    units: Suspicion | None = None
    parsing: Parsing | None = None
    notes: tuple[str, ...] = ()
    windows: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return all fields by the names that they have in JSON documents, where the notes have another one."""
        fields: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        fields |= {"told": fields.pop("notes")}
        del fields["units"]  # in words in the signs
        return {name: value for name, value in fields.items() if name != "windows" or value}


def plain_text(sentence: str) -> str:
    """Fold case and replace punctuation by single blanks.

    Examples
    --------
    >>> plain_text(" The man's dog, barking. ")
    'the man s dog barking'
    """
    if not sentence.isascii():
        sentence = unicodedata.normalize("NFKC", sentence)
    return " ".join(sentence.translate(_BLANKS).split()).casefold()


def match(
    rows: PredictionRows,
    annotations: Annotations,
    *,
    recognised: str = "",
    on_unknown: OnUnknown = "refuse",
    on_negative: OnNegative = "refuse",
    name: str | None = None,
) -> tuple[Predictions, MatchReport]:
    """Match rows to queries.

    Parameters
    ----------
    rows
        Rows as read from a file.
    annotations
        Annotations whose queries the rows answer.
    recognised
        Why the file was read in its format, for the report.
    on_unknown
        ``"refuse"`` rows of unknown queries, or ``"ignore"`` them.
    on_negative
        ``"refuse"`` negative times, or ``"clip"`` them to 0.
    name
        Name of the predictions. Default: the file's name.

    Returns
    -------
    predictions, report
        Predictions in the order of the annotations.
    """
    if on_unknown not in get_args(OnUnknown) or on_negative not in get_args(OnNegative):
        raise UsageError(
            f"got on_unknown={on_unknown!r}, on_negative={on_negative!r}, expected refuse|ignore, refuse|clip"
        )
    queries = annotations.queries
    matcher = _Matcher(rows, queries)
    query_of = matcher.match()
    durations = queries.duration_s.tolist()
    duration_s = np.array(
        [durations[matches[0]] if matches else 1.0 for matches in query_of]
    )  # rows of no query are left out
    times = checked_times(rows, on_negative=on_negative, duration_s=duration_s)
    unmatched = [row for row in range(len(rows)) if not query_of[row]]
    if unmatched and on_unknown == "refuse":
        raise matcher.unknown(unmatched, annotations)
    row_of = _row_of_query(rows, queries, query_of)
    answered = np.flatnonzero(row_of >= 0)
    predictions = _predictions(rows, row_of[answered], queries.query_id[answered], times=times, name=name)
    moments, _ = _picked(rows.offsets, row_of[answered])
    n_negative = int(((rows.start < 0) | (rows.end < 0))[moments].sum())
    report = MatchReport(
        format=rows.format,
        recognised=recognised,
        rows=len(rows),
        shared=sum(len(matches) for matches in query_of if len(matches) > 1),
        unmatched=len(unmatched),
        missing=len(queries) - len(answered),
        clipped=n_negative if on_negative == "clip" else 0,
        axis=str(rows.axis),
        parsing=rows.parsing,
        **{name: getattr(matcher, name) for name in ("by_id", "by_text", "by_position", "text_differs")},
        **_counts(predictions, annotations, answered),
    )
    return predictions, report


def _row_of_query(rows: PredictionRows, queries: Queries, query_of: list[list[int]]) -> Ints:
    """Return the row of each query, -1 without one; a query that is answered twice is refused."""
    row_of = np.full(len(queries), -1, dtype=np.int64)
    for row, matches in enumerate(query_of):
        for query in matches:
            if row_of[query] >= 0:
                first = rows.line_of(int(row_of[query]))
                place = "" if first is None else f" (first in line {first})"
                raise MatchError(
                    f"answers query {queries.query_id[query]!r} again, expected each query once{place}",
                    path=rows.path,
                    line=rows.line_of(row),
                )
            row_of[query] = row
    return row_of


def _predictions(
    rows: PredictionRows, picked: Ints, query_id: Strings, *, times: tuple[Floats, Floats], name: str | None
) -> Predictions:
    """Return the picked rows as predictions for these queries."""
    moments, offsets = _picked(rows.offsets, picked)
    saliency = saliency_offsets = None
    if rows.saliency is not None and rows.saliency_offsets is not None:
        clips, saliency_offsets = _picked(rows.saliency_offsets, picked)
        saliency = rows.saliency[clips]
    return Predictions(
        query_id=query_id,
        offsets=offsets,
        start_s=times[0][moments],
        end_s=times[1][moments],
        score=rows.score[moments],
        name=name or rows.path.stem,
        saliency_offsets=saliency_offsets,
        saliency=saliency,
        scored=rows.scored,
        status=None if rows.status is None else as_strings((rows.status[row] for row in picked), "status"),
    )


def _counts(predictions: Predictions, annotations: Annotations, answered: Ints) -> dict[str, Any]:
    """Return the fields of :class:`MatchReport` that count matched answers, to the queries at some positions."""
    status: Counter[str] = Counter() if predictions.status is None else Counter(predictions.status.tolist())
    filled = predictions.lengths > 0
    firsts = predictions.offsets[:-1][filled]
    first_s = predictions.start_s[firsts], predictions.end_s[firsts]
    duration_s = annotations.queries.duration_s[answered]
    units = units_of(predictions, annotations, answered)
    coarse = int(is_coarse(*first_s).sum())
    share = coarse / max(len(firsts), 1)
    grid = f"{100 * share:.0f} % of the first moments start and end on multiples of 5 s: a coarse grid"
    return {
        "empty": int(predictions.abstains.sum()),
        **{name: status[name] for name in ("refused", "ambiguous", "failed")},
        "moments": len(predictions.start_s),
        "swapped": int((predictions.end_s < predictions.start_s).sum()),
        "zero_length": int((predictions.end_s == predictions.start_s).sum()),
        "past_end": count_past_end(predictions, duration_s),
        "ties": count_ties(predictions),
        "reordered": _count_lists(predictions, predictions.rises),
        "coarse": coarse,
        "signs": (*([] if units is None else [str(units)]), *([grid] if len(firsts) >= ENOUGH and share > 0.5 else [])),
        "units": units,
    }


def units_of(predictions: Predictions, annotations: Annotations, answered: Ints) -> Suspicion | None:
    """Return what first moments look like if they are improbable as seconds; `answered` are positions of queries."""
    filled = (predictions.lengths > 0) & (answered >= 0)
    if not filled.any():
        return None
    firsts, query = predictions.offsets[:-1][filled], answered[filled]
    first_s = predictions.start_s[firsts], predictions.end_s[firsts]
    return look_at_units(*first_s, annotations.queries.duration_s[query], ReferenceTimes.of(annotations, query))


def report_of_record(predictions: Predictions, annotations: Annotations) -> MatchReport:
    """Return the report of predictions that are in memory."""
    index = annotations.queries.index
    answered = np.array([index.get(query_id, -1) for query_id in predictions.query_id.tolist()], dtype=np.int64)
    units = units_of(predictions, annotations, answered)
    signs = () if units is None else (str(units),)
    n_queries, n_moments = len(predictions.query_id), int(predictions.lengths.sum())
    return MatchReport("record", "no file", n_queries, by_id=n_queries, moments=n_moments, signs=signs, units=units)


def count_past_end(predictions: Predictions, duration_s: Floats) -> int:
    """Return how many moments end later than their video by more than 1e-6 s; `duration_s` has one value a list."""
    offsets, count = predictions.offsets, 0
    for low in range(0, len(predictions), LISTS_AT_A_TIME):  # a duration for each moment at once would fill memory
        high = min(low + LISTS_AT_A_TIME, len(predictions))
        limit_s = np.repeat(duration_s[low:high] + PAST_END_S, predictions.lengths[low:high])
        count += int((predictions.end_s[offsets[low] : offsets[high]] > limit_s).sum())
    return count


def count_ties(predictions: Predictions) -> int:
    """Return how many queries have two answers of equal score, so that file order ranks them."""
    ranked = predictions.ranked_by_score()
    equal = np.zeros(len(ranked.score), dtype=bool)
    np.equal(ranked.score[1:], ranked.score[:-1], out=equal[1:])
    equal[ranked.offsets[:-1][ranked.lengths > 0]] = False
    return _count_lists(ranked, equal)


def _count_lists(predictions: Predictions, marked: Bools) -> int:
    """Return the number of lists that contain a marked moment; `marked` has shape (M,)."""
    return len(np.unique(np.searchsorted(predictions.offsets, np.flatnonzero(marked), side="right")))


class _Matcher:
    """Finds the queries of each row, and counts how."""

    def __init__(self, rows: PredictionRows, queries: Queries) -> None:
        self.rows = rows
        self.queries = queries
        self.by_id = self.by_text = self.by_position = self.text_differs = 0

    def match(self) -> list[list[int]]:
        """Return the queries of each row: none, one, or several that share video and sentence."""
        rows = self.rows
        query_of: list[list[int]] = [[] for _ in range(len(rows))]
        loose: list[int] = []
        index = self.queries.index
        by_number = self._queries_by_number()
        for row, query_id in enumerate(rows.query_id):
            if query_id is None and by_number is not None:
                query_of[row] = by_number.get((rows.video_id[row], rows.number[row] if rows.number else None), [])
                self.by_position += bool(query_of[row])
            elif query_id is None:
                loose.append(row)
            elif query_id in index:
                query_of[row] = [index[query_id]]
                self.by_id += 1
                self._check(row, index[query_id])
        if loose:
            self._match_by_text(loose, query_of)
        return query_of

    def _queries_by_number(self) -> dict[tuple[str | None, int | None], list[int]] | None:
        """Return the query of each (video, number in it), if the rows state numbers."""
        if self.rows.number is None:
            return None
        counts: Counter[str] = Counter()
        by_number: dict[tuple[str | None, int | None], list[int]] = {}
        for query, video_id in enumerate(self.queries.video_id.tolist()):
            by_number[video_id, counts[video_id]] = [query]
            counts[video_id] += 1
        return by_number

    def _check(self, row: int, query: int) -> None:
        """Refuse a row whose sentence or video is not that of the query it names."""
        sentence, video_id = self.rows.sentence[row], self.rows.video_id[row]
        annotated = self.queries.sentence[query]
        if sentence is not None and sentence != annotated:
            if plain_text(sentence) != plain_text(annotated):
                raise self._contradicts(row, query, "sentence", sentence, annotated)
            self.text_differs += 1
        if video_id is not None and video_id != self.queries.video_id[query]:
            raise self._contradicts(row, query, "video", video_id, self.queries.video_id[query])

    def _contradicts(self, row: int, query: int, field: str, value: str, expected: str) -> MatchError:
        return MatchError(
            f"got {field} {value[:80]!r} for query {self.queries.query_id[query]!r}, expected {expected[:80]!r}",
            path=self.rows.path,
            line=self.rows.line_of(row),
            hint="is it the right dataset and split?",
        )

    def _match_by_text(self, loose: list[int], query_of: list[list[int]]) -> None:
        rows, queries = self.rows, self.queries
        queries_of_video: defaultdict[str, list[int]] = defaultdict(list)
        queries_of_text: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for query, (video_id, sentence) in enumerate(zip(queries.video_id, queries.sentence, strict=True)):
            queries_of_video[video_id].append(query)
            queries_of_text[video_id, plain_text(sentence)].append(query)
        rows_of_video: defaultdict[str, list[int]] = defaultdict(list)
        rows_of_text: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for row in loose:
            video_id, sentence = rows.video_id[row], rows.sentence[row]
            if video_id is not None:
                rows_of_video[video_id].append(row)
                if sentence is not None:
                    rows_of_text[video_id, plain_text(sentence)].append(row)
        for key, same in rows_of_text.items():
            wanted = queries_of_text.get(key, [])
            if len(same) == len(wanted):
                for row, query in zip(same, wanted, strict=True):
                    query_of[row] = [query]
            elif wanted:  # one answer to a question that occurs several times, or too many answers
                for row in same:
                    query_of[row] = wanted
            for row in same:
                self.by_text += bool(query_of[row])
                self.text_differs += any(queries.sentence[query] != rows.sentence[row] for query in query_of[row])
        for video_id, of_video in rows_of_video.items():
            wanted = queries_of_video.get(video_id, [])
            if len(of_video) == len(wanted):
                self._match_by_position(of_video, wanted, query_of)

    def _match_by_position(self, of_video: list[int], wanted: list[int], query_of: list[list[int]]) -> None:
        if any(query not in query_of[row] for row, query in zip(of_video, wanted, strict=True) if query_of[row]):
            return  # rows that state their query show another order
        for row, query in zip(of_video, wanted, strict=True):
            if not query_of[row]:
                query_of[row] = [query]
                self.by_position += 1

    def unknown(self, unmatched: list[int], annotations: Annotations) -> MatchError:
        """Return an error that names the rows that belong to no query."""
        first = unmatched[0]
        return MatchError(
            f"{len(unmatched):,} of {len(self.rows):,} rows belong to no query of "
            f"{annotations.dataset}/{annotations.split}, the first is {self.rows.place(first)}",
            path=self.rows.path,
            line=self.rows.line_of(first),
            hint="is it the right dataset and split? --on-unknown ignore leaves them out",
        )


def _picked(offsets: Ints, row: Ints) -> tuple[Ints | slice, Ints]:
    """Positions of the items of some lists, in their order, and the new offsets."""
    if len(row) == len(offsets) - 1 and np.array_equal(row, np.arange(len(row))):
        return slice(None), offsets
    lengths = np.diff(offsets)[row]
    new = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return np.repeat(offsets[row] - new[:-1], lengths) + np.arange(new[-1]), new
