"""One vector for each clip: the mean of its frames' directions, as CLIP4Clip's mean pooling (Luo et al. 2021).

Frames are thinned to one a second, then to at most twelve, evenly from the first to the last. Each has length 1 before
the mean, and the mean has length 1 after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from truemoment.exceptions import InputError
from truemoment.features.base import FeatureStore, Frames
from truemoment.intervals import Ints
from truemoment.records import numbers_of
from truemoment.retrieval.clips import Clips

MOST_FRAMES = 12

FRAMES_A_SECOND = 1.0


def unit(rows: Frames) -> Frames:
    """Return rows (R, D) of length 1; rows of zeros stay.

    Examples
    --------
    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(length > 0, length, 1), dtype=np.float32)


def thinned(first: int, stop: int, fps: float, most: int = MOST_FRAMES) -> Ints:
    """Return rows of ``[first, stop)`` thinned to one a second, and to `most`, evenly from first to last.

    Examples
    --------
    >>> thinned(0, 20, fps=5.0).tolist()  # 4 s
    [0, 5, 10, 15]
    >>> len(thinned(0, 1000, fps=5.0))
    12
    """
    step = max(1, round(fps / FRAMES_A_SECOND))
    rows = np.arange(first, max(stop, first + 1), step)
    if len(rows) > most:
        rows = rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]
    return rows


def pooled_clips(
    store: FeatureStore, clips: Clips, track: Callable[[list[str]], Iterable[str]] = list
) -> tuple[Frames, int]:
    """Return the vector of each clip, (N, D), of length 1, and the number of clips shorter than a frame.

    A clip shorter than a frame has the nearest frame.

    Parameters
    ----------
    track
        Goes through the videos, e.g. under a progress bar.

    Raises
    ------
    InputError
        If a video has no features.
    """
    found = np.zeros((len(clips), store.n_dimensions), dtype=np.float32)
    video = numbers_of(clips.video_id)
    by_video = np.split(np.argsort(video, kind="stable"), np.cumsum(np.bincount(video))[:-1])
    rows_of = {str(clips.video_id[rows[0]]): rows for rows in by_video}
    if missing := [name for name in rows_of if name not in store]:
        raise InputError(
            f"{store.name}: {len(missing):,} of {len(rows_of):,} videos have no features, e.g. {missing[0]!r}"
        )
    n_short = 0
    for name in track(list(rows_of)):
        frames = unit(store[name])
        for row in rows_of[name].tolist():
            edges = store.edges_s(name, float(clips.duration_s[row]))
            first, stop = np.searchsorted(edges[:-1], [clips.start_s[row], clips.end_s[row]], side="left").tolist()
            n_short += stop <= first
            if stop <= first:
                first = max(first - 1, 0)
            first = min(first, len(frames) - 1)
            fps = len(frames) / float(edges[-1] - edges[0])
            found[row] = frames[thinned(first, min(stop, len(frames)), fps)].mean(axis=0)
    return unit(found), n_short
