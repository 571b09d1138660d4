"""Predictions and annotations as Python programs have them, without files.

A table is a list of dictionaries, a dictionary of columns, or a table of pandas, polars or Arrow. It is read as a CSV
file of the same columns is; besides, ``moments`` may replace start and end, a missing video is named as its query, and
a sentence may be missing. Moments by query are a dictionary of their lists, or one list or array a query in the order
of the annotations. Errors name the argument, the row, counted from 0, and the field.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from truemoment.base.errors import InputError, MatchError, UsageError
from truemoment.base.known_names import SWAPPED, one_of_known
from truemoment.base.records import Annotations, Predictions
from truemoment.data.answers.reading import Reading
from truemoment.data.datasets.entries import ReferenceEntry, as_annotations
from truemoment.data.fields import Column, FieldMap
from truemoment.data.formats import match_rows
from truemoment.data.formats.base import PredictionRows
from truemoment.data.formats.matching import MatchReport
from truemoment.data.formats.prediction_files import PredictionOptions
from truemoment.data.formats.records import Record
from truemoment.data.formats.rows import FileRow, as_columns, require_query
from truemoment.data.formats.table import HEADINGS, Headings
from truemoment.data.references import AS_STATED, ReferenceOptions, with_given_durations
from truemoment.data.references.records import NO_REFERENCES, USUAL, entries_of, reference_columns

Moment = tuple[float, ...]
"""(start_s, end_s), or (start_s, end_s, score)."""

PREDICTED: Headings = {**HEADINGS, "moments": ("moments", "pred_relevant_windows")}
"""Names of the columns of predictions by what they mean."""

WINDOWS = "relevant_windows"
"""Column of references in QVHighlights' form."""

ORDER = "expected predictions first: (predictions, annotations=...)"


class ValueTable(NamedTuple):
    """The columns of a table, and its rows with values as JSON has them."""

    columns: list[str]
    rows: list[dict[str, Any]]


def several_values(value: Any) -> list[Any]:  # noqa: ANN401
    """Return the values of a list of files, records or tables; another value is one.

    A list of dictionaries is one table, and a list of lists has the moments of one query each.
    """
    if isinstance(value, list | tuple) and value and all(map(_is_whole, value)):
        return list(value)
    return [value]


def _is_whole(value: object) -> bool:
    return isinstance(value, str | Path | Annotations | Predictions) or _rows_of_frame(value) is not None


# ---------------------------------------------------------------------------------------------- predictions


