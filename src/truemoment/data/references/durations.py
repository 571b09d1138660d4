"""Durations of videos from a file: CSV, JSON or JSON Lines of ``video_id`` and ``duration_s``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from truemoment.base.boundary.files import read_json_mapping, read_number
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.base.records import MAX_TIME_S, Seconds
from truemoment.data.formats.entries import first_line
from truemoment.data.formats.records import Record, read_objects, read_table
from truemoment.data.references.records import USUAL

VIDEO = (*USUAL["video_id"], "id")
DURATION = (*USUAL["duration_s"], "length")
"""Usual names of the two columns; those of the lists of Charades are the last."""


class TimedEntry(msgspec.Struct):
    """What a file of annotations by video states about each."""

    duration: Seconds


def read_durations(path: AnyPath) -> dict[str, float]:
    """Return durations in seconds by video."""
    start = first_line(path)
    has_columns = any(b'"%s"' % name in start for name in (b"video_id", b"video", b"vid"))
    if start.startswith(b"{") and not has_columns:
        by_video = read_json_mapping(path, Seconds | TimedEntry)  # type: ignore[arg-type]  # a type to msgspec
        durations = {
            name: entry.duration if isinstance(entry, TimedEntry) else entry for name, entry in by_video.items()
        }
    elif start.startswith((b"{", b"[")):
        durations = _of_records(read_objects(path).records, path)
    else:
        durations = _of_records(read_table(path).records, path)
    if not durations:
        raise InputError("has no durations", path=path)
    wrong = next((name for name, duration_s in durations.items() if not 0 < duration_s <= MAX_TIME_S), None)
    if wrong is not None:
        problem = f"got {durations[wrong]:.10g} for video {wrong!r}, expected seconds above 0"
        raise InputError(problem, path=path, field="duration_s")
    return durations


def _of_records(records: Sequence[Record], path: AnyPath) -> dict[str, float]:
    durations: dict[str, float] = {}
    columns = _columns(records[0].values, path) if records else ("", "")
    for record in records:
        video_id, value = (record.values.get(name) for name in columns)
        duration_s = read_number(str(value).replace(",", ".")) if not isinstance(value, bool) else math.nan
        for name, got, is_wrong, expected in (
            (columns[0], video_id, not (isinstance(video_id, str) and video_id), "text"),
            (columns[1], value, math.isnan(duration_s), "seconds"),
        ):
            if is_wrong:
                raise InputError(f"got {got!r}, expected {expected}", path=path, line=record.line, field=name)
        if durations.setdefault(str(video_id), duration_s) != duration_s:
            problem = f"got {duration_s:g} for video {video_id!r}, which has {durations[str(video_id)]:g} before"
            raise InputError(problem, path=path, line=record.line, field=columns[1])
    return durations


def _columns(values: Mapping[str, Any], path: AnyPath) -> tuple[str, str]:
    """Return the columns of video and duration."""

    def named(usual: Iterable[str]) -> str | None:
        by_lower = {name.strip().lower(): name for name in values}
        return next((by_lower[name] for name in usual if name in by_lower), None)

    video, duration = named(VIDEO), named(DURATION)
    if video is None or duration is None:
        problem = f"got {', '.join(values)[:120] or 'no columns'}, expected video_id and duration_s"
        raise InputError(problem, path=path, line=1)
    return video, duration
