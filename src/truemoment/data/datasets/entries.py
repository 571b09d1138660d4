"""Entries of a file of references, and the annotations that they make."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.boundary.text import as_text
from truemoment.base.errors import InputError
from truemoment.base.known_names import one_of_known
from truemoment.base.records import Annotations, Saliency
from truemoment.data.datasets.base import numbered

Moment = tuple[float, float]


class ClipRatings(NamedTuple):
    """Ratings of clips of a video: numbers of the clips, and the ratings of each by every annotator."""

    clip: Sequence[int]
    rating: Sequence[Sequence[int]]
    clip_length_s: float


class ReferenceEntry(NamedTuple):
    """A query of a file with its reference moments.

    Parameters
    ----------
    video_id, sentence, moments
        The query; without moments, the video has no such moment.
    duration_s
        Duration of the video; NaN if the file does not state it.
    query_id
        None for ``VIDEO#K``.
    annotators
        One per moment, or one for no moment; empty if unknown.
    split
        None if the entry belongs to all splits.
    ratings
        Ratings of clips, or None.
    line
        Its line in the file, for messages.
    """

    video_id: str
    sentence: str
    moments: Sequence[Moment]
    duration_s: float = math.nan
    query_id: str | None = None
    annotators: Sequence[str] = ()
    split: str | None = None
    ratings: ClipRatings | None = None
    line: int | None = None


def as_annotations(path: AnyPath, entries: Iterable[ReferenceEntry], split: str | None) -> Annotations:
    """Return the entries of `split` and those without one as annotations; None takes all."""
    entries = list(entries)
    named = all(entry.query_id is not None for entry in entries)
    ids = numbered(entry.video_id for entry in entries) if not named else [""] * len(entries)
    line_of: dict[str, int | None] = {}
    rows: list[tuple[str, str, float, str, float, float, str]] = []
    rated: list[ClipRatings | None] = []
    for made_id, entry in zip(ids, entries, strict=True):
        if split is not None and entry.split not in (None, split):
            continue
        query_id = made_id if entry.query_id is None else entry.query_id
        if query_id in line_of:
            first = "" if line_of[query_id] is None else f" (first in line {line_of[query_id]})"
            problem = f"got {query_id!r} again, expected each query once{first}"
            raise InputError(problem, path=path, line=entry.line, field="query_id")
        line_of[query_id] = entry.line
        moments = entry.moments or [(math.nan, math.nan)]
        annotators = entry.annotators or [""] * len(moments)
        rows.extend(
            (query_id, entry.video_id, entry.duration_s, entry.sentence, *moment, annotator)
            for moment, annotator in zip(moments, annotators, strict=True)
        )
        rated.append(entry.ratings)
    if not rows:
        names = sorted({entry.split for entry in entries if entry.split is not None})
        problem = "has no queries" + (f" of split {split!r}" if split else "")
        raise InputError(problem, path=path, hint=f"expected {one_of_known(split or '', names)}" if names else None)
    annotations = Annotations.from_rows(rows, dataset=as_text(path.name), split=split or "all")
    return dataclasses.replace(annotations, saliency=_saliency(rated))


def _saliency(rated: Sequence[ClipRatings | None]) -> Saliency | None:
    """Return the ratings of all queries as columns; None if no query has any."""
    filled = [ratings for ratings in rated if ratings is not None and len(ratings.clip)]
    if not filled:
        return None
    offsets = np.cumsum([0, *(0 if ratings is None else len(ratings.clip) for ratings in rated)])
    clip = np.concatenate([np.asarray(ratings.clip, dtype=np.int64) for ratings in filled])
    rating = np.concatenate([np.asarray(ratings.rating, dtype=np.int64) for ratings in filled])
    return Saliency(offsets, clip, rating, filled[0].clip_length_s)


def splits_in(entries: Iterable[ReferenceEntry]) -> set[str]:
    """Return the names of the splits of entries."""
    return {entry.split for entry in entries if entry.split is not None}


def with_durations(entries: Sequence[ReferenceEntry], durations: Mapping[str, float]) -> list[ReferenceEntry]:
    """Return the entries, those without a duration with that of their video."""
    return [
        entry._replace(duration_s=durations.get(entry.video_id, math.nan)) if math.isnan(entry.duration_s) else entry
        for entry in entries
    ]


def without_duration(entries: Iterable[ReferenceEntry]) -> list[str]:
    """Return the videos whose duration the entries do not state."""
    return list(dict.fromkeys(entry.video_id for entry in entries if math.isnan(entry.duration_s)))
