"""From a score per candidate moment to ranked moments in seconds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from truemoment.intervals import TIE, Floats, Ints, temporal_iou
from truemoment.proposals import SparseMap
from truemoment.records import Predictions, Strings

BLOCK_QUERIES = 1024


def decode(
    scores: npt.NDArray[np.float32],
    proposals: SparseMap,
    duration_s: Floats,
    *,
    nms: float,
    top: int,
) -> tuple[Ints, Ints]:
    """Choose the best candidates of each query by greedy non-maximum suppression.

    Candidates whose IoU with a better one is above `nms` are dropped (as in the code of 2D-TAN and TCN-DCM, which keeps
    IoU <= threshold). All queries share the candidates, so their IoUs are computed once.

    Parameters
    ----------
    scores : (Q, C)
        Higher is better; equal scores rank in the order of the candidates.
    proposals
        The C candidates.
    duration_s : (Q,) seconds
        Only its length matters here: IoUs are those of fractions of the video.
    nms
        From 0 to 1; 1 keeps all.
    top
        Maximum number of moments per query, 1 or more.

    Returns
    -------
    cells : (M,)
        Numbers of the kept candidates, best first, query by query.
    lengths : (Q,)
        Number of candidates of each query.
    """
    first, last = proposals.cells
    start, end = first.astype(float), last + 1.0
    like = temporal_iou(start[:, None], end[:, None], start[None], end[None]) > nms + TIE  # equal is kept
    np.fill_diagonal(like, val=True)  # a candidate is never kept twice
    top = min(top, len(first))
    selected = np.full((len(duration_s), top), -1, dtype=np.int64)
    for low in range(0, len(duration_s), BLOCK_QUERIES):
        left = scores[low : low + BLOCK_QUERIES].astype(np.float32, copy=True)
        rows = np.arange(len(left))
        for rank in range(top):
            best = np.argmax(left, axis=1)
            some = left[rows, best] > -np.inf
            selected[low + rows[some], rank] = best[some]
            left[like[best]] = -np.inf
    return selected[selected >= 0], (selected >= 0).sum(axis=1)


def as_predictions(
    query_id: Strings,
    scores: npt.NDArray[np.float32],
    proposals: SparseMap,
    duration_s: Floats,
    *,
    nms: float,
    top: int,
    name: str,
) -> Predictions:
    """Return the best candidates of each query as moments in seconds; parameters as for :func:`decode`.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[0.1, 0.9, 0.3]], dtype=np.float32)   # cells (0, 0), (0, 1), (1, 1) of two clips
    >>> found = as_predictions(np.array(["v#0"]), scores, SparseMap(2), np.array([10.0]), nms=0.6, top=2, name="m")
    >>> list(zip(found.start_s.tolist(), found.end_s.tolist()))
    [(0.0, 10.0), (5.0, 10.0)]
    """
    cells, lengths = decode(scores, proposals, duration_s, nms=nms, top=top)
    owner = np.repeat(np.arange(len(query_id)), lengths)
    first, last = (column[cells] for column in proposals.cells)
    return Predictions(
        query_id=query_id,
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        start_s=first / proposals.n_clips * duration_s[owner],
        end_s=(last + 1) / proposals.n_clips * duration_s[owner],
        score=scores[owner, cells].astype(np.float64),
        name=name,
    )
