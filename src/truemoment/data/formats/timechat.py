"""Answers of TimeChat and VTG-LLM as JSON: ``{ID: {"timestamp": [[start, end]], "query": ..., "vid": ...}}``.

`timestamp` has the moments that were read from the model's answer, in seconds, ranked; an empty list means that none
was found: it counts as failed. The ids number the queries of TimeChat's own annotation files, so rows may be matched by
video and sentence. Source: RenShuhuai-Andy/TimeChat, ``evaluate.py`` (task tvg) and ``metrics/tvg/eval_tvg.py``.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from truemoment.base.boundary.files import read_json_mapping
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.records import Status
from truemoment.data.formats.base import Format
from truemoment.data.formats.head import has_paths
from truemoment.data.formats.rows import FileRow, reader


class TimeChatEntry(msgspec.Struct):
    """The value of an id."""

    timestamp: list[tuple[float, ...]]
    query: str | None = None
    vid: str | None = None


def _rows(path: AnyPath, _progress: bool) -> Iterator[FileRow]:
    for query_id, entry in read_json_mapping(path, TimeChatEntry).items():
        status: Status | None = None if entry.timestamp else "failed"
        yield FileRow(query_id, entry.vid, entry.query, entry.timestamp, status=status, within=f"{query_id}.")


FORMAT = Format(
    "timechat",
    "TimeChat and VTG-LLM JSON ({ID: {timestamp, query, vid}})",
    has_paths('its values have "timestamp" and "query"', ("*", "timestamp"), ("*", "query")),
    reader(_rows, field="timestamp"),
    numbers_queries=True,
    needs=frozenset({"timestamp", "query", "vid"}),
)
