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

import msgspec

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.data.formats.base import Format, Moments
from truemoment.data.formats.head import Head
from truemoment.data.formats.rows import FileRow, as_id, each_entry, reader


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


def _recognise(head: Head) -> str | None:
    keys = head.entry_keys
    return 'its entries have "pred" and "conf"' if {"pred", "conf"} <= keys and keys & {"vid", "video_path"} else None


def _row(entry: VideoMindEntry) -> FileRow:
    """Return an entry as a row, with scores if it has confidences; filler is no answer."""
    video_id = entry.video_path if entry.vid is None else entry.vid
    sentence = entry.question if entry.query is None else entry.query
    if entry.qid is None and (video_id is None or sentence is None):
        raise InputError("is missing, expected it or qid", field="vid" if video_id is None else "query")
    if entry.conf is not None and len(entry.conf) != len(entry.pred):
        raise InputError(f"got {len(entry.conf)} for {len(entry.pred)} moments, expected one each", field="conf")
    if entry.grounder_success is False:
        return FileRow(as_id(entry.qid), video_id, sentence, status="failed")
    moments: Moments = entry.pred
    if entry.conf is not None:
        moments = [(*moment, score) for moment, score in zip(entry.pred, entry.conf, strict=True)]
    return FileRow(as_id(entry.qid), video_id, sentence, moments)


def _rows(path: AnyPath, progress: bool) -> list[FileRow]:
    """Return the rows, without scores unless those of every list fall."""
    rows = list(each_entry(VideoMindEntry, _row)(path, progress))
    if all(_falls(row) for row in rows):
        return rows
    return [row._replace(moments=[moment[:2] for moment in row.moments]) for row in rows]


def _falls(row: FileRow) -> bool:
    """Whether a row has scores, and they fall."""
    scores = [moment[2] for moment in row.moments if len(moment) == 3]
    return len(scores) == len(row.moments) and all(score >= following for score, following in pairwise(scores))


FORMAT = Format(
    "videomind",
    "VideoMind JSON (vid, query, pred, conf)",
    _recognise,
    reader(_rows, field="pred"),
    numbers_queries=True,
    needs=frozenset({"vid", "query", "pred", "conf"}),
)
