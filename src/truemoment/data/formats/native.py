"""Native JSON Lines: an optional first line about the file, then a line per query.

::

    {"truemoment": 1, "dataset": "charades-cd", "split": "test-ood", "annotations_sha256": "..."}
    {"query_id": "YSKX3#0", "video_id": "YSKX3", "moments": [[2.5, 7.0, 0.91], [0.0, 4.0, 0.4]]}

`sentence` is optional and checked. Moments are [start_s, end_s, score] or [start_s, end_s]; an empty list is an
abstention, unless a `status` states that an answer in words could not be read. `saliency` has a rating for each clip of
the video; all lines have it, or none. The first line may have `made_by`, an object that describes how the file was
made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import msgspec
import numpy as np

from truemoment.base.boundary.files import decode_json, iterate_json_lines
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.base.records import Status
from truemoment.data.formats.base import Format, MomentColumns, PredictionRows, checked_statuses, flatten
from truemoment.data.formats.head import Head
from truemoment.data.formats.rows import as_id, rating_columns, require_query, write_lines, written_rows

VERSION = 1
LINES_AT_A_TIME = 1000
ANNOTATED = {"duration_s", "annotators", "split"}
"""Keys of annotations of your own (:mod:`truemoment.data.datasets.own`), whose moments are no predictions."""


class NativeHeader(msgspec.Struct):
    """The first line, if it is about the file."""

    truemoment: int
    dataset: str | None = None
    split: str | None = None
    annotations_sha256: str | None = None
    made_by: dict[str, Any] | None = None


class ScoredNativeLine(msgspec.Struct):
    """A line of scored moments, the commonest and the fastest to read."""

    moments: list[tuple[float, float, float]]
    query_id: str | int | None = None
    video_id: str | None = None
    sentence: str | None = None
    status: Status | None = None
    saliency: list[float] | None = None


class NativeLine(msgspec.Struct):
    """A line whose moments may have no scores."""

    moments: list[tuple[float, ...]]
    query_id: str | int | None = None
    video_id: str | None = None
    sentence: str | None = None
    status: Status | None = None
    saliency: list[float] | None = None


def _recognise(head: Head) -> str | None:
    keys = head.line_keys
    if "truemoment" in keys:
        return 'its first line says "truemoment"'
    return 'its first line has "moments"' if "moments" in keys and not keys & ANNOTATED else None


def _read(path: AnyPath, progress: bool) -> PredictionRows:
    """Read a native file; its moments become columns block by block, so that few lists are in memory at a time."""
    quick = msgspec.json.Decoder(ScoredNativeLine)
    header: dict[str, object] = {}
    numbers: list[int] = []
    entries: list[ScoredNativeLine | NativeLine] = []
    blocks: list[MomentColumns] = []
    for number, line in iterate_json_lines(path, progress=progress):
        entry: ScoredNativeLine | NativeLine
        try:
            entry = quick.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            if not numbers and not header and b'"truemoment"' in line:
                header = read_header(line, path, number)
                continue
            entry = decode_json(line, NativeLine, path=path, line=number)
        require_query(path, number, entry.query_id, entry.video_id, entry.sentence)
        numbers.append(number)
        entries.append(entry)
        if len(entries) % LINES_AT_A_TIME == 0:
            blocks.append(_flattened(path, numbers[-LINES_AT_A_TIME:], entries[-LINES_AT_A_TIME:]))
    if not numbers and not header:
        raise InputError("has no predictions", path=path)
    rest = len(numbers) // LINES_AT_A_TIME * LINES_AT_A_TIME
    moments = _join([*blocks, _flattened(path, numbers[rest:], entries[rest:])])
    return PredictionRows(
        path,
        numbers,
        [as_id(entry.query_id) for entry in entries],
        [entry.video_id for entry in entries],
        [entry.sentence for entry in entries],
        *moments,
        status=checked_statuses([entry.status for entry in entries], moments[0], path, numbers),
        header=header,
        **(rating_columns([entry.saliency for entry in entries], path, numbers, "saliency") if entries else {}),
    )


def _flattened(path: AnyPath, numbers: list[int], entries: Sequence[ScoredNativeLine | NativeLine]) -> MomentColumns:
    """Return the moments of some lines as columns, and drop their lists."""
    columns = flatten(path, numbers, [entry.moments for entry in entries], field="moments")
    for entry in entries:
        entry.moments = []
    return columns


def _join(blocks: list[MomentColumns]) -> MomentColumns:
    """Concatenate blocks of lists."""
    lengths = np.concatenate([np.diff(offsets) for offsets, *_ in blocks])
    start, end, score = (np.concatenate([block[at] for block in blocks]) for at in (1, 2, 3))
    return np.append(0, np.cumsum(lengths)), start, end, score, any(scored for *_, scored in blocks)


def read_header(line: bytes, path: AnyPath, number: int | None = None) -> dict[str, object]:
    """Read the first line; another version is refused."""
    header = decode_json(line, NativeHeader, path=path, line=number or 1)
    if header.truemoment != VERSION:
        raise InputError(
            f"got version {header.truemoment}, expected {VERSION}", path=path, line=number, field="truemoment"
        )
    return {name: value for name, value in msgspec.structs.asdict(header).items() if value is not None}


def _write(path: AnyPath, rows: PredictionRows) -> None:
    lines: Iterator[dict[str, object]] = (
        {
            "query_id": row.query_id,
            "video_id": row.video_id,
            "sentence": row.sentence,
            "moments": row.moments,
            "status": row.status,
            "saliency": row.saliency,
        }
        for row in written_rows(rows)
    )
    write_lines(path, chain([{"truemoment": VERSION, **rows.header}], lines))


FORMAT = Format(
    "native",
    "native JSON Lines, a line a query",
    _recognise,
    _read,
    _write,
    loses=frozenset(),
    needs=frozenset({"query_id", "moments"}),
)
