"""JSON of TVR submissions: ``{"video2idx": {VIDEO: NUMBER}, "SVMR": [{"desc_id", "desc", "predictions"}, ...]}``.

A prediction is [number of the video, start, end, score]. Only the task SVMR is read, moments in the video of the query;
VCMR and VR search a corpus. Sources: jayleicn/TVRetrieval, ``standalone_eval`` (also of mTVR, HERO and VALUE).
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from truemoment.base.boundary.files import DATA_BYTES, read_json
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.data.formats.base import Format
from truemoment.data.formats.head import has_paths
from truemoment.data.formats.rows import FileRow, reader


class TvrQuery(msgspec.Struct):
    """The answers to one query."""

    desc_id: str | int
    predictions: list[tuple[int, float, float, float]]
    desc: str | None = None


class TvrSubmission(msgspec.Struct):
    """The whole file."""

    video2idx: dict[str, int]
    svmr: list[TvrQuery] | None = msgspec.field(default=None, name="SVMR")


def _rows(path: AnyPath, _progress: bool) -> Iterator[FileRow]:
    file = read_json(path, TvrSubmission, most=DATA_BYTES)
    if file.svmr is None:
        hint = "VCMR and VR rank videos too; write the moments of the query's own video (SVMR)"
        raise InputError("is missing", path=path, field="SVMR", hint=hint)
    video_of = {number: video_id for video_id, number in file.video2idx.items()}
    for at, query in enumerate(file.svmr):
        videos = {moment[0] for moment in query.predictions}
        if len(videos) > 1 or not videos <= video_of.keys():
            problem = f"got videos {sorted(videos)}, expected one video of video2idx"
            raise InputError(problem, path=path, field=f"SVMR[{at}].predictions")
        video_id = video_of[videos.pop()] if videos else None
        yield FileRow(str(query.desc_id), video_id, query.desc, [moment[1:] for moment in query.predictions])


FORMAT = Format(
    "tvr",
    "JSON of TVR submissions, the task SVMR (video2idx, desc_id, predictions)",
    has_paths('it has "video2idx" and "desc_id"', ("video2idx",), ("*", "[]", "desc_id")),
    reader(_rows, field="predictions", within="SVMR"),
    needs=frozenset({"video2idx", "SVMR", "desc_id", "predictions"}),
)
