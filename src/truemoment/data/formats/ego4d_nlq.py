"""JSON of the Ego4D Natural Language Queries challenge.

``{"version": "1.0", "challenge": "ego4d_nlq_challenge", "results": [{"clip_uid": ..., "annotation_uid": ...,
"query_idx": 0, "predicted_times": [[start, end], ...]}]}``. Times are seconds within the clip, which is the video here.
A query is the `query_idx`-th of an annotation; its id is ``ANNOTATION_UID_QUERY_IDX``, as CONE, RGNet and the
challenge's own 2D-TAN join the two. Sources: EGO4D/episodic-memory, ``NLQ/VSLNet/utils/evaluate_ego4d_nlq.py`` and
``NLQ/2D-TAN/lib/datasets/ego4d_clip.py``; houzhijian/CONE, ``data/reformat_data.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

import msgspec

from truemoment.base.boundary.files import DATA_BYTES, read_json
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.data.formats.base import Format
from truemoment.data.formats.cone import ranked
from truemoment.data.formats.head import has_paths
from truemoment.data.formats.rows import FileRow, document_writer, reader

_ID = re.compile(r"(?P<annotation>.+)_(?P<index>0|[1-9]\d{0,8})", re.ASCII | re.DOTALL)


class NlqResult(msgspec.Struct):
    """An answer to one query."""

    annotation_uid: str
    query_idx: Annotated[int, msgspec.Meta(ge=0)]
    predicted_times: list[tuple[float, ...]]
    clip_uid: str | None = None


class NlqSubmission(msgspec.Struct):
    """The whole file."""

    results: list[NlqResult]


def _rows(path: AnyPath, _progress: bool) -> Iterator[FileRow]:
    for entry in read_json(path, NlqSubmission, most=DATA_BYTES).results:
        yield FileRow(
            f"{entry.annotation_uid}_{entry.query_idx}", entry.clip_uid, moments=ranked(entry.predicted_times)
        )


def _result(row: FileRow) -> dict[str, object]:
    parts = _ID.fullmatch(row.query_id or "")
    if parts is None or row.video_id is None:
        came = f"query id {row.query_id!r}" if parts is None else f"query {row.query_id!r} without its clip"
        expected = "expected an id ANNOTATION_NUMBER, and a video, which is the clip"
        raise InputError(f"format {FORMAT.name} cannot represent {came}, {expected}")
    about = {"clip_uid": row.video_id, "annotation_uid": parts["annotation"], "query_idx": int(parts["index"])}
    return {**about, "predicted_times": row.moments}


FORMAT = Format(
    "ego4d-nlq",
    "JSON of the Ego4D NLQ challenge (annotation_uid, query_idx, predicted_times)",
    has_paths(
        'its "results" have "annotation_uid" and "predicted_times"',
        ("results", "[]", "predicted_times"),
        ("results", "[]", "annotation_uid"),
    ),
    reader(_rows, field="predicted_times", within="results"),
    document_writer(_result, within="results", version="1.0", challenge="ego4d_nlq_challenge"),
    loses=frozenset({"ratings", "statuses", "ids", "abstentions"}),
    needs=frozenset({"results", "annotation_uid", "query_idx", "predicted_times"}),
)