def predictions_of(
    value: Any,  # noqa: ANN401
    annotations: Annotations,
    options: PredictionOptions,
    argument: str = "predictions",
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
        raise UsageError(f"{argument}: got annotations, {ORDER}")
    with _rows_named(argument):
        rows = _prediction_rows(value, annotations, argument)
        if not isinstance(rows, PredictionRows):
            raise UsageError("got answers in words, expected moments; files of answers in words are read by their path")
        rows = replace(rows, axis=(options.reading or Reading()).on)
        try:
            predictions, report = match_rows(
                rows, "no file", annotations, on_unknown=options.on_unknown, on_negative=options.on_negative
            )
        except MatchError as error:
            table = _table(value, set(USUAL["duration_s"]), "")
            if table is None or all(name.lower() not in USUAL["duration_s"] for name in table.columns):
                raise  # with durations they are references
            raise MatchError(error.problem, path=error.path, line=error.line, field=error.field, hint=SWAPPED) from None
    return predictions, replace(report, format="record")


def _prediction_rows(value: Any, annotations: Annotations, argument: str) -> Any:  # noqa: ANN401
    table = _table(value, {name for names in PREDICTED.values() for name in names} | {WINDOWS}, argument)
    if table is not None:
        return _rows_by_query(table, argument)
    if isinstance(value, Mapping):
        lists = {str(query_id): moments for query_id, moments in value.items()}
    else:
        ids, given = annotations.queries.query_id.tolist(), _lists(value, argument)
        if len(given) != len(ids):
            raise MatchError(
                f"{argument}: got {len(given):,} lists of moments, expected one a query, {len(ids):,} in the order of "
                "the annotations; a dictionary names their queries"
            )
        lists = dict(zip(ids, given, strict=True))
    rows = [FileRow(query_id, moments=_moments(moments, argument, query_id)) for query_id, moments in lists.items()]
    return as_columns(Path(argument), rows, format="native")


def _rows_by_query(table: ValueTable, argument: str) -> Any:  # noqa: ANN401
    """Return a row a query; rows with a start and an end are moments of the query that they name."""
    meaning = {name: key for key, names in PREDICTED.items() for name in names}
    columns: dict[str, str] = {}
    for name in table.columns:
        if field := meaning.get(name.strip().lower()):
            if field in columns:
                raise InputError(f"got columns {columns[field]} and {name}, expected one of them", path=argument)
            columns[field] = name
    if "moments" not in columns and not {"start", "end"} <= columns.keys():
        if WINDOWS in table.columns:
            raise UsageError(f"{argument}: got references (column {WINDOWS}), {ORDER}")
        missing = "start_s" if "start" not in columns else "end_s"
        names = [name for key in ("start", "end", "moments") for name in PREDICTED[key]]
        hint = one_of_known(next((name for name in table.columns if name.lower() not in meaning), ""), names)
        problem = f"is missing: got {', '.join(table.columns) or 'no columns'}; expected {hint}"
        raise InputError(problem, path=argument, field=missing)
    lines: dict[tuple[str | None, str | None, str | None], int] = {}
    by_query: dict[tuple[str | None, str | None, str | None], list[Moment]] = {}
    moment_lines: dict[tuple[str | None, str | None, str | None], list[int]] = {}
    for line, values in enumerate(table.rows):
        row = {key: values.get(name) for key, name in columns.items()}
        key = _text(row.get("query_id")), _text(row.get("video_id")), _text(row.get("sentence"))
        require_query(Path(argument), line, *key)
        lines.setdefault(key, line)
        if "moments" in row:
            moments = _moments(row["moments"], argument, None, line)
        else:
            names = [name for name in ("start", "end", "score") if name in row]
            moments = [tuple(_number(row[name], argument, line, columns[name]) for name in names)]
        by_query.setdefault(key, []).extend(moments)
        moment_lines.setdefault(key, []).extend([line] * len(moments))
    rows = [FileRow(*key, moments=moments, line=lines[key]) for key, moments in by_query.items()]
    of_moments = [line for key in by_query for line in moment_lines[key]]
    return as_columns(Path(argument), rows, format="native", moment_line=of_moments)


# ---------------------------------------------------------------------------------------------- annotations


def annotations_of(
    value: Any,  # noqa: ANN401
    split: str | None = None,
    how: ReferenceOptions = AS_STATED,
    argument: str = "annotations",
) -> Annotations:
    """Return annotations: the queries of `split` and those without one, or all.

    Raises
    ------
    UsageError
        If the value is none of those above, or is predictions.
    InputError
        If a row is malformed.
    """
    return annotations_from(reference_entries(value, how, argument), split, argument)


def annotations_from(
    entries: Sequence[ReferenceEntry], split: str | None = None, argument: str = "annotations"
) -> Annotations:
    """Return the queries of `split` and those without one, or all, of the entries of a value."""
    with _rows_named(argument):
        return replace(as_annotations(Path(argument), entries, split), dataset="own")


def reference_entries(
    value: Any,  # noqa: ANN401
    how: ReferenceOptions = AS_STATED,
    argument: str = "annotations",
) -> list[ReferenceEntry]:
    """Return the queries of a value that is no record (errors: :func:`annotations_of`)."""
    if isinstance(value, Predictions):
        raise UsageError(f"{argument}: got predictions, {ORDER}")
    table = _table(value, {name for names in USUAL.values() for name in names} | {WINDOWS}, argument)
    if table is None:
        lists = value if isinstance(value, Mapping) else dict(enumerate(_lists(value, argument)))
        moments = {str(query_id): _moments(of_query, argument, str(query_id)) for query_id, of_query in lists.items()}
        entries = [
            ReferenceEntry(query_id, "", [(moment[0], moment[1]) for moment in of_query], query_id=query_id)
            for query_id, of_query in moments.items()
        ]
    else:
        entries = _entries_of_table(table, how, argument)
    return with_given_durations(Path(argument), entries, how)


def _entries_of_table(table: ValueTable, how: ReferenceOptions, argument: str) -> list[ReferenceEntry]:
    for name in table.columns if how.fields is None else ():
        if name.lower() in NO_REFERENCES or name.lower().startswith("pred"):
            raise UsageError(f"{argument}: got predictions (column {name}), {ORDER}")
    fields, path = how.fields, Path(argument)
    if fields is None and WINDOWS in table.columns:
        fields = FieldMap({"moments": Column(WINDOWS)})
    mapped = {} if fields is None else {field: column.name for field, column in fields.columns.items()}
    usual = {
        field: mapped.get(field) or next((name for name in table.columns if name.strip().lower() in USUAL[field]), None)
        for field in ("query_id", "video_id", "sentence")
    }
    columns = list(table.columns)
    if usual["video_id"] is None and usual["query_id"] is not None:
        columns.append("video_id")
        for row in table.rows:
            row["video_id"] = row.get(usual["query_id"])
    if usual["sentence"] is None:
        columns.append("sentence")
        for row in table.rows:
            row["sentence"] = ""
    records = [Record(line, line, row) for line, row in enumerate(table.rows)]
    with _rows_named(argument):
        return entries_of(records, reference_columns(columns, fields, path, None), path)


# --------------------------------------------------------------------------------------------------- shapes


def _rows_of_frame(value: Any) -> Any:  # noqa: ANN401
    """Return what makes the rows of a table of Arrow, polars or pandas; None for another value."""
    if hasattr(value, "to_pylist") and hasattr(value, "column_names"):
        return value.to_pylist
    if hasattr(value, "to_dicts"):
        return value.to_dicts
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return lambda: value.to_dict("records")
    return None


def _table(value: Any, known: set[str], argument: str) -> ValueTable | None:  # noqa: ANN401
    """Return a table, whose columns may have the known names; None if the value is none."""
    if (rows_of_frame := _rows_of_frame(value)) is not None:
        rows = rows_of_frame()
        columns = list(map(str, value.column_names if hasattr(value, "column_names") else value.columns))
    elif isinstance(value, Mapping) and known & {str(name).lower() for name in value}:
        columns = list(map(str, value))
        for name, column in value.items():
            if isinstance(column, str) or not hasattr(column, "__len__"):
                problem = f"got {str(column)[:40]!r}, expected a column (a list of values); a row alone is [row]"
                raise InputError(problem, path=argument, field=str(name))
        lengths = {name: len(column) for name, column in value.items()}
        if len(set(lengths.values())) > 1:
            raise InputError(f"got columns of {lengths} values, expected as many in each", path=argument)
        rows = [dict(zip(value, row, strict=True)) for row in zip(*value.values(), strict=True)]
    elif isinstance(value, list | tuple) and value and isinstance(value[0], Mapping):
        rows = list(value)
        for line, row in enumerate(rows):
            if not isinstance(row, Mapping):
                problem = f"got {type(row).__name__}, expected a dictionary as the other rows"
                raise InputError(problem, path=f"{argument}, row {line}")
        columns = list(dict.fromkeys(str(name) for row in rows for name in row))
    else:
        return None
    return ValueTable(columns, [{str(name): _plain(cell) for name, cell in row.items()} for row in rows])


def _lists(value: Any, argument: str) -> list[Any]:  # noqa: ANN401
    if isinstance(value, np.ndarray | Sequence) and not isinstance(value, str | bytes):
        return list(value)
    raise UsageError(
        f"{argument}: got {type(value).__name__}, expected a path, a record, a table (list of dictionaries, dictionary "
        "of columns, pandas, polars, Arrow), a dictionary of moments by query, or an array"
    )


def _moments(value: Any, argument: str, query_id: str | None, line: int | None = None) -> list[Moment]:  # noqa: ANN401
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
        place = argument if query_id is None else f"{argument}, query {query_id!r}"
        problem = f"got {str(value)[:60]}, expected moments (start_s, end_s) or (start_s, end_s, score)"
        raise InputError(problem, path=place, line=line, field="moments")
    return [tuple(moment) for moment in array.tolist()]


def _plain(cell: Any) -> Any:  # noqa: ANN401
    """Return a cell as JSON has it: None where a table has no value, and lists for arrays."""
    if isinstance(cell, np.ndarray | np.generic):
        cell = cell.tolist()
    if isinstance(cell, list | tuple):
        return [_plain(item) for item in cell]
    missing = type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and math.isnan(cell))
    return None if missing else cell


def _text(value: object) -> str | None:
    """Return a text or number as text; None where a table has no value."""
    return None if value is None or value == "" else str(value)


def _number(value: Any, argument: str, line: int, field: str) -> float:  # noqa: ANN401
    try:
        return float(value)
    except (TypeError, ValueError):
        problem = f"got {'no value' if value is None else repr(str(value)[:40])}, expected a number"
        raise InputError(problem, path=argument, line=line, field=field) from None


@contextmanager
def _rows_named(argument: str) -> Iterator[None]:
    """Name the row of an error, which readers of files call a line."""
    try:
        yield
    except InputError as error:
        if error.line is None:
            raise
        place = f"{argument}, row {error.line}"
        raise type(error)(error.problem, path=place, field=error.field, hint=error.hint) from None
