"""From scored moments to ranked moments in seconds: one rule for every model."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from truemoment.base.intervals import TIE, Floats, Ints, temporal_iou
from truemoment.base.records import Predictions, Strings

BLOCK_QUERIES = 1024


@dataclass(frozen=True, eq=False)
class ScoredMoments:
    """Candidate moments of Q queries with scores.

    Parameters
    ----------
    start, end : (C,) or (Q, C)
        Shares of the video; of one row where all queries have the same candidates.
    score : (Q, C) float32
        Higher is better; -inf where a query has no such candidate.
    rating : (Q, T) float32 or None
        Ratings of the clips of each video, NaN after the last; None for a model that rates none.
    """

    start: Floats
    end: Floats
    score: npt.NDArray[np.float32]
    rating: npt.NDArray[np.float32] | None = None

    def clipped(self) -> ScoredMoments:
        """Return the moments clipped to their videos; one that ends before its start is empty."""
        start = np.clip(self.start, 0.0, 1.0)
        return dataclasses.replace(self, start=start, end=np.maximum(np.clip(self.end, 0.0, 1.0), start))

    def ends_of(self, rows: slice) -> tuple[Floats, Floats]:
        """Return start and end of the queries `rows`, (1, C) or (rows, C)."""
        if self.start.ndim == 1:
            return self.start[None], self.end[None]
        return self.start[rows], self.end[rows]


def decode(moments: ScoredMoments, *, nms: float, top: int) -> Ints:
    """Choose the best candidates of each query by greedy non-maximum suppression.

    Candidates whose IoU with a better one is above `nms` are dropped (as in the code of 2D-TAN and TCN-DCM, which keeps
    IoU <= threshold).

    Parameters
    ----------
    moments
        The candidates; equal scores rank in the order of the candidates.
    nms
        From 0 to 1; 1 keeps all.
    top
        Maximum number of moments per query, 1 or more.

    Returns
    -------
    (Q, top)
        Numbers of the kept candidates, best first, then -1.
    """
    n_queries, n_candidates = moments.score.shape
    selected = np.full((n_queries, min(top, n_candidates)), -1, dtype=np.int64)
    for low in range(0, n_queries, BLOCK_QUERIES):
        block = slice(low, min(low + BLOCK_QUERIES, n_queries))
        score = moments.score[block].astype(np.float32, copy=True)
        start, end = (np.broadcast_to(column, score.shape) for column in moments.ends_of(block))
        rows = np.arange(len(score))
        for rank in range(selected.shape[1]):
            best = np.argmax(score, axis=1)
            has_candidate = score[rows, best] > -np.inf
            if not has_candidate.any():
                break
            selected[block][has_candidate, rank] = best[has_candidate]
            iou = temporal_iou(start[rows, best][:, None], end[rows, best][:, None], start, end)
            score[iou > nms + TIE] = -np.inf  # equal is kept
            score[rows, best] = -np.inf  # a candidate is never kept twice
    return selected


def as_predictions(
    query_id: Strings, moments: ScoredMoments, duration_s: Floats, *, nms: float, top: int, name: str
) -> Predictions:
    """Return the best candidates of each query, clipped to its video, as moments in seconds.

    Parameters
    ----------
    query_id : (Q,)
    moments
        The candidates of each query.
    duration_s : (Q,)
        Duration of the video of each query.
    nms, top
        As for :func:`decode`.
    name
        Name of the method.

    Examples
    --------
    >>> import numpy as np
    >>> cells = np.array([0.0, 0.0, 0.5]), np.array([0.5, 1.0, 1.0])
    >>> moments = ScoredMoments(*cells, np.array([[0.1, 0.9, 0.3]], dtype=np.float32))
    >>> answers = as_predictions(np.array(["v#0"]), moments, np.array([10.0]), nms=0.6, top=2, name="m")
    >>> list(zip(answers.start_s.tolist(), answers.end_s.tolist()))
    [(0.0, 10.0), (5.0, 10.0)]
    """
    clipped = moments.clipped()
    columns = decode(clipped, nms=nms, top=top)
    owner, rank = np.nonzero(columns >= 0)
    column = columns[owner, rank]
    at = column if clipped.start.ndim == 1 else (owner, column)
    lengths = (columns >= 0).sum(axis=1)
    ratings: dict[str, Any] = {}
    if clipped.rating is not None:
        rated = ~np.isnan(clipped.rating)
        ratings["saliency_offsets"] = np.concatenate([[0], np.cumsum(rated.sum(axis=1))])
        ratings["saliency"] = clipped.rating[rated].astype(np.float64)
    return Predictions(
        query_id=query_id,
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        start_s=clipped.start[at] * duration_s[owner],
        end_s=clipped.end[at] * duration_s[owner],
        score=clipped.score[owner, column].astype(np.float64),
        name=name,
        **ratings,
    )


def on_grid(answers: Predictions, grid_s: float | None) -> Predictions:
    """Return answers whose ends are rounded to the nearest multiple of `grid_s`, halves to even; None changes nothing.

    The order stays, and so does a moment that becomes empty, as in the code of Moment-DETR. An end may lie after the
    end of its video by half of `grid_s`.

    Examples
    --------
    >>> answers = Predictions.from_lists({"v#0": [(3.0, 9.4, 0.9), (4.2, 4.9, 0.4)]})
    >>> rounded = on_grid(answers, 2.0)
    >>> list(zip(rounded.start_s.tolist(), rounded.end_s.tolist()))
    [(4.0, 10.0), (4.0, 4.0)]
    """
    if grid_s is None:
        return answers
    start_s, end_s = (np.rint(column / grid_s) * grid_s for column in (answers.start_s, answers.end_s))
    return dataclasses.replace(answers, start_s=start_s, end_s=end_s)


def grid_note(answers: Predictions, grid_s: float | None) -> tuple[str, ...]:
    """Return a note on the moments that are empty since their ends were rounded, if there are some."""
    n_empty = int((answers.end_s <= answers.start_s).sum())
    if grid_s is None or not n_empty:
        return ()
    return (f"{n_empty:,} of {len(answers.end_s):,} moments are empty: their ends were rounded to {grid_s:g} s",)
