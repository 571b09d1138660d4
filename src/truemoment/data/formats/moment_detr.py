"""moment_detr JSON Lines, also written by lighthouse, UniVTG, R2-Tuning and others.

A line per query: ``qid``, ``query``, ``vid``, ``pred_relevant_windows`` [[start, end, score], ...] in seconds and, for
highlights, ``pred_saliency_scores``, one number per clip. It is also what QVHighlights' server takes, where a `qid` is
a whole number. Either every line has clip ratings or none has.
"""

from __future__ import annotations

import msgspec

from truemoment.base.boundary.files import read_json_lines
from truemoment.data.formats.base import Format
from truemoment.data.formats.entries import whole_id
from truemoment.data.formats.head import first_line_has
from truemoment.data.formats.rows import FileRow, each_entry, lines_writer, reader


class MomentDetrLine(msgspec.Struct):
    """A line of the file."""

    qid: str | int
    pred_relevant_windows: list[tuple[float, ...]]
    vid: str | None = None
    query: str | None = None
    pred_saliency_scores: list[float] | None = None


def _row(line: MomentDetrLine) -> FileRow:
    return FileRow(str(line.qid), line.vid, line.query, line.pred_relevant_windows, saliency=line.pred_saliency_scores)


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
    first_line_has("pred_relevant_windows"),
    reader(each_entry(MomentDetrLine, _row, read_json_lines), field="pred_relevant_windows"),
    lines_writer(_line),
    loses=frozenset({"statuses", "ids"}),
    numbers_queries=True,
    needs=frozenset({"qid", "vid", "query", "pred_relevant_windows"}),
)
