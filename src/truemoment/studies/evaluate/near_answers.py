"""Places that many first answers are near to: a collapsed method whose answers still differ a little.

Refinements move such answers by some per cent of the video, so few are equal. WSSL as trained here answers every
sentence with 0 to about 57 % of the video, and the most frequent answer, at 1 % of the video, is a sixth of all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from truemoment.base.intervals import Floats, temporal_iou

NEAR_IOU = 0.8
"""Answers with this IoU, as shares of their videos, are near each other."""

MOST_CENTRES = 256
"""Number of most frequent answers, at a resolution of 1 % of the video, that a place can be."""


class NearPlace(NamedTuple):
    """A place as fractions of the video, and the share of the answers that are near it and near none before."""

    start_norm: float
    end_norm: float
    share: float


def near_places(times_norm: Floats, n_places: int = 3) -> tuple[NearPlace, ...]:
    """Return the places that most answers (N, 2) are near to, each chosen after the answers near the ones before.

    Times are clipped to the video and rounded to 1 % of it; the last per cent belongs to a moment.

    Examples
    --------
    >>> near_places(np.array([[0.0, 0.5], [0.0, 0.55], [0.02, 0.5], [0.5, 1.0]]), 2)
    (NearPlace(start_norm=0.0, end_norm=0.5, share=0.75), NearPlace(start_norm=0.5, end_norm=1.0, share=0.25))
    """
    cells, counts = np.unique(np.rint(100 * np.clip(times_norm, 0.0, 1.0)), axis=0, return_counts=True)
    centres = cells[np.argsort(-counts, kind="stable")[:MOST_CENTRES]]
    start, end = cells[:, 0], cells[:, 1] + 1
    near = temporal_iou(centres[:, :1], centres[:, 1:] + 1, start, end) >= NEAR_IOU
    left = counts.astype(np.float64)
    found: list[NearPlace] = []
    while left.any() and len(found) < n_places:
        weights = near @ left
        best = int(weights.argmax())
        if not weights[best]:
            break
        start_norm, end_norm = (centres[best] / 100).tolist()
        found.append(NearPlace(start_norm, end_norm, float(weights[best] / counts.sum())))
        left[near[best]] = 0.0
    return tuple(found)
