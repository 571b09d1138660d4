"""JSON of the Ego4D Natural Language Queries challenge.

``{"version": "1.0", "challenge": "ego4d_nlq_challenge", "results": [{"clip_uid": ..., "annotation_uid": ...,
"query_idx": 0, "predicted_times": [[start, end], ...]}]}``. Times are seconds within the clip, which is the video here.
A query is the `query_idx`-th of an annotation; its id is ``ANNOTATION_UID_QUERY_IDX``, as CONE, RGNet and the
challenge's own 2D-TAN join the two. Sources: EGO4D/episodic-memory, ``NLQ/VSLNet/utils/evaluate_ego4d_nlq.py`` and
``NLQ/2D-TAN/lib/datasets/ego4d_clip.py``; houzhijian/CONE, ``data/reformat_data.py``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import msgspec

from truemoment.exceptions import InputError
from truemoment.files import read_json
from truemoment.io.base import Format, PredictionRows, listed
from truemoment.io.cone import ranked
from truemoment.io.head import Head
from truemoment.io.rows import FileRow, prediction_rows, write_document

CHALLENGE = "ego4d_nlq_challenge"
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


def recognise(head: Head) -> str | None:
    """Return why a file looks like a submission to Ego4D's challenge."""
    at = ("results", "[]")
    if head.kind_at(*at, "predicted_times") and head.kind_at(*at, "annotation_uid"):
        return 'its "results" have "annotation_uid" and "predicted_times"'
    return None


def read(path: Path, progress: bool = False) -> PredictionRows:
    """Read the file."""
    del progress  # read in one piece
    rows = [
        FileRow(None, f"{of.annotation_uid}_{of.query_idx}", of.clip_uid, moments=ranked(of.predicted_times))
        for of in read_json(path, NlqSubmission).results
    ]
    return prediction_rows(path, FORMAT.name, rows, field="predicted_times", within="results")


def write(path: Path, rows: PredictionRows) -> None:
    """Write the file."""
    results: list[dict[str, object]] = []
    for query_id, video_id, moments in zip(rows.query_id, rows.video_id, listed(rows), strict=True):
        parts = _ID.fullmatch(query_id or "")
        if parts is None or video_id is None:
            came = f"query id {query_id!r}" if parts is None else f"query {query_id!r} without its clip"
            expected = "expected an id ANNOTATION_NUMBER, and a video, which is the clip"
            raise InputError(f"format {FORMAT.name} cannot hold {came}, {expected}", path=path)
        about = {"clip_uid": video_id, "annotation_uid": parts["annotation"], "query_idx": int(parts["index"])}
        results.append({**about, "predicted_times": moments})
    write_document(path, {"version": "1.0", "challenge": CHALLENGE, "results": results})


FORMAT = Format(
    "ego4d-nlq",
    "JSON of the Ego4D NLQ challenge (annotation_uid, query_idx, predicted_times)",
    recognise,
    read,
    write,
    loses=frozenset({"ratings", "statuses", "ids", "abstentions"}),
)
