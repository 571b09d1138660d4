r"""Sliding windows in frames: the candidates of CTRL and ACRN, the pairs that they learn, and features of windows.

Gao, Sun, Yang and Nevatia: "TALL: Temporal Activity Localization via Language Query", ICCV 2017. A window of F frames
moves by :math:`\lfloor (1 - o) F \rfloor` frames for an overlap of o. No window is cut off: the last one of a length
ends at or before the end of the video. A video that is shorter than the shortest length has one window, the whole
video.

Frames count at the nominal rate :data:`FRAMES_PER_SECOND`, whatever the rate of a video: lengths and offsets then have
the meaning that they have in the paper, and features may have any rate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Bools, Floats, Ints, temporal_iou
from truemoment.learning.models.base import VideoRows
from truemoment.media.features.base import Frames

FRAMES_PER_SECOND = 24.0
"""Nominal rate of frames, as in the videos of TACoS and Charades that CTRL was made for."""

ROUNDING_S = 1e-6
"""Times this close are equal: less is rounding."""

MOST_WINDOWS = 65_536
"""Windows of a video beyond which it is refused: 64 to 512 frames make as many in about 4 hours."""


@dataclass(frozen=True)
class WindowPool:
    """Sliding windows of several lengths.

    Parameters
    ----------
    lengths
        Lengths in frames.
    overlap
        Overlap of successive windows as a share of their length, 0 to below 1.

    Examples
    --------
    >>> WindowPool((64, 128), overlap=0.8).windows_s(5.0)
    array([[0.        , 2.66666667],
           [0.5       , 3.16666667],
           [1.        , 3.66666667],
           [1.5       , 4.16666667],
           [2.        , 4.66666667]])
    """

    lengths: tuple[int, ...]
    overlap: float = 0.8

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        if not self.lengths or min(self.lengths) < 1:
            raise UsageError(f"got window lengths {self.lengths}, expected one or more, of 1 frame or more")
        if not 0 <= self.overlap < 1:
            raise UsageError(f"got overlap {self.overlap}, expected 0 to below 1")

    def windows_s(self, duration_s: float) -> Floats:
        """Return start and end of the windows of a video in seconds, (C, 2), ordered by length, then by time."""
        n_frames = duration_s * FRAMES_PER_SECOND
        by_length = []
        for length in self.lengths:
            step = max(1, math.floor(length * (1 - self.overlap) + ROUNDING_S))
            count = max(0, math.floor((n_frames - length) / step + ROUNDING_S) + 1)
            if count > MOST_WINDOWS:
                raise UsageError(
                    f"got a video of {duration_s:g} s, which has more than {MOST_WINDOWS:,} windows of {length} frames"
                )
            start = np.arange(count) * step
            by_length.append(np.stack([start, start + length], axis=1))
        windows = np.concatenate(by_length) / FRAMES_PER_SECOND
        return windows if len(windows) else np.array([[0.0, duration_s]])


def positives(windows_s: Floats, moments_s: Floats, *, least_iou: float, most_outside: float) -> Bools:
    r"""Return which windows and moments of one video are pairs to learn from, (M, C).

    A window w and a moment g are a pair if :math:`\text{IoU}(w, g) > t` and
    :math:`\text{nIoL} = 1 - |w \cap g| / |w| < n`, the share of the window outside the moment (Gao et al. 2017, section
    3.3; t = 0.5, n = 0.15 in the authors' code).

    Parameters
    ----------
    windows_s : (C, 2)
    moments_s : (M, 2)
    least_iou, most_outside
        t and n.
    """
    start, end = windows_s.T
    first, last = moments_s[:, :1], moments_s[:, 1:]
    iou = temporal_iou(start, end, first, last)
    inside = np.maximum(np.minimum(end, last) - np.maximum(start, first), 0) / (end - start)
    return np.asarray((iou > least_iou) & (1 - inside < most_outside))


class WindowSlots(NamedTuple):
    """Means of features: slots (C, 3, D) float32 and whether each slot is real, (C, 3); see :func:`window_slots`."""

    slots: Frames
    real: Bools


def window_slots(video: VideoRows, windows_s: Floats, context_s: float) -> WindowSlots:
    """Return means of the rows of the context before each window, of the window, and of the context after it.

    A context that does not lie in the video as a whole is replaced by the window, and is not real.

    Parameters
    ----------
    video
        The features.
    windows_s : (C, 2)
    context_s
        Length of a context.
    """
    start, end = windows_s.T
    before = start - context_s >= -ROUNDING_S
    after = end + context_s <= video.duration_s + ROUNDING_S
    low = np.stack([np.where(before, start - context_s, start), start, np.where(after, end, start)], axis=1)
    high = np.stack([np.where(before, start, end), end, np.where(after, end + context_s, end)], axis=1)
    real = np.stack([before, np.ones_like(before), after], axis=1)
    return WindowSlots(means_of_rows(video, low, high), real)


def means_of_rows(video: VideoRows, low_s: Floats, high_s: Floats) -> Frames:
    """Return means of the rows whose centre is at or after `low_s` and before `high_s`, (..., D), by prefix sums.

    Where there is no such row, the mean is the row that contains the middle.
    """
    edges = video.edges_s
    centres = (edges[:-1] + edges[1:]) / 2
    low, high = (np.searchsorted(centres, at - ROUNDING_S) for at in (low_s, high_s))
    middle = np.searchsorted(edges, (low_s + high_s) / 2 + ROUNDING_S) - 1
    empty = high <= low
    low = np.where(empty, np.clip(middle, 0, len(centres) - 1), low)
    high = np.where(empty, low + 1, high)
    return _means(video.rows, low, high)


def _means(rows: Frames, low: Ints, high: Ints) -> Frames:
    """Return means of rows `low` to `high` - 1."""
    sums = np.zeros((len(rows) + 1, rows.shape[1]))
    np.cumsum(rows, axis=0, dtype=np.float64, out=sums[1:])
    return np.asarray((sums[high] - sums[low]) / (high - low)[..., None], dtype=np.float32)
