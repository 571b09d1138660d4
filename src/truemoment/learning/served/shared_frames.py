"""Frames of videos that several prompts show: decoded once, as long as they fit into memory."""

from __future__ import annotations

import threading
from collections.abc import Callable

from truemoment.media.video import Frames

MOST_BYTES = 1 << 30
"""Bytes of pictures that are kept; videos beyond are decoded again for each prompt."""


class SharedFrames:
    """Keeps the frames of the first videos that are decoded; all prompts ask about videos in the same order."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._left = most_bytes
        self._kept: dict[str, Frames] = {}
        self._lock = threading.Lock()

    def get(self, video_id: str, decode: Callable[[str], Frames]) -> Frames:
        """Return the frames of a video; `decode` makes those that are not kept."""
        with self._lock:
            in_memory = self._kept.get(video_id)
        if in_memory is not None:
            return in_memory
        frames = decode(video_id)
        size = sum(map(len, frames.images))
        with self._lock:
            if size <= self._left and video_id not in self._kept:
                self._left -= size
                self._kept[video_id] = frames
        return frames
