"""Native JSON Lines: an optional first line about the file, then a line per query.

::

    {"truemoment": 1, "dataset": "charades-cd", "split": "test-ood", "annotations_sha256": "..."}
    {"query_id": "YSKX3#0", "video_id": "YSKX3", "moments": [[2.5, 7.0, 0.91], [0.0, 4.0, 0.4]]}

`sentence` is optional and checked. Moments are [start_s, end_s, score] or [start_s, end_s]; an empty list is an
abstention, unless a `status` states that an answer in words could not be read. The first line may have `made_by`, an
object that describes how the file was made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from truemoment.exceptions import InputError
from truemoment.files import decode_json, iterate_json_lines
from truemoment.io.base import Format, Moments, PredictionRows, checked_statuses, flatten, join, listed
from truemoment.io.head import Head
from truemoment.io.rows import write_lines
from truemoment.records import Status

VERSION = 1
LINES_AT_A_TIME = 1000
ANNOTATED = {"duration_s", "annotators", "split"}
"""Keys of annotations of your own (:mod:`truemoment.datasets.own`), whose moments are no predictions."""


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


class NativeLine(msgspec.Struct):
    """A line whose moments may have no scores."""

    moments: list[tuple[float, ...]]
    query_id: str | int | None = None
    video_id: str | None = None
    sentence: str | None = None
    status: Status | None = None


def recognise(head: Head) -> str | None:
    """Say why a file looks native."""
    keys = head.line_keys
    if "truemoment" in keys:
        return 'its first line says "truemoment"'
    return 'its first line has "moments"' if "moments" in keys and not keys & ANNOTATED else None


def read(path: Path, progress: bool = False) -> PredictionRows:
    """Read a native file; a faulty line refuses all of it."""
    quick = msgspec.json.Decoder(ScoredNativeLine)
    header: dict[str, object] = {}
    numbers: list[int] = []
    ids: list[str | None] = []
    videos: list[str | None] = []
    sentences: list[str | None] = []
    statuses: list[Status | None] = []
    blocks: list[Moments] = []
    waiting: list[Sequence[Sequence[float]]] = []
    for number, line in iterate_json_lines(path, progress=progress):
        entry: ScoredNativeLine | NativeLine
        try:
            entry = quick.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            if not numbers and not header and b'"truemoment"' in line:
                header = read_header(line, path, number)
                continue
            entry = decode_json(line, NativeLine, path=path, line=number)
        if entry.query_id is None and (entry.video_id is None or entry.sentence is None):
            raise InputError(
                "is missing, expected it or video_id and sentence", path=path, line=number, field="query_id"
            )
        numbers.append(number)
        ids.append(None if entry.query_id is None else str(entry.query_id))
        videos.append(entry.video_id)
        sentences.append(entry.sentence)
        statuses.append(entry.status)
        waiting.append(entry.moments)
        if len(waiting) == LINES_AT_A_TIME:
            blocks.append(flatten(path, numbers[-len(waiting) :], waiting))
            waiting = []
    if not numbers and not header:
        raise InputError("has no predictions", path=path)
    blocks.append(flatten(path, numbers[len(numbers) - len(waiting) :], waiting))
    moments = join(blocks)
    return PredictionRows(
        path,
        FORMAT.name,
        numbers,
        ids,
        videos,
        sentences,
        *moments,
        status=checked_statuses(statuses, moments[0], path, numbers),
        header=header,
    )


def read_header(line: bytes, path: Path, number: int | None = None) -> dict[str, object]:
    """Read the first line; another version is refused."""
    header = decode_json(line, NativeHeader, path=path, line=number or 1)
    if header.truemoment != VERSION:
        raise InputError(
            f"got version {header.truemoment}, expected {VERSION}", path=path, line=number, field="truemoment"
        )
    return {name: value for name, value in msgspec.structs.asdict(header).items() if value is not None}


def write(path: Path, rows: PredictionRows) -> None:
    """Write a native file."""
    status: Sequence[Status | None] = rows.status or [None] * len(rows)
    columns = zip(rows.query_id, rows.video_id, rows.sentence, listed(rows), status, strict=True)
    names = ("query_id", "video_id", "sentence", "moments", "status")
    lines: Iterator[dict[str, object]] = (dict(zip(names, values, strict=True)) for values in columns)
    write_lines(path, chain([{"truemoment": VERSION, **rows.header}], lines))


FORMAT = Format("native", "native JSON Lines, a line a query", recognise, read, write, loses=frozenset({"ratings"}))
