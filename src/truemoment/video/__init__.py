"""Videos: which file belongs to which video, the frames shown at given times, clips, and encoders.

``sample_frames(path, Sampling(fps=1.0))`` takes a few frames as pictures, ``stream_frames(path, 5.0)`` any number of
them as pixels; both decode by time stamps, never by counting frames. ``cut_clip`` writes a moment as a file of its own.
It needs PyAV and Pillow: ``pip install 'truemoment[served]'``. What turns frames and sentences into vectors is in
:mod:`truemoment.video.encoders`.
"""

from __future__ import annotations

from truemoment.video.clips import cut_clip, thumbnail
from truemoment.video.files import VIDEO_SUFFIXES, find_videos, identity_of
from truemoment.video.frames import (
    MOST_FRAMES,
    Frames,
    Outline,
    Sampling,
    duration_of,
    outline_of,
    sample_frames,
    stream_frames,
)

__all__ = [
    "MOST_FRAMES",
    "VIDEO_SUFFIXES",
    "Frames",
    "Outline",
    "Sampling",
    "cut_clip",
    "duration_of",
    "find_videos",
    "identity_of",
    "outline_of",
    "sample_frames",
    "stream_frames",
    "thumbnail",
]
