"""Locations of moments within their videos, with the groups that every test of bias has to keep together.

Sentences about the same moment are not independent, and neither are the moments of one video. So each location has the
numbers of its query, its video and its distinct moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truemoment.base.intervals import TIE, Floats, Ints
from truemoment.base.records import Annotations, numbers_of
from truemoment.baselines.base import locations as locations_of


@dataclass(frozen=True, eq=False)
class Locations:
    """Reference moments as shares of their videos.

    Parameters
    ----------
    start_end_norm : (N, 2)
        Fractions of the video, within [0, 1], the end after the start.
    query : (N,)
        Index of the query in the annotations.
    video : (N,)
        Number of the video, from 0 to V - 1.
    moment : (N,)
        Number of the distinct moment (video, start, end), from 0 to M - 1; several sentences or annotators can share
        one.
    duration_s : (N,)
        Duration of the video, in seconds; None if unknown.

    Examples
    --------
    >>> from truemoment import Annotations
    >>> rows = [("v#0", "v", 20.0, "a door opens", 0.0, 5.0), ("v#1", "v", 20.0, "the door moves", 0.0, 5.0)]
    >>> locations = Locations.of(Annotations.from_rows(rows))
    >>> locations.start_end_norm.tolist(), locations.moment.tolist()
    ([[0.0, 0.25], [0.0, 0.25]], [0, 0])
    """

    start_end_norm: Floats
    query: Ints
    video: Ints
    moment: Ints
    duration_s: Floats | None = None

    @classmethod
    def of(cls, annotations: Annotations) -> Locations:
        """Return the locations of annotations, within their videos (:func:`truemoment.baselines.base.locations`).

        Rows without a known duration, without a moment, or with none within the video are left out. An InputError means
        that nothing is left.
        """
        start_end_norm, row = locations_of(annotations)
        query_of_row = annotations.query_of_row
        video = numbers_of(annotations.video_id[row])
        as_annotated = np.column_stack([video, annotations.start_s[row], annotations.end_s[row]])
        moment = np.unique(as_annotated, axis=0, return_inverse=True)[1].reshape(-1)
        return cls(start_end_norm, query_of_row[row], video, moment, annotations.duration_s[row])

    def __len__(self) -> int:
        return len(self.start_end_norm)

    @property
    def n_videos(self) -> int:
        """Number of videos."""
        return int(self.video.max()) + 1

    @property
    def multiplicity(self) -> Ints:
        """Number of locations of each distinct moment, shape (M,)."""
        return np.bincount(self.moment)


def length_shares(locations: Locations, over: Sequence[float] = (0.3, 0.5, 0.7)) -> Floats:
    """Return the share of the moments longer than each of T shares of their video, (T,) (Closer Look, Fig. 3)."""
    length = np.diff(locations.start_end_norm, axis=1)
    return np.asarray((length > np.asarray(over, dtype=np.float64) + TIE).mean(axis=0))
