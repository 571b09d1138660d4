"""JSON of the ActivityNet challenges, the label in place of the query.

``{"version": ..., "results": {VIDEO: [{"label": SENTENCE, "segment": [start, end], "score": ...}]}, "external_data":
{}}``. The segments of one label are one ranked list, wherever they stand. A video is named without the ``v_`` that
ActivityNet Captions puts before it; ids are read and written as they are, and found with ``v_`` where the annotations
know them so. Source: activitynet/ActivityNet, ``Evaluation/eval_detection.py``.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from truemoment.exceptions import InputError
from truemoment.files import atomic_write, decode_entries, decode_json, read_bytes, refuse_repeated_keys
from truemoment.io.base import Format, PredictionRows, flatten, listed
from truemoment.io.head import Head


class Segment(msgspec.Struct):
    """A predicted segment."""

    label: str
    segment: tuple[float, float]
    score: float | msgspec.UnsetType = msgspec.UNSET


class File(msgspec.Struct):
    """The whole file."""

    results: dict[str, msgspec.Raw]


def recognise(head: Head) -> str | None:
    """Say why a file looks like a submission to ActivityNet's challenge."""
    at = ("results", "*", "[]")
    if head.is_object and head.kind_at(*at, "segment") and head.kind_at(*at, "label"):
        return 'it has "results" with "segment" and "label"'
    return None


def read(path: Path, progress: bool = False) -> PredictionRows:
    """Read the file."""
    del progress  # read in one piece
    data = read_bytes(path)
    refuse_repeated_keys(data, path)
    raw = decode_json(data, File, path=path).results
    lists: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    for video_id, segments in decode_entries(raw, list[Segment], data=data, path=path, within="results").items():
        for found in segments:
            moment = found.segment if found.score is msgspec.UNSET else (*found.segment, found.score)
            lists.setdefault((video_id, found.label), []).append(moment)
    if not lists:
        raise InputError("holds no segment", path=path, field="results")
    return PredictionRows(
        path,
        FORMAT.name,
        None,
        [None] * len(lists),
        [video_id for video_id, _ in lists],
        [label for _, label in lists],
        *flatten(path, None, list(lists.values()), field="segment"),
        moments_field="segment",
    )


def write(path: Path, rows: PredictionRows) -> None:
    """Write the file, complete or not at all."""
    results: dict[str, list[dict[str, object]]] = {}
    for video_id, sentence, moments in zip(rows.video_id, rows.sentence, listed(rows), strict=True):
        for moment in moments:
            segment: dict[str, object] = {"label": sentence, "segment": moment[:2]}
            results.setdefault(video_id or "", []).append(segment | ({"score": moment[2]} if rows.scored else {}))
    with atomic_write(path) as stream:
        stream.write(msgspec.json.encode({"version": "VERSION 1.3", "results": results, "external_data": {}}) + b"\n")


FORMAT = Format(
    "activitynet-challenge",
    "JSON of the ActivityNet challenges (results: label, segment, score)",
    recognise,
    read,
    write,
    loses=frozenset({"ratings", "statuses", "abstentions", "videos and sentences", "repeated sentences"}),
    videos="without v_",
)
