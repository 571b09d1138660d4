"""CSV: a row a moment, rows of one query ranked by score or, without scores, in file order.

Headings in use differ; these are understood, in any case and order: ``query_id`` or ``qid``;
``video_id``, ``video`` or ``vid``; ``sentence``, ``query`` or ``description``; ``start_s``, ``start`` or
``start_time``; ``end_s``, ``end`` or ``end_time``; ``score`` or ``confidence``. Times are seconds.
"""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any

from truemoment.exceptions import InputError
from truemoment.files import atomic_write, read_number, read_text
from truemoment.io.base import Format, PredictionRows, flatten
from truemoment.records import Annotations, Predictions

HEADINGS = {
    "query_id": ("query_id", "qid"),
    "video_id": ("video_id", "video", "vid"),
    "sentence": ("sentence", "query", "description"),
    "start": ("start_s", "start", "start_time"),
    "end": ("end_s", "end", "end_time"),
    "score": ("score", "confidence"),
}
Reader = Any  # csv.reader gives a type of its own that has no public name
Key = tuple[str | None, str | None, str | None]


def recognise(path: Path, head: bytes) -> str | None:
    """Say why a file looks like CSV."""
    first = head.split(b"\n", 1)[0].decode("utf-8", "replace")
    try:
        columns = set(_columns(next(csv.reader([first]), [])))
    except csv.Error:
        return None
    except ValueError:
        columns = {"start", "end"}  # told when it is read
    if not first.lstrip().startswith(("{", "[")) and {"start", "end"} <= columns:
        return f"its headings are {first.strip()[:60]}"
    return "its name ends in .csv" if path.suffix == ".csv" else None


def read(path: Path, progress: bool = False) -> PredictionRows:
    """Read the file; a query's rows need not stand together.

    Raises
    ------
    MissingFileError
        If there is no such file.
    InputError
        Naming the line and heading at fault; also if there is no row.
    """
    del progress  # read in one piece
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    try:
        return _read_rows(path, reader)
    except csv.Error as error:
        raise InputError(f"{error}, expected CSV", path=path, line=reader.line_num) from None


def _read_rows(path: Path, reader: Reader) -> PredictionRows:
    header: list[str] = next(reader, [])
    try:
        columns = _columns(header)
    except ValueError as error:
        raise InputError(str(error), path=path, line=1) from None
    missing = {"start", "end"} - set(columns)
    if missing or not ("query_id" in columns or {"video_id", "sentence"} <= set(columns)):
        raise InputError(
            f"got headings {', '.join(header)[:80] or 'none'}, expected start, end, query_id (or video_id, sentence)",
            path=path,
            line=1,
        )
    lines: dict[Key, list[int]] = {}
    moments: dict[Key, list[tuple[float, ...]]] = {}
    for row in reader:
        if not row:
            continue
        line = reader.line_num
        if len(row) != len(header):
            raise InputError(f"got {len(row)} values, expected {len(header)} as in the headings", path=path, line=line)
        fields = {name: row[at] for name, at in columns.items()}
        key = (fields.get("query_id") or None, fields.get("video_id"), fields.get("sentence"))
        if key[0] is None and not (key[1] and key[2]):
            raise InputError("is missing, expected it or video_id and sentence", path=path, line=line, field="query_id")
        numbers = tuple(_number(fields[name], name, path, line) for name in ("start", "end", "score") if name in fields)
        lines.setdefault(key, []).append(line)
        moments.setdefault(key, []).append(numbers)
    if not lines:
        raise InputError("holds no row below its headings", path=path)
    first = [of_query[0] for of_query in lines.values()]
    return PredictionRows(
        path,
        FORMAT.name,
        first,
        [query_id for query_id, _, _ in lines],
        [video_id for _, video_id, _ in lines],
        [sentence for _, _, sentence in lines],
        *flatten(path, first, list(moments.values())),
        moment_line=[line for of_query in lines.values() for line in of_query],
        moments_field="",
    )


def _columns(header: list[str]) -> dict[str, int]:
    """Column of each meaning.

    Raises
    ------
    ValueError
        If two headings have one meaning: which was meant would be a guess.
    """
    columns: dict[str, int] = {}
    for at, heading in enumerate(header):
        for meaning, names in HEADINGS.items():
            if heading.strip().lower() in names:
                if meaning in columns:
                    raise ValueError(f"got headings {header[columns[meaning]]} and {heading}, expected one of them")
                columns[meaning] = at
    return columns


def _number(text: str, field: str, path: Path, line: int) -> float:
    value = read_number(text)
    if math.isnan(value):
        raise InputError(f"got {text[:40]!r}, expected a number", path=path, line=line, field=field)
    return value


def write(path: Path, predictions: Predictions, annotations: Annotations) -> None:
    """Write a CSV file, complete or not at all.

    Raises
    ------
    InputError
        If a query is answered with no moment or is not among the annotations, neither of which CSV can
        hold, or the file cannot be made.
    """
    empty = predictions.query_id[predictions.lengths == 0]
    if len(empty):
        raise InputError(f"CSV cannot hold an abstention ({empty[0]!r}); write native or parquet", path=path)
    row_of = annotations.queries.index
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["query_id", "video_id", "sentence", "start_s", "end_s", "score"])
    columns = (predictions.start_s.tolist(), predictions.end_s.tolist(), predictions.score.tolist())
    offsets = predictions.offsets.tolist()
    for query_id, low, high in zip(predictions.query_id, offsets, offsets[1:], strict=False):
        row = row_of[query_id]
        about = (query_id, annotations.queries.video_id[row], annotations.queries.sentence[row])
        writer.writerows((*about, *(column[at] for column in columns)) for at in range(low, high))
    with atomic_write(path) as stream:
        stream.write(text.getvalue().encode("utf-8"))


FORMAT = Format(
    "csv", "CSV, a row a moment (query_id or video_id and sentence, start, end, score)", recognise, read, write
)
