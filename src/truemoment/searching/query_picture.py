"""A picture as a query: it is embedded as frames are when they are indexed, by the same model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from truemoment.base.boundary.pictures import read_picture
from truemoment.media.features.base import Frames
from truemoment.media.video.frames import Pixels, pixels_of
from truemoment.searching.extraction import decoded_side, frames_of

if TYPE_CHECKING:
    from truemoment.media.video.encoders import Encoder


@dataclass(frozen=True, eq=False)
class QueryPicture:
    """A picture that is searched for: its file, and its pixels (H, W, 3)."""

    path: Path
    pixels: Pixels

    @classmethod
    def read(cls, path: Path) -> QueryPicture:
        """Read the file."""
        return cls(path, read_picture(path))

    @property
    def query(self) -> str:
        """What takes the place of the sentence in tables and exports."""
        return f"like {self.path.name}"

    def embed(self, encoder: Encoder) -> Frames:
        """Return its vector (D,); a large picture is reduced to the size at which videos are decoded, by one filter."""
        import av  # noqa: PLC0415 - it loads the libraries of FFmpeg

        pixels, side, shortest = self.pixels, decoded_side(encoder.preparation), min(self.pixels.shape[:2])
        if side is not None and side < shortest:
            pixels = pixels_of(av.VideoFrame.from_ndarray(pixels, format="rgb24"), 1.0, side / shortest)
        prepared, n_frames = encoder.prepare(pixels), frames_of(encoder.preparation)
        clip = prepared if n_frames == 1 else np.stack([prepared] * n_frames)  # one that stands still
        vector: Frames = encoder.images(clip[None])[0]
        return vector
