"""Targets that models learn: the values of a map of candidate moments for a reference."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from truemoment.base.intervals import Bools, Floats, temporal_iou
from truemoment.base.records import Annotations
from truemoment.baselines.proposals import SparseMap

BLOCK_ROWS = 4096


def usable(annotations: Annotations) -> Bools:
    """Return the rows from which a model can learn: a known duration and a moment inside it, not empty; (N,)."""
    start = np.maximum(annotations.start_s, 0)
    end = np.minimum(annotations.end_s, annotations.duration_s)
    with np.errstate(invalid="ignore"):
        return np.asarray((end > start) & (annotations.duration_s > 0))


def moment_shares(annotations: Annotations) -> npt.NDArray[np.float32]:
    """Return start and end of each reference as shares of its video, clipped to it; NaN if it is empty then; (N, 2)."""
    ends = np.stack([np.maximum(annotations.start_s, 0), np.minimum(annotations.end_s, annotations.duration_s)], axis=1)
    with np.errstate(invalid="ignore"):
        ends[~(ends[:, 1] > ends[:, 0])] = np.nan
    return (ends / annotations.duration_s[:, None]).astype(np.float32)


def moments_of_queries(annotations: Annotations) -> npt.NDArray[np.float32]:
    """Return the usable references of each query as shares of its video, NaN after the last; (Q, M, 2), M 1 or more.

    Examples
    --------
    >>> rows = [("v#0", "v", 10.0, "a", 0.0, 5.0), ("v#0", "v", 10.0, "a", 5.0, 5.0), ("v#0", "v", 10.0, "a", 6.0, 9.0)]
    >>> moments_of_queries(Annotations.from_rows(rows)).tolist()
    [[[0.0, 0.5], [0.6000000238418579, 0.8999999761581421]]]
    """
    rows = usable(annotations)
    query = annotations.query_of_row[rows]
    counts = np.bincount(query, minlength=annotations.n_queries)
    place = np.arange(len(query)) - np.repeat(np.cumsum(counts) - counts, counts)
    moments = np.full((annotations.n_queries, max(1, int(counts.max(initial=0))), 2), np.nan, dtype=np.float32)
    moments[query, place] = moment_shares(annotations)[rows]
    return moments


def clip_ratings(annotations: Annotations, n_clips: int) -> npt.NDArray[np.float32]:
    """Return the sums of the ratings of the first clips of each query, NaN where nobody rated a clip; (Q, T)."""
    sums = np.full((annotations.n_queries, n_clips), np.nan, dtype=np.float32)
    saliency = annotations.saliency
    if saliency is not None:
        query = np.repeat(np.arange(annotations.n_queries), np.diff(saliency.offsets))
        inside = saliency.clip < n_clips
        sums[query[inside], saliency.clip[inside]] = saliency.rating[inside].sum(axis=1)
    return sums


def cell_ious(annotations: Annotations, proposals: SparseMap) -> npt.NDArray[np.float32]:
    """Return the IoU of each candidate with each reference clipped to its video; shape (N, C).

    Candidates are shares of the video, so that references are divided by its duration.
    """
    first, last = proposals.cells
    start: Floats = np.maximum(annotations.start_s, 0) / annotations.duration_s
    end: Floats = np.minimum(annotations.end_s, annotations.duration_s) / annotations.duration_s
    ious = np.empty((len(start), len(first)), dtype=np.float32)
    for low in range(0, len(start), BLOCK_ROWS):
        rows = slice(low, low + BLOCK_ROWS)
        ious[rows] = temporal_iou(
            first[None] / proposals.n_clips, (last[None] + 1) / proposals.n_clips, start[rows, None], end[rows, None]
        )
    return ious
