"""VideoMind's JSON: a list of entries with ``pred`` [[start, end], ...] and ``conf`` [confidence, ...].

The list of moments is ranked, also after the verifier has re-ordered it; the confidences are the grounder's. They are
read as scores if they fall along every list, else the order is the rank. `span` is the reference and is not used. The
video is `vid`, else the file's name in `video_path`; the sentence is `query`, else `question`. An entry without `pred`
was answered without grounding: no answer. If no answer could be read (`grounder_success` false) VideoMind writes
filler, the whole video or five equal windows; here such an entry counts as failed. Source: yeliudev/VideoMind,
``videomind/eval/infer_auto.py`` and ``eval_auto.py``.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import msgspec

from truemoment.exceptions import InputError
from truemoment.io.base import Format, PredictionRows
from truemoment.io.entries import read_entries
from truemoment.io.head import Head
from truemoment.io.rows import FileRow, prediction_rows


class VideoMindEntry(msgspec.Struct):
    """An entry of the list."""

    pred: list[tuple[float, float]] = msgspec.field(default_factory=list)
    conf: list[float] | None = None
    qid: str | int | None = None
    vid: str | None = None
    video_path: str | None = None
    query: str | None = None
    question: str | None = None
    grounder_success: bool | None = None


def recognise(head: Head) -> str | None:
    """Return why a file looks like VideoMind's."""
    keys = head.entry_keys
    if {"pred", "conf"} <= keys and keys & {"vid", "video_path"}:
        return 'its entries have "pred" and "conf"'
    return None


def read(path: Path, progress: bool = False) -> PredictionRows:
    """Read the file."""
    rows: list[FileRow] = []
    scores: list[list[float] | None] = []
    for line, entry in read_entries(path, VideoMindEntry, progress=progress):
        rows.append(_row(entry, path, line))
        scores.append(entry.conf)
    if all(score is not None and _falls(score) for row, score in zip(rows, scores, strict=True) if row.moments):
        rows = [
            row._replace(moments=[(*moment, s) for moment, s in zip(row.moments, score or (), strict=False)])
            for row, score in zip(rows, scores, strict=True)
        ]
    status = [row.status for row in rows] if any(row.status == "failed" for row in rows) else None
    return prediction_rows(path, FORMAT.name, rows, field="pred", status=status)


def _row(entry: VideoMindEntry, path: Path, line: int) -> FileRow:
    """Return an entry as a row; filler, where no answer could be read, is no answer."""
    video_id = entry.video_path if entry.vid is None else entry.vid
    sentence = entry.question if entry.query is None else entry.query
    if entry.qid is None and (video_id is None or sentence is None):
        absent = "vid" if video_id is None else "query"
        raise InputError("is missing, expected it or qid", path=path, line=line, field=absent)
    if entry.conf is not None and len(entry.conf) != len(entry.pred):
        came = f"got {len(entry.conf)} for {len(entry.pred)} moments, expected one each"
        raise InputError(came, path=path, line=line, field="conf")
    query_id = None if entry.qid is None else str(entry.qid)
    if entry.grounder_success is False:
        return FileRow(line, query_id, video_id, sentence, status="failed")
    return FileRow(line, query_id, video_id, sentence, entry.pred, status="parsed" if entry.pred else "no answer")


def _falls(scores: list[float]) -> bool:
    return all(score >= following for score, following in pairwise(scores))


FORMAT = Format(
    "videomind",
    "VideoMind JSON (vid, query, pred, conf)",
    recognise,
    read,
    videos="files",
    numbers_queries=True,
)
