"""Predictions and annotations as Python programs have them, without files.

A table is a list of dictionaries, a dictionary of columns, or a table of pandas, polars or Arrow; its columns have the
names that CSV files have (:mod:`truemoment.data.formats.table`), and ``moments`` may replace start and end. Moments
by query are a dictionary of their lists, or one list or array a query in the order of the annotations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from truemoment.base.errors import InputError, MatchError, UsageError
from truemoment.base.known_names import one_of_known
from truemoment.base.records import Annotations, Predictions
from truemoment.data.answers.reading import Reading
from truemoment.data.datasets.base import numbered
from truemoment.data.formats import match_rows
from truemoment.data.formats.base import PredictionRows
from truemoment.data.formats.matching import MatchReport
from truemoment.data.formats.prediction_files import PredictionOptions
from truemoment.data.formats.rows import FileRow, as_columns
from truemoment.data.formats.table import HEADINGS, Headings

Moment = tuple[float, ...]
"""(start_s, end_s), or (start_s, end_s, score)."""

PREDICTED: Headings = {**HEADINGS, "moments": ("moments", "pred_relevant_windows")}
"""Names of the columns of predictions by what they mean."""

ANNOTATED: Headings = {
    **{name: names for name, names in HEADINGS.items() if name != "score"},
    "duration_s": ("duration_s", "duration"),
    "annotator": ("annotator",),
    "moments": ("moments", "relevant_windows"),
}
"""Names of the columns of annotations by what they mean."""

NAMES = {"predictions": Path("predictions"), "annotations": Path("annotations")}
"""What errors call the values, as they call files."""


def predictions_of(
    value: Any,  # noqa: ANN401
    annotations: Annotations,
    options: PredictionOptions,
) -> tuple[Predictions, MatchReport]:
    """Return predictions, and how they match the queries of the annotations; options are those of files.

    Raises
    ------
    UsageError
        If the value is none of those above, or is annotations.
    InputError, MatchError
        If a row is malformed, or belongs to no query.
    """
    if isinstance(value, Annotations):
        raise UsageError("got annotations as predictions, expected predictions first: (predictions, annotations=...)")
    rows = as_columns(NAMES["predictions"], list(_prediction_rows(value, annotations)), format="native")
    if not isinstance(rows, PredictionRows):
        raise UsageError("got answers in words, expected moments; files of answers in words are read by their path")
    rows = replace(rows, axis=(options.reading or Reading()).on)
    predictions, report = match_rows(
        rows, "no file", annotations, on_unknown=options.on_unknown, on_negative=options.on_negative
    )
    return predictions, replace(report, format="record")


def _prediction_rows(value: Any, annotations: Annotations) -> Iterator[FileRow]:  # noqa: ANN401
    table = _table(value, PREDICTED)
    if table is not None:
        yield from _rows_by_query(table)
    elif isinstance(value, Mapping):
        for query_id, moments in value.items():
            yield FileRow(str(query_id), moments=_moments(moments, f"query {query_id!r}", "predictions"))
    else:
        ids = annotations.queries.query_id.tolist()
        lists = _lists(value, "predictions")
        if len(lists) != len(ids):
            raise MatchError(
                f"predictions: got {len(lists):,} lists of moments, expected one a query, {len(ids):,} in the order of "
                "the annotations; a dictionary names their queries"
            )
        for query_id, moments in zip(ids, lists, strict=True):
            yield FileRow(query_id, moments=_moments(moments, f"query {query_id!r}", "predictions"))


def _rows_by_query(table: Sequence[Mapping[str, Any]]) -> list[FileRow]:
    """Return a row a query; rows with a start and an end are moments of the query that they name."""
    by_query: dict[tuple[str | None, str | None, str | None], list[Moment]] = {}
    for number, entry in enumerate(table):
        row = _meanings(entry, PREDICTED, number, "predictions")
        key = _text(row.get("query_id")), _text(row.get("video_id")), _text(row.get("sentence"))
        if key[0] is None and None in key[1:]:
            raise _fault(number, "query_id", "is missing, expected it or video_id and sentence", "predictions")
        by_query.setdefault(key, []).extend(_moments_of_row(row, number, "predictions"))
    return [FileRow(*key, moments=moments) for key, moments in by_query.items()]


def annotations_of(value: Any) -> Annotations:  # noqa: ANN401
    """Return annotations.

    A query without an id is named ``VIDEO#K``, a missing video as the query, a missing sentence is "", and a missing
    duration is unknown.

    Raises
    ------
    UsageError
        If the value is none of those above, or is predictions.
    InputError
        If a row is malformed.
    """
    if isinstance(value, Predictions):
        raise UsageError("got predictions as annotations, expected predictions first: (predictions, annotations=...)")
    table = _table(value, ANNOTATED)
    if table is None:
        lists = value if isinstance(value, Mapping) else dict(enumerate(_lists(value, "annotations")))
        table = [{"query_id": query_id, "moments": moments} for query_id, moments in lists.items()]
    rows = [_meanings(entry, ANNOTATED, number, "annotations") for number, entry in enumerate(table)]
    if not rows:
        raise InputError("has no queries", path=NAMES["annotations"])
    moments = []
    for number, row in enumerate(rows):
        if _text(row.get("query_id")) is None and _text(row.get("video_id")) is None:
            raise _fault(number, "query_id", "is missing, expected it or video_id and sentence", "annotations")
        moments.append(_moments_of_row(row, number, "annotations") or [(math.nan, math.nan)])
    queries = [_text(row.get("query_id")) for row in rows]
    if None in queries:
        queries = _ids_of(rows)
    by_query: dict[str | None, list[tuple[Any, ...]]] = {}  # rows of a query need not be adjacent
    for number, (query_id, row) in enumerate(zip(queries, rows, strict=True)):
        video_id, sentence = _text(row.get("video_id")) or query_id, _text(row.get("sentence")) or ""
        duration_s, annotator = _number(row.get("duration_s"), number, "duration_s"), _text(row.get("annotator")) or ""
        by_query.setdefault(query_id, []).extend(
            (query_id, video_id, duration_s, sentence, *moment[:2], annotator) for moment in moments[number]
        )
    return Annotations.from_rows(chain.from_iterable(by_query.values()))


def _ids_of(rows: Sequence[Mapping[str, Any]]) -> list[str | None]:
    """Return ``VIDEO#K`` for each row; rows with one video and sentence are moments of one query."""
    pairs = [(_text(row.get("video_id")) or "", _text(row.get("sentence")) or "") for row in rows]
    distinct = list(dict.fromkeys(pairs))
    ids = dict(zip(distinct, numbered(video for video, _ in distinct), strict=True))
    return [ids[pair] for pair in pairs]


