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
from truemoment.base.errors import InputError
from truemoment.base.records import Annotations, Seconds
from truemoment.data.datasets.answer_file import is_answers, read_answers
from truemoment.data.datasets.entries import ReferenceEntry, as_annotations


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
    return read_answers(path).annotations() if is_answers(path) else as_annotations(path, entries_of(path), split)


def entries_of(path: AnyPath) -> Iterator[ReferenceEntry]:
    """Yield the lines of a file as entries."""
    for line, query in read_json_lines(path, OwnQuery):
        n_moments = len(query.moments) or 1
        if query.annotators and len(query.annotators) != n_moments:
            raise InputError(
                f"got {len(query.annotators)} names for {len(query.moments)} moments, expected as many",
                path=path,
                line=line,
                field="annotators",
            )
        yield ReferenceEntry(
            query.video_id,
            query.sentence,
            query.moments,
            math.nan if query.duration_s is None else query.duration_s,
            None if query.query_id is None else str(query.query_id),
            query.annotators or (),
            query.split,
            line=line,
        )


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
            split=None if annotations.split == "all" else annotations.split,
        )
