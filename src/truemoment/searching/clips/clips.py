"""Clips and the sentences that describe them: from annotated moments, each trimmed to its times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.records import Annotations, Queries, Strings, as_strings, numbers_of


@dataclass(frozen=True, eq=False)
class Clips:
    """Clips of videos, and the texts that describe them.

    Parameters
    ----------
    clip_id, video_id : (N,)
        Names of the clips, and the videos they are from.
    start_s, end_s, duration_s : (N,)
        Times of each clip in its video, and the duration of the video; NaN where they are unknown.
    text_id, sentence : (T,)
        The texts.
    clip_of : (T,)
        The clip of each text, as a row of the clips.
    """

    clip_id: Strings
    video_id: Strings
    start_s: Floats
    end_s: Floats
    duration_s: Floats
    text_id: Strings
    sentence: Strings
    clip_of: Ints

    def __len__(self) -> int:
        return len(self.clip_id)

    @property
    def n_texts(self) -> int:
        """Number of texts."""
        return len(self.text_id)

    def queries(self) -> Queries:
        """Return the texts as queries on the videos of their clips."""
        return Queries(self.text_id, self.video_id[self.clip_of], self.duration_s[self.clip_of], self.sentence)

    @property
    def n_same_text(self) -> int:
        """Number of texts whose sentence is also that of another clip."""
        sentence, clips = numbers_of(self.sentence), self.clip_of
        pairs = np.unique(np.stack([sentence, clips]), axis=1)
        copies = np.bincount(pairs[0], minlength=int(sentence.max(initial=-1)) + 1)
        return int((copies[sentence] > 1).sum())

    @property
    def overlapping(self) -> Bools:
        """Whether a clip overlaps another clip of its video with an IoU above 0.5, (N,)."""
        overlapping = np.zeros(len(self), dtype=bool)
        video = numbers_of(self.video_id)
        order = np.lexsort((self.start_s, video))
        start, end, video_of = self.start_s[order], self.end_s[order], video[order]
        for shift in range(1, len(self)):  # clips of a video in order of start; few follow before one ends
            near = (video_of[shift:] == video_of[:-shift]) & (start[shift:] < end[:-shift])
            if not near.any():
                break
            union = np.maximum(end[shift:], end[:-shift]) - start[:-shift]
            shared = np.minimum(end[shift:], end[:-shift]) - start[shift:]
            same = near & (shared > 0.5 * union)
            overlapping[order[shift:][same]] = overlapping[order[:-shift][same]] = True
        return overlapping


def clips_of(annotations: Annotations, margin_s: float = 0.0) -> Clips:
    """Return a clip for each distinct first moment, trimmed to it plus a margin on each side.

    Queries about one moment are texts of one clip, which is called by the first of them (:func:`clip_name`). Queries
    without a moment are left out. A margin does not reach beyond the video.

    Raises
    ------
    InputError
        If no query has a moment, or a moment ends before it starts.
    """
    if not margin_s >= 0:
        raise UsageError(f"--margin-s: got {margin_s:g}, expected seconds of 0 or more")
    known = annotations.with_moments()
    if not known.n_queries:
        raise InputError(f"{annotations.dataset}/{annotations.split}: found no moment, expected one for each clip")
    first = known.offsets[:-1]
    start_s, end_s, queries = known.start_s[first], known.end_s[first], known.queries
    if (backwards := np.flatnonzero(~(end_s > start_s))).size:
        q = int(backwards[0])
        raise InputError(
            f"query {queries.query_id[q]!r}: found a moment from {start_s[q]:g} to {end_s[q]:g} s, expected an end "
            "after the start"
        )
    text, clip_of = _distinct(np.stack([numbers_of(queries.video_id), start_s, end_s]))
    names = [
        clip_name(own_id(q), video) for q, video in zip(queries.query_id[text], queries.video_id[text], strict=True)
    ]
    duration_s = queries.duration_s[text]
    return Clips(
        clip_id=as_strings(names, "clip_id"),
        video_id=queries.video_id[text],
        start_s=np.maximum(start_s[text] - margin_s, 0.0),
        end_s=np.fmin(end_s[text] + margin_s, np.where(duration_s > 0, duration_s, np.inf)),
        duration_s=duration_s,
        text_id=queries.query_id,
        sentence=queries.sentence,
        clip_of=clip_of,
    )


def clip_name(query_id: str, video_id: str) -> str:
    """Return the name of a query's clip: the id without ``#K``, unless that is the whole video.

    Examples
    --------
    >>> clip_name("1001_Film_00.00.10.000-00.00.12.500#1", "1001_Film"), clip_name("v#1", "v")
    ('1001_Film_00.00.10.000-00.00.12.500', 'v#1')
    """
    name, mark, _ = query_id.rpartition("#")
    return name if mark and name != video_id else query_id


def own_id(query_id: str) -> str:
    """Return the id of a query in its own source, which for several sources is ``SOURCE/ID``.

    Examples
    --------
    >>> own_id("mad/17"), own_id("17")
    ('17', '17')
    """
    return query_id.partition("/")[2] or query_id


def _distinct(columns: Floats) -> tuple[Ints, Ints]:
    """Return the first place of each distinct column, in order, and the number of each column among them."""
    _, first, number = np.unique(columns, axis=1, return_index=True, return_inverse=True)
    order = np.argsort(first)
    new = np.empty_like(order)
    new[order] = np.arange(len(order))
    return first[order], np.asarray(new[number.ravel()])
