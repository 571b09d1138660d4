"""One vector for each clip: the mean of its frames' directions, as CLIP4Clip's mean pooling (Luo et al. 2021).

Each frame has length 1 before the mean, and the mean has length 1 after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from truemoment.media.features.base import FeatureStore, Frames
from truemoment.searching.clips.clip_frames import each_clip
from truemoment.searching.clips.clips import Clips
from truemoment.searching.unit_vectors import unit


def pooled_clips(
    store: FeatureStore, clips: Clips, track: Callable[[list[str]], Iterable[str]] = list
) -> tuple[Frames, int]:
    """Return the vector of each clip, (N, D), of length 1, and the number of clips shorter than a frame.

    Parameters
    ----------
    track
        Goes through the videos, e.g. under a progress bar.

    Raises
    ------
    InputError
        If a video has no features.
    """
    pooled = np.zeros((len(clips), store.n_dimensions), dtype=np.float32)
    n_short = 0
    for clip, frames, is_short in each_clip(store, clips, track=track):
        pooled[clip] = unit(frames).mean(axis=0)
        n_short += is_short
    return unit(pooled), n_short