def _table(value: Any, headings: Headings) -> list[Mapping[str, Any]] | None:  # noqa: ANN401
    """Return the rows of a table; None if the value is none."""
    if hasattr(value, "to_pylist"):  # Arrow
        return list(value.to_pylist())
    if hasattr(value, "to_dicts"):  # polars
        return list(value.to_dicts())
    if hasattr(value, "to_dict") and hasattr(value, "columns"):  # pandas
        return list(value.to_dict("records"))
    known = {name for names in headings.values() for name in names}
    if isinstance(value, Mapping) and known & {str(name).lower() for name in value}:
        lengths = {name: len(column) for name, column in value.items()}
        if len(set(lengths.values())) > 1:
            raise InputError(f"got columns of {lengths} values, expected as many in each", field="columns")
        return [dict(zip(value, row, strict=True)) for row in zip(*value.values(), strict=True)]
    if isinstance(value, Sequence) and not isinstance(value, str) and value and isinstance(value[0], Mapping):
        return list(value)
    return None


def _meanings(entry: Any, headings: Headings, number: int, what: str) -> dict[str, Any]:  # noqa: ANN401
    """Return the values of a row by what they mean."""
    if not isinstance(entry, Mapping):
        raise _fault(number, "row", f"got {type(entry).__name__}, expected a dictionary as the other rows", what)
    meaning = {name: key for key, names in headings.items() for name in names}
    row = {meaning[name.lower()]: value for name, value in entry.items() if str(name).lower() in meaning}
    if "moments" not in row and not {"start", "end"} <= set(row):
        names = [name for key in ("start", "end", "moments") for name in headings[key]]
        missing = "start_s" if "start" not in row else "end_s"
        got = ", ".join(map(str, entry)) or "nothing"
        hint = one_of_known(next((str(name) for name in entry if str(name).lower() not in meaning), ""), names)
        raise _fault(number, missing, f"is missing: got {got}; expected {hint}", what)
    return row


def _moments_of_row(row: Mapping[str, Any], number: int, what: str) -> list[Moment]:
    if "moments" in row:
        return _moments(row["moments"], f"row {number}", what)
    values = [_number(row[name], number, name) for name in ("start", "end", "score") if name in row]
    return [] if what == "annotations" and all(map(math.isnan, values)) else [tuple(values)]


def _lists(value: Any, what: str) -> list[Any]:  # noqa: ANN401
    if isinstance(value, np.ndarray | Sequence) and not isinstance(value, str | bytes):
        return list(value)
    raise UsageError(
        f"{what}: got {type(value).__name__}, expected a path, a record, a table (list of dictionaries, dictionary of "
        "columns, pandas, polars, Arrow), a dictionary of moments by query, or an array"
    )


def _moments(value: Any, place: str, what: str) -> list[Moment]:  # noqa: ANN401
    """Return moments: None and an empty list are none, and one moment need not be in a list."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return []
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty((0, 0, 0))
    if array.shape == (0,):
        return []
    array = array[None] if array.ndim == 1 else array
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise InputError(
            f"{place}: got {str(value)[:60]}, expected moments (start_s, end_s) or (start_s, end_s, score)",
            path=NAMES[what],
            field="moments",
        )
    return [tuple(moment) for moment in array.tolist()]


def _text(value: Any) -> str | None:  # noqa: ANN401
    """Return a text or number as text; None where a table has no value."""
    return None if value is None or (isinstance(value, float) and math.isnan(value)) else str(value)


def _number(value: Any, number: int, field: str) -> float:  # noqa: ANN401
    try:
        return math.nan if value is None else float(value)
    except (TypeError, ValueError):
        raise InputError(f"row {number}: got {str(value)[:40]!r}, expected a number", field=field) from None


def _fault(number: int, field: str, problem: str, what: str) -> InputError:
    return InputError(f"row {number}: {problem}", path=NAMES[what], field=field)
