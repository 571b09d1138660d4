"""Videos: which file belongs to which video, and the frames shown at given times.

``sample_frames(path, Sampling(fps=1.0))`` decodes by time stamps, never by counting frames. It needs PyAV and Pillow:
``pip install 'truemoment[served]'``.
"""

from __future__ import annotations

from truemoment.video.files import VIDEO_SUFFIXES, find_videos, identity_of
from truemoment.video.frames import MOST_FRAMES, Frames, Sampling, sample_frames

__all__ = [
    "MOST_FRAMES",
    "VIDEO_SUFFIXES",
    "Frames",
    "Sampling",
    "find_videos",
    "identity_of",
    "sample_frames",
]
