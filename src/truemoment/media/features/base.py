"""A feature store: the rows of each video, and the time of each row.

A store maps video ids to arrays (T, D): T rows in order of time, D numbers each. Either it states its rows per second
(`fps`), so that row i covers the time from ``i / fps`` to ``(i + 1) / fps``; or the rows cover the video evenly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats

Frames = npt.NDArray[np.float32]  # rows of features, (T, D)

SIMULATED = "perception:"
"""Beginning of the names of simulated features, before their quality; also of those that were written to files."""


@runtime_checkable
class FeatureStore(Protocol):
    """Features by video, to be read.

    Examples
    --------
    >>> store = Features({"v": np.zeros((60, 8), dtype=np.float32)}, fps=2.0)
    >>> isinstance(store, FeatureStore)
    True
    """

    @property
    def name(self) -> str:
        """Name in signatures: the source of the rows, and a fingerprint or settings."""
        ...

    @property
    def n_dimensions(self) -> int:
        """D, dimensions of a row; 0 if there is no video."""
        ...

    @property
    def fps(self) -> float | None:
        """Rows per second; None if the rows cover each video evenly."""
        ...

    def __contains__(self, video_id: object) -> bool: ...

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the videos in the store."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, video_id: str) -> Frames:
        """Return the rows of a video (T, D), T at least 1, in order of time."""
        ...

    def edges_s(self, video_id: str, duration_s: float) -> Floats:
        """Return the edges of the rows in seconds, (T + 1,); `duration_s` is needed if `fps` is None."""
        ...


def edges_of(n_rows: int, fps: float | None, duration_s: float) -> Floats:
    """Return the edges of `n_rows` rows in seconds, (T + 1,); `duration_s` is needed if `fps` is None.

    Examples
    --------
    >>> edges_of(3, 2.0, 9.0), edges_of(3, None, 9.0)
    (array([0. , 0.5, 1. , 1.5]), array([0., 3., 6., 9.]))
    """
    if fps is not None:
        return np.asarray(np.arange(n_rows + 1) / fps)
    if not (np.isfinite(duration_s) and duration_s > 0):
        raise InputError(
            f"got a video of {duration_s} s, expected a duration above 0: the features state no rows a second"
        )
    return np.asarray(np.linspace(0.0, duration_s, n_rows + 1))


MOST_FPS = 1e6
"""Rows a second that no features have: beyond it, numbers of rows are no whole numbers any more."""


def checked_fps(fps: float | None) -> float | None:
    """Return frames a second, a row each, as they are."""
    if fps is not None and not 0 < fps <= MOST_FPS:
        raise InputError(f"got {fps}, expected frames a second above 0, {MOST_FPS:,.0f} at most", field="fps")
    return fps


@dataclass(frozen=True, eq=False)
class Features:
    """Features in memory.

    Parameters
    ----------
    by_video
        An array (T, D) for each video id.
    fps
        Rows per second: row i covers the time from ``i / fps`` to ``(i + 1) / fps``.
    name
        Name in signatures.

    Examples
    --------
    >>> import numpy as np
    >>> features = Features({"v": np.zeros((60, 8), dtype=np.float32)}, fps=2.0)
    >>> features["v"].shape, features.n_dimensions, "w" in features
    ((60, 8), 8, False)
    >>> features.edges_s("v", 30.0)[-2:]
    array([29.5, 30. ])
    """

    by_video: Mapping[str, Frames]
    fps: float
    name: str = "memory"

    def __post_init__(self) -> None:
        """Check the arrays, and prevent callers from replacing them."""
        checked_fps(self.fps)
        width = None
        for video_id, frames in self.by_video.items():
            if frames.ndim != 2 or len(frames) == 0 or (width is not None and frames.shape[1] != width):
                raise InputError(
                    f"got shape {frames.shape} for video {video_id!r}, expected (frames, {width or 'numbers'})",
                    field="features",
                )
            width = frames.shape[1]
        object.__setattr__(self, "by_video", MappingProxyType(dict(self.by_video)))

    def __getitem__(self, video_id: str) -> Frames:
        """Return the rows of a video."""
        try:
            return self.by_video[video_id]
        except KeyError:
            raise InputError(f"there are no features of video {video_id!r}", field="features") from None

    def __contains__(self, video_id: object) -> bool:
        return video_id in self.by_video

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_video)

    def __len__(self) -> int:
        return len(self.by_video)

    @property
    def n_dimensions(self) -> int:
        """Dimensions of a row; 0 if there is no video."""
        return next((frames.shape[1] for frames in self.by_video.values()), 0)

    def edges_s(self, video_id: str, duration_s: float) -> Floats:
        """Return the edges of the rows in seconds, (T + 1,); `duration_s` is not used."""
        return edges_of(len(self[video_id]), self.fps, duration_s)
