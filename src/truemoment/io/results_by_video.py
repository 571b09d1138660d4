"""results-by-video JSON of Hao et al. 2022 and QAVE: one answer a sentence, listed under its video.

``{"version": ..., "results": {VIDEO: [{"sentence": ..., "timestamp": [start, end], "score": ...,
"gt_timestamp": ..., "video_duration": ...}]}}``. The reference inside the file is not used: the
annotations' are.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from truemoment.exceptions import InputError
from truemoment.files import atomic_write, decode_entries, decode_json, read_bytes, refuse_repeated_keys
from truemoment.io.base import Format, PredictionRows, flatten, listed
from truemoment.io.head import Head


class Answer(msgspec.Struct):
    """An answer to one sentence."""

    sentence: str
    timestamp: tuple[float, float]
    score: float | msgspec.UnsetType = msgspec.UNSET


class File(msgspec.Struct):
    """The whole file."""

    results: dict[str, msgspec.Raw]


def recognise(head: Head) -> str | None:
    """Say why a file looks like results by video."""
    if head.is_object and head.kind_at("results", "*", "[]", "timestamp"):
        return 'it has "results" with "timestamp"'
    return None


def read(path: Path, progress: bool = False) -> PredictionRows:
    """Read the file."""
    del progress  # read in one piece
    data = read_bytes(path)
    refuse_repeated_keys(data, path)
    raw = decode_json(data, File, path=path).results
    answers_by_video = decode_entries(raw, list[Answer], data=data, path=path, within="results")
    entries = [(video_id, answer) for video_id, answers in answers_by_video.items() for answer in answers]
    if not entries:
        raise InputError("holds no answer", path=path, field="results")
    return PredictionRows(
        path,
        FORMAT.name,
        None,
        [None] * len(entries),
        [video_id for video_id, _ in entries],
        [answer.sentence for _, answer in entries],
        *flatten(path, None, [[_moment(answer)] for _, answer in entries]),
    )


def _moment(answer: Answer) -> tuple[float, ...]:
    return answer.timestamp if answer.score is msgspec.UNSET else (*answer.timestamp, answer.score)


def write(path: Path, rows: PredictionRows) -> None:
    """Write the file, complete or not at all."""
    results: dict[str, list[dict[str, object]]] = {}
    for video_id, sentence, (moment, *_) in zip(rows.video_id, rows.sentence, listed(rows), strict=True):
        answer: dict[str, object] = {"sentence": sentence, "timestamp": moment[:2]}
        results.setdefault(video_id or "", []).append(answer | ({"score": moment[2]} if rows.scored else {}))
    with atomic_write(path) as stream:
        stream.write(msgspec.json.encode({"version": "1.0", "results": results}) + b"\n")


FORMAT = Format(
    "results-by-video",
    "JSON of results by video (sentence, timestamp, score)",
    recognise,
    read,
    write,
    loses=frozenset({"ratings", "statuses", "abstentions", "several moments", "videos and sentences"}),
)
