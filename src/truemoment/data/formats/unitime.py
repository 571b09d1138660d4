"""UniTime's JSON: a list with an entry per query, as its ``inference.py`` writes it.

``[{"qid": 7, "id": VIDEO, "annos": [{"query": ..., "window": ...}], "duration": ..., "pred_relevant_windows": [[start,
end], ...]}]``. `annos` contains the reference; only its sentence is read. Moments may have a score. ``[[-1, -1]]``
means that the model's answer had no number: it counts as failed. Numbers in `qid` are of UniTime's own annotation
files, so rows may be matched by video and sentence. `vid` and `query` in the entry itself, as in moment_detr's lines,
are read too. Source: Lzq5/UniTime, ``inference.py`` and ``eval_metrics.py``.
"""

from __future__ import annotations

import msgspec

from truemoment.data.formats.base import Format
from truemoment.data.formats.entries import whole_id
from truemoment.data.formats.head import Head
from truemoment.data.formats.rows import FileRow, document_writer, each_entry, reader

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


def _recognise(head: Head) -> str | None:
    if head.is_list and "pred_relevant_windows" in head.entry_keys:
        return 'it is a list of entries with "pred_relevant_windows"'
    return None


def _row(entry: UniTimeEntry) -> FileRow:
    video_id = entry.id if entry.vid is None else entry.vid
    sentence = entry.annos[0].query if entry.query is None and len(entry.annos) == 1 else entry.query
    if entry.pred_relevant_windows == NOTHING_FOUND:
        return FileRow(str(entry.qid), video_id, sentence, status="failed")
    return FileRow(str(entry.qid), video_id, sentence, entry.pred_relevant_windows)


def _entry(row: FileRow) -> dict[str, object]:
    return {
        "qid": whole_id(row.query_id),
        "id": row.video_id,
        "annos": None if row.sentence is None else [{"query": row.sentence}],
        "pred_relevant_windows": row.moments,
    }


FORMAT = Format(
    "unitime",
    "UniTime JSON (qid, annos, pred_relevant_windows)",
    _recognise,
    reader(each_entry(UniTimeEntry, _row), field="pred_relevant_windows"),
    document_writer(_entry),
    loses=frozenset({"ratings", "statuses", "ids"}),
    numbers_queries=True,
    needs=frozenset({"qid", "annos", "pred_relevant_windows"}),
)
