"""Your own annotations: JSON Lines, one query per line.

::

    {"query_id": "v1#0", "video_id": "v1", "duration_s": 30.5, "sentence": "a door opens",
     "moments": [[2.0, 5.0]], "annotators": ["ann"], "split": "test"}

`query_id` (default ``VIDEO#K``), `annotators` (one name per moment), `split` (a line without one belongs to all) and
`duration_s` (unknown) are optional. ``"moments": []`` states that the video has no such moment.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import msgspec

from truemoment.base.boundary.files import read_json_lines, write_json_lines
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.boundary.text import as_text
from truemoment.base.errors import InputError
from truemoment.base.known_names import one_of_known
from truemoment.base.records import Annotations, Seconds
from truemoment.data.datasets.answer_file import is_answers, read_answers
from truemoment.data.datasets.base import numbered


class OwnQuery(msgspec.Struct, forbid_unknown_fields=True):
    """A line of the file.

    Without moments, the video has no such moment. The query id is unique in the file; None is ``VIDEO#K``. There is one
    annotator per moment, or one for no moment; None or empty if unknown. A line without a split belongs to all splits.
    """

    video_id: str
    sentence: str
    moments: list[tuple[Seconds, Seconds]]
    query_id: str | int | None = None
    duration_s: Seconds | None = None
    annotators: list[str] | None = None
    split: str | None = None


def read(path: Path | str, split: str | None = None) -> Annotations:
    """Read your own annotations: the lines of `split` and those without one; None reads all lines.

    A file of answers (``truemoment annotate export``) is read as the moments that people marked.
    """
    path = Path(path)
    if is_answers(path):
        return read_answers(path).annotations()
    entries = list(read_json_lines(path, OwnQuery))
    named = all(entry.query_id is not None for _, entry in entries)
    ids = [str(entry.query_id) for _, entry in entries] if named else numbered(entry.video_id for _, entry in entries)
    line_of: dict[str, int] = {}
    rows: list[tuple[str, str, float, str, float, float, str]] = []
    for query_id, (line, entry) in zip(ids, entries, strict=True):
        if split is not None and entry.split not in (None, split):
            continue
        own_id = query_id if entry.query_id is None else str(entry.query_id)
        if own_id in line_of:
            raise InputError(
                f"got {own_id!r} again, expected each query once (first in line {line_of[own_id]})",
                path=path,
                line=line,
                field="query_id",
            )
        line_of[own_id] = line
        moments = entry.moments or [(math.nan, math.nan)]
        annotators = entry.annotators or [""] * len(moments)
        if len(annotators) != len(moments):
            raise InputError(
                f"got {len(annotators)} names for {len(entry.moments)} moments, expected as many",
                path=path,
                line=line,
                field="annotators",
            )
        duration_s = math.nan if entry.duration_s is None else entry.duration_s
        rows.extend(
            (own_id, entry.video_id, duration_s, entry.sentence, start_s, end_s, annotator)
            for (start_s, end_s), annotator in zip(moments, annotators, strict=True)
        )
    if not rows:
        names = sorted({str(entry.split) for _, entry in entries if entry.split is not None})
        problem = "has no queries" + (f" of split {split!r}" if split else "")
        raise InputError(problem, path=path, hint=f"expected {one_of_known(split or '', names)}" if names else None)
    return Annotations.from_rows(rows, dataset=as_text(path.name), split=split or "all")


def splits_of(path: Path) -> set[str]:
    """Return the names of the splits in a file."""
    if is_answers(path):
        return set()
    return {entry.split for _, entry in read_json_lines(path, OwnQuery) if entry.split is not None}


def write(path: AnyPath, splits: Iterable[Annotations]) -> None:
    """Write annotations as :func:`read` reads them; each line names its split."""
    write_json_lines(path, (line for annotations in splits for line in _lines(annotations)))


def _lines(annotations: Annotations) -> Iterator[OwnQuery]:
    columns = (annotations.start_s.tolist(), annotations.end_s.tolist(), annotations.annotator.tolist())
    for low, high in pairwise(annotations.offsets.tolist()):
        start_s, end_s, annotators = (column[low:high] for column in columns)
        duration_s = float(annotations.duration_s[low])
        yield OwnQuery(
            query_id=annotations.query_id[low],
            video_id=annotations.video_id[low],
            duration_s=None if math.isnan(duration_s) else duration_s,
            sentence=annotations.sentence[low],
            moments=[] if math.isnan(start_s[0]) else list(zip(start_s, end_s, strict=True)),
            annotators=annotators if any(annotators) else None,
            split=annotations.split,
        )
