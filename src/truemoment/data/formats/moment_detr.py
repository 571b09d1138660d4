"""moment_detr JSON Lines, also written by lighthouse, UniVTG, R2-Tuning and others.

A line per query: ``qid``, ``query``, ``vid``, ``pred_relevant_windows`` [[start, end, score], ...] in seconds and, for
highlights, ``pred_saliency_scores``, one number per clip. It is also what QVHighlights' server takes, where a `qid` is
a whole number. Either every line has clip ratings or none has. A file of highlights has ratings and no windows: its
queries have no moments.
"""

from __future__ import annotations

import msgspec

from truemoment.base.errors import InputError
from truemoment.data.formats.base import Format
from truemoment.data.formats.entries import whole_id
from truemoment.data.formats.head import Head
from truemoment.data.formats.rows import FileRow, each_entry, lines_writer, reader


class MomentDetrLine(msgspec.Struct):
    """A line of the file."""

    qid: str | int
    pred_relevant_windows: list[tuple[float, ...]] | msgspec.UnsetType = msgspec.UNSET
    vid: str | None = None
    query: str | None = None
    pred_saliency_scores: list[float] | None = None


def _row(line: MomentDetrLine) -> FileRow:
    windows = line.pred_relevant_windows
    if windows is msgspec.UNSET:
        if line.pred_saliency_scores is None:
            raise InputError("is missing", field="pred_relevant_windows")
        windows = []
    return FileRow(str(line.qid), line.vid, line.query, windows, saliency=line.pred_saliency_scores)


def _recognise(head: Head) -> str | None:
    windows, ratings = "pred_relevant_windows", "pred_saliency_scores"
    if windows in head.line_keys:
        return f'its first line has "{windows}"'
    return f'its entries have "{ratings}"' if ratings in head.entry_keys and windows not in head.entry_keys else None


def _line(row: FileRow) -> dict[str, object]:
    return {
        "qid": whole_id(row.query_id),
        "query": row.sentence,
        "vid": row.video_id,
        "pred_relevant_windows": row.moments,
        "pred_saliency_scores": row.saliency,
    }


FORMAT = Format(
    "moment-detr",
    "moment_detr JSON Lines (qid, pred_relevant_windows), QVHighlights submissions",
    _recognise,
    reader(each_entry(MomentDetrLine, _row), field="pred_relevant_windows"),
    lines_writer(_line),
    loses=frozenset({"statuses", "ids"}),
    numbers_queries=True,
    needs=frozenset({"qid", "vid", "query", "pred_relevant_windows"}),
)
