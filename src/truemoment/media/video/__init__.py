"""Videos: files of videos, frames at given times, clips, and encoders.

``sample_frames(path, Sampling(fps=1.0))`` returns a few frames as pictures, ``stream_frames(path, 5.0)`` yields any
number of them as pixels; both decode by time stamps. ``cut_clip`` writes a moment as a file. It needs PyAV and Pillow:
``pip install 'truemoment[served]'``. Encoders of frames and sentences are in :mod:`truemoment.media.video.encoders`.
"""

from __future__ import annotations

from truemoment.media.video.clips import cut_clip, thumbnail
from truemoment.media.video.containers import creation_time
from truemoment.media.video.files import VIDEO_SUFFIXES, find_videos, identity_of, is_video, sorted_files
from truemoment.media.video.frames import (
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
    "creation_time",
    "cut_clip",
    "duration_of",
    "find_videos",
    "identity_of",
    "is_video",
    "outline_of",
    "sample_frames",
    "sorted_files",
    "stream_frames",
    "thumbnail",
]
