"""UniTime's JSON: a list with an entry per query, as its ``inference.py`` writes it.

``[{"qid": 7, "id": VIDEO, "annos": [{"query": ..., "window": ...}], "duration": ..., "pred_relevant_windows": [[start,
end], ...]}]``. `annos` contains the reference, of which only the sentence is read; moments may have a score. ``[[-1,
-1]]`` means that the model's answer had no number: it counts as failed. Numbers in `qid` are of UniTime's own
annotation files, so rows may be matched by video and sentence. `vid` and `query` in the entry itself, as in
moment_detr's lines, are read too. Source: Lzq5/UniTime, ``inference.py`` and ``eval_metrics.py``.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from truemoment.io.base import Format, PredictionRows, listed
from truemoment.io.entries import read_entries, whole_id
from truemoment.io.head import Head
from truemoment.io.rows import FileRow, prediction_rows, write_document

NOTHING_FOUND = [(-1.0, -1.0)]


class UniTimeQuery(msgspec.Struct):
    """The query of an entry."""

    query: str | None = None


class UniTimeEntry(msgspec.Struct):
    """An entry of the list."""

    qid: str | int
    pred_relevant_windows: list[tuple[float, ...]]
    id: str | None = None
    annos: list[UniTimeQuery] = msgspec.field(default_factory=list)
    vid: str | None = None
    query: str | None = None


def recognise(head: Head) -> str | None:
    """Return why a file looks like UniTime's."""
    if head.is_list and "pred_relevant_windows" in head.entry_keys:
        return 'it is a list of entries with "pred_relevant_windows"'
    return None


def read(path: Path, progress: bool = False) -> PredictionRows:
    """Read the file."""
    rows = [_row(line, entry) for line, entry in read_entries(path, UniTimeEntry, progress=progress)]
    status = [row.status for row in rows] if any(row.status == "failed" for row in rows) else None
    return prediction_rows(path, FORMAT.name, rows, field="pred_relevant_windows", status=status)


def _row(line: int, entry: UniTimeEntry) -> FileRow:
    video_id = entry.id if entry.vid is None else entry.vid
    sentence = entry.annos[0].query if entry.query is None and len(entry.annos) == 1 else entry.query
    if entry.pred_relevant_windows == NOTHING_FOUND:
        return FileRow(line, str(entry.qid), video_id, sentence, status="failed")
    moments = entry.pred_relevant_windows
    return FileRow(line, str(entry.qid), video_id, sentence, moments, status="parsed" if moments else "no answer")


def write(path: Path, rows: PredictionRows) -> None:
    """Write the file."""
    entries: list[dict[str, object]] = []
    columns = zip(rows.query_id, rows.video_id, rows.sentence, listed(rows), strict=True)
    for query_id, video_id, sentence, moments in columns:
        about = {"id": video_id, "annos": None if sentence is None else [{"query": sentence}]}
        entry: dict[str, object] = {"qid": whole_id(query_id or "")}
        entry |= {name: value for name, value in about.items() if value is not None}
        entries.append(entry | {"pred_relevant_windows": moments})
    write_document(path, entries)


FORMAT = Format(
    "unitime",
    "UniTime JSON (qid, annos, pred_relevant_windows)",
    recognise,
    read,
    write,
    loses=frozenset({"ratings", "statuses", "ids"}),
    numbers_queries=True,
)
