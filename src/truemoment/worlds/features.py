"""Frame features: the evidence of a video that a method sees, with a dial `perception` for its clarity.

The features of a video have a row per frame; row i covers the time from i / fps to (i + 1) / fps. Each action and
object has a *prototype*, a random unit vector. A frame's signal is the sum of the prototypes of its events (an event
that covers part of a frame counts in part), and its features are ::

    perception * signal + (1 - perception) * noise,

with independent standard normal noise. At 1 the features are clean, at 0 they depend only on the duration; the ratio of
signal to noise along a prototype is perception / (1 - perception): 1/3 at 0.25, 1 at 0.5, 3 at 0.75.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from truemoment.base.intervals import Floats, Ints
from truemoment.media.features.base import Features, Frames
from truemoment.worlds.timelines import Events

__all__ = ["Features", "Frames", "coverage", "frame_features", "frames_of", "prototypes"]


def prototypes(n_concepts: int, n_dimensions: int, rng: np.random.Generator) -> Floats:
    """Return random unit vectors, one per concept; shape (n_concepts, n_dimensions)."""
    vectors = rng.standard_normal((n_concepts, n_dimensions))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def frame_features(
    events: Events,
    duration_s: Floats,
    of_action: Floats,
    of_object: Floats,
    *,
    fps: float,
    perception: float,
    rng: np.random.Generator,
) -> list[Frames]:
    """Return the features of V videos: V arrays (T, D), float32, with enough frames to cover each duration.

    Events are grouped by video, videos in order. `of_action` and `of_object`, (concepts, D), are prototypes.
    `perception` is from 0 (noise) to 1 (clean); the noise does not depend on it.
    """
    signal = (of_action[events.action] + of_object[events.thing]).astype(np.float32)
    first = np.searchsorted(events.video, np.arange(len(duration_s) + 1))
    n_frames = frames_of(duration_s, fps)
    features = []
    for video, length in enumerate(n_frames.tolist()):
        rows = slice(int(first[video]), int(first[video + 1]))
        active = coverage(events.start_s[rows], events.end_s[rows], length, fps)
        shown = active.T.astype(np.float32) @ signal[rows]
        noise = rng.standard_normal((length, signal.shape[1]), dtype=np.float32)
        frames: npt.NDArray[Any] = np.float32(perception) * shown + np.float32(1 - perception) * noise
        frames.flags.writeable = False
        features.append(frames)
    return features


def coverage(start_s: Floats, end_s: Floats, n_frames: int, fps: float) -> Floats:
    """Return the part of each frame that lies inside each moment, (N, n_frames), from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> coverage(np.array([0.25]), np.array([1.5]), 4, 2.0)
    array([[0.5, 1. , 1. , 0. ]])
    """
    frame = np.arange(n_frames)
    overlap = np.minimum(end_s[:, None] * fps, frame + 1) - np.maximum(start_s[:, None] * fps, frame)
    return np.asarray(np.clip(overlap, 0, 1))


def frames_of(duration_s: Floats, fps: float) -> Ints:
    """Return the number of frames that covers each duration, at least one."""
    return np.asarray(np.maximum(np.ceil(duration_s * fps - 1e-9), 1), dtype=np.int64)
