"""Queries to be marked: annotations of which the moments may be missing."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec

from truemoment.base.boundary.files import read_json_lines
from truemoment.base.boundary.text import as_text
from truemoment.base.errors import InputError
from truemoment.base.records import Annotations, Seconds
from truemoment.data.datasets.base import numbered
from truemoment.data.datasets.own import OwnQuery


class QueryLine(OwnQuery, forbid_unknown_fields=True):
    """A line of the file: as annotations, but moments may be missing."""

    moments: list[tuple[Seconds, Seconds]] = msgspec.field(default_factory=list)


def read_queries(path: Path, split: str | None = None) -> Annotations:
    """Read the queries of a JSON Lines file, the lines of `split` and those without one."""
    lines = [
        (number, query)
        for number, query in read_json_lines(path, QueryLine)
        if split in (None, query.split) or not query.split
    ]
    if not lines:
        raise InputError("has no queries", path=path)
    named = all(query.query_id is not None for _, query in lines)
    ids = [str(query.query_id) for _, query in lines] if named else list(numbered(query.video_id for _, query in lines))
    rows: list[tuple[str, str, float, str, float, float, str]] = []
    query_ids: set[str] = set()
    for query_id, (number, query) in zip(ids, lines, strict=True):
        if query_id in query_ids:
            problem = f"got {query_id!r} again, expected each query once"
            raise InputError(problem, path=path, line=number, field="query_id")
        if not query.sentence.strip():
            raise InputError("is empty, expected a sentence", path=path, line=number, field="sentence")
        query_ids.add(query_id)
        duration_s = math.nan if query.duration_s is None else query.duration_s
        moments = query.moments or [(math.nan, math.nan)]
        rows += [(query_id, query.video_id, duration_s, query.sentence, start, end, "") for start, end in moments]
    return Annotations.from_rows(rows, dataset=as_text(path.name), split=split or "all")
