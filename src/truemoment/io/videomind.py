"""VideoMind's JSON: a list of entries with ``pred`` [[start, end], ...] and ``conf`` [confidence, ...].

The list of moments stands by rank, also after the verifier has re-ordered it, and evaluation takes it so; the
confidences are the grounder's. They are read as scores where they fall along every list, else the order is the rank.
`span` is the reference and is not used. The video is `vid`, else the file's name in `video_path`; the sentence is
`query`, else `question`. An entry without `pred` was answered without grounding: no answer. Where no answer could be
read (`grounder_success` false) VideoMind writes filler, the whole video or five equal windows, and evaluates that as an
answer; here such an entry counts as failed, since the model did not say it. Source:
yeliudev/VideoMind, ``videomind/eval/infer_auto.py`` and ``eval_auto.py``.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import msgspec

from truemoment.exceptions import InputError
from truemoment.io.base import Format, PredictionRows, flatten
from truemoment.io.entries import read_entries
from truemoment.io.head import Head
from truemoment.records import Status


class Entry(msgspec.Struct):
    """An entry of the list."""

    pred: list[tuple[float, float]] = msgspec.field(default_factory=list)
    conf: list[float] | None = None
    qid: str | int | None = None
    vid: str | None = None
    video_path: str | None = None
    query: str | None = None
    question: str | None = None
    grounder_success: bool | None = None

    @property
    def video(self) -> str | None:
        """The video, by its id or file."""
        return self.video_path if self.vid is None else self.vid

    @property
    def sentence(self) -> str | None:
        """What was looked for."""
        return self.question if self.query is None else self.query


def recognise(head: Head) -> str | None:
    """Say why a file looks like VideoMind's."""
    keys = head.entry_keys
    if {"pred", "conf"} <= keys and keys & {"vid", "video_path"}:
        return 'its entries have "pred" and "conf"'
    return None


def read(path: Path, progress: bool = False) -> PredictionRows:
    """Read the file."""
    lines: list[int] = []
    entries: list[Entry] = []
    for line, entry in read_entries(path, Entry, progress=progress):
        if entry.qid is None and (entry.video is None or entry.sentence is None):
            absent = "vid" if entry.video is None else "query"
            raise InputError("is missing, expected it or qid", path=path, line=line, field=absent)
        if entry.conf is not None and len(entry.conf) != len(entry.pred):
            came = f"got {len(entry.conf)} for {len(entry.pred)} moments, expected one each"
            raise InputError(came, path=path, line=line, field="conf")
        if entry.grounder_success is False:
            entry = msgspec.structs.replace(entry, pred=[], conf=None)  # noqa: PLW2901 - filler is no answer
        lines.append(line)
        entries.append(entry)
    if not entries:
        raise InputError("holds no entry, expected one a query", path=path)
    falling = all(entry.conf is not None and _falls(entry.conf) for entry in entries if entry.pred)
    moments: list[list[tuple[float, ...]]] = [
        [(*moment, score) for moment, score in zip(entry.pred, entry.conf or (), strict=True)]
        if falling
        else list(entry.pred)
        for entry in entries
    ]
    return PredictionRows(
        path,
        FORMAT.name,
        lines,
        [None if entry.qid is None else str(entry.qid) for entry in entries],
        [entry.video for entry in entries],
        [entry.sentence for entry in entries],
        *flatten(path, lines, moments, field="pred"),
        status=[_status(entry) for entry in entries] if any(e.grounder_success is False for e in entries) else None,
        moments_field="pred",
    )


def _status(entry: Entry) -> Status:
    if entry.grounder_success is False:
        return "failed"
    return "parsed" if entry.pred else "no answer"


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
