"""The form of QVHighlights, in which many sets circulate.

A line has ``qid``, ``query``, ``vid``, ``duration``, ``relevant_windows``, and perhaps ratings of clips. In a file of
queries without references, such as the test split of QVHighlights as it was released first, no line has windows. Moment
of Untruth writes ``"relevant_windows": [[0, 0]], "saliency_scores": [[]]`` for a query whose video has no such moment
(keflanagan/MomentofUntruth at ac2adcd, UniVTG-NA/negative_aware_results.py lines 35-36).
"""

from __future__ import annotations

import math

import msgspec

from truemoment.base.boundary.files import write_json_lines
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.base.records import Annotations, Seconds
from truemoment.data.datasets.entries import ClipRatings, ReferenceEntry
from truemoment.data.datasets.qvhighlights import CLIP_LENGTH_S, refuse_wrong_ratings
from truemoment.data.formats.entries import read_entries, whole_id
from truemoment.data.formats.head import Head
from truemoment.data.references.base import ReferenceForm, ReferenceOptions
from truemoment.data.references.queries import queries_of


class WindowsLine(msgspec.Struct):
    """A line of the file."""

    query: str
    vid: str
    relevant_windows: list[tuple[Seconds, Seconds]] | msgspec.UnsetType = msgspec.UNSET
    qid: int | str | None = None
    duration: Seconds | None = None
    relevant_clip_ids: list[int] | None = None
    saliency_scores: list[list[int]] | None = None


QUERY = frozenset({"qid", "query", "vid", "duration"})
"""Keys of a line of a file without references."""


def _recognise(head: Head) -> str | None:
    if {"query", "vid", "relevant_windows"} <= head.entry_keys:
        return 'its lines have "relevant_windows"'
    return 'its lines have "qid", "query", "vid" and "duration" alone' if head.entry_keys == QUERY else None


def _read(path: AnyPath, _: ReferenceOptions) -> list[ReferenceEntry]:
    entries: list[ReferenceEntry] = []
    has_windows: bool | None = None
    for line, entry in read_entries(path, WindowsLine):
        windows = entry.relevant_windows
        if has_windows is None:
            has_windows = windows is not msgspec.UNSET
        if windows is msgspec.UNSET and has_windows:
            raise InputError("is missing", path=path, line=line, field="relevant_windows")
        duration_s = math.nan if entry.duration is None else entry.duration
        ratings = None
        if windows == [(0, 0)] and entry.saliency_scores == [[]]:
            windows = []
        elif entry.saliency_scores:
            clips = entry.relevant_clip_ids or []
            wrong = next((at for at, ratings in enumerate(entry.saliency_scores) if len(ratings) != 3), None)
            if wrong is not None:
                problem = "expected a list of length 3"
                raise InputError(problem, path=path, line=line, field=f"saliency_scores[{wrong}]")
            refuse_wrong_ratings(clips, entry.saliency_scores, duration_s, path, line)
            ratings = ClipRatings(clips, entry.saliency_scores, CLIP_LENGTH_S)
        query_id = None if entry.qid is None else str(entry.qid)
        about = (entry.vid, entry.query, windows or [], duration_s, query_id)
        entries.append(ReferenceEntry(*about, ratings=ratings, line=line))
    return entries


def _write(path: AnyPath, annotations: Annotations) -> None:
    lines = []
    for query in queries_of(annotations):
        line: dict[str, object] = {"qid": whole_id(query.query_id), "query": query.sentence, "vid": query.video_id}
        if not math.isnan(query.duration_s):
            line["duration"] = query.duration_s
        line["relevant_windows"] = query.moments
        if query.ratings is not None:
            line |= {"relevant_clip_ids": query.ratings.clip, "saliency_scores": query.ratings.rating}
        lines.append(line)
    write_json_lines(path, lines)


FORM = ReferenceForm(
    "qvhighlights",
    "JSON Lines of qid, query, vid, duration and relevant_windows",
    _recognise,
    _read,
    _write,
    frozenset({"ids", "durations", "ratings", "several moments", "no moment"}),
)
