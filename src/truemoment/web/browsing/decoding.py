"""What the worker processes of pictures do. It imports little, since each worker imports it when it starts."""

from __future__ import annotations

import contextlib
import functools
from pathlib import Path

from truemoment.base.boundary.processes import begin_quietly
from truemoment.media.video.open_video import OpenVideo

OPEN_VIDEOS = 16
"""Videos that a worker keeps open."""

SHEET_PICTURES = 6
"""Number of pictures of a moment, side by side."""


@functools.lru_cache(maxsize=OPEN_VIDEOS)
def _opened(path: str, size: int, changed_ns: int) -> OpenVideo:
    """Return an open video; a file that changes is opened again."""
    del size, changed_ns
    return OpenVideo(Path(path))


def _video(path: str) -> OpenVideo:
    about = Path(path).stat()
    return _opened(path, about.st_size, about.st_mtime_ns)


def key_picture(path: str, start_s: float, end_s: float, side: int) -> tuple[float, bytes]:
    """Return the time of a key frame in or before a moment, and its picture; runs in a worker."""
    video = _video(path)
    time_s, frame = video.key_frame(start_s, end_s)
    return time_s, video.jpeg(frame, side)


def exact_picture(path: str, start_s: float, end_s: float, side: int) -> tuple[float, bytes]:
    """Return the time of the frame in the middle of a moment, and its picture; runs in a worker."""
    video = _video(path)
    time_s, frame = video.frame_at((start_s + end_s) / 2)
    return time_s, video.jpeg(frame, side)


def sheet_of_moment(path: str, start_s: float, end_s: float, side: int) -> tuple[float, bytes]:
    """Return the start of a moment, and pictures of it side by side; runs in a worker."""
    return start_s, _video(path).sheet(start_s, end_s, SHEET_PICTURES, side)


def begin_decoding() -> None:
    """Begin a worker that decodes: what it needs is imported before the first picture."""
    begin_quietly()
    with contextlib.suppress(ModuleNotFoundError):
        import av  # noqa: F401, PLC0415 - only videos need it
        import PIL.Image  # noqa: F401, PLC0415
