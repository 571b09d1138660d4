"""How sure a figure is: intervals by resampling videos.

Queries of one video share its difficulties, so they are not independent draws; videos are. All
functions start from the sums of numerators and weights by video and never match again.
"""

from __future__ import annotations

import numpy as np

from truemoment.exceptions import UsageError
from truemoment.intervals import Floats
from truemoment.scores import Scores

BLOCK_DRAWS = 1 << 22


def sums_by_video(scores: Scores) -> tuple[Floats, Floats]:
    """Sums of numerators and of weights over the queries of each video.

    Parameters
    ----------
    scores
        Per-query statistics of M measures.

    Returns
    -------
    numerator, weight : (V, M)
        One row a video, in the order in which the videos first occur.
    """
    video = {video_id: row for row, video_id in enumerate(dict.fromkeys(scores.video_id))}
    row = np.array([video[video_id] for video_id in scores.video_id], dtype=np.int64)
    numerator, weight = (
        np.stack([np.bincount(row, values, len(video)).astype(np.float64) for values in table], axis=1)
        for table in (scores.numerator, scores.weight)
    )
    return numerator, weight


def bootstrap(scores: Scores, rng: np.random.Generator, *, resamples: int = 1000) -> Floats:
    """Figures of each measure under resampling of videos with replacement.

    Parameters
    ----------
    scores
        Per-query statistics.
    rng
        Generator of the draws; the same seed gives the same figures.
    resamples
        How many resamples, at least 2.

    Returns
    -------
    array, shape (resamples, M)
        Fractions; NaN where a resample leaves a measure without weight.

    Raises
    ------
    UsageError
        If `resamples` is less than 2.
    """
    if resamples < 2:
        raise UsageError(f"got {resamples} resamples, expected 2 or more")
    numerator, weight = sums_by_video(scores)
    n_videos = len(numerator)
    figures = np.empty((resamples, numerator.shape[1]))
    step = max(1, BLOCK_DRAWS // n_videos)
    for low in range(0, resamples, step):
        high = min(low + step, resamples)
        times_drawn = rng.multinomial(n_videos, np.full(n_videos, 1 / n_videos), size=high - low).astype(np.float64)
        total = times_drawn @ weight
        figures[low:high] = np.where(total > 0, times_drawn @ numerator / np.where(total > 0, total, 1), np.nan)
    return figures


def interval95(figures: Floats) -> Floats:
    """95 % percentile interval of resampled figures.

    Parameters
    ----------
    figures : (N, M)
        Figures of M measures in N resamples, as :func:`bootstrap` returns them.

    Returns
    -------
    array, shape (M, 2)
        The 2.5 % and 97.5 % quantiles, in the unit of the figures; NaN where any figure is undefined.
    """
    return np.stack([np.quantile(figures, 0.025, axis=0), np.quantile(figures, 0.975, axis=0)], axis=1)
