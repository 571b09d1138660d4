"""Videos of a folder as a store whose rows are pictures, prepared for an encoder: one a second."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from truemoment.base.boundary.text import as_text
from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats, Ints
from truemoment.media.features.base import Frames, edges_of
from truemoment.media.video.files import find_videos, sorted_files
from truemoment.media.video.frames import outline_of, pixels_of, reading_video, shown_at
from truemoment.report.words import few

PICTURES = "pictures:"
"""Beginning of the texts that name such a store, before its folder."""


class PictureStore:
    """Prepared pictures, (T, 3 h w), one a second; they are decoded when rows are read.

    Parameters
    ----------
    folder
        Files ``VIDEO.mp4`` and the like, of films or of clips.
    encoder
        An :class:`~truemoment.media.video.encoders.Encoder`, which prepares pictures.
    """

    fps = 1.0

    def __init__(self, folder: Path, encoder: Any) -> None:  # noqa: ANN401 - importing Encoder takes seconds
        if not folder.is_dir():
            raise InputError("is no folder, expected one with a video file for each film or clip", path=folder)
        files = [path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith(".")]
        videos, others = sorted_files(files)
        self.notes = [f"left out, no videos: {few([path.name for path in others])}"] if others else []
        self._paths = find_videos(folder, (path.stem for path in videos))
        if not self._paths:
            raise InputError("has no video file", path=folder)
        self._preparation = encoder.preparation
        self.name = f"{PICTURES}{as_text(folder.name)}, prepared for {encoder.name}"
        self.n_dimensions = 3 * self._preparation.height * self._preparation.width

    def __contains__(self, video_id: object) -> bool:
        return video_id in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, video_id: str) -> Frames:
        """Return all pictures of a video, (T, 3 h w)."""
        return self.some_rows(video_id, np.arange(self._n_rows(video_id)))

    def some_rows(self, video_id: str, numbers: Ints) -> Frames:
        """Return some pictures of a video, rising, (R, 3 h w)."""
        path, outline = self._path(video_id), self._outline(video_id)
        rows = np.empty((len(numbers), self.n_dimensions), dtype=np.float32)
        for row, (_, frame) in zip(rows, shown_at(path, outline, (numbers / self.fps).tolist()), strict=True):
            with reading_video(path):
                picture = self._preparation(pixels_of(frame, outline.pixel_aspect))
            row[:] = self._preparation.scaled(picture).ravel()
        return rows

    def edges_s(self, video_id: str, duration_s: float) -> Floats:
        """Return the edges of the rows in seconds, (T + 1,); `duration_s` is not used."""
        return edges_of(self._n_rows(video_id), self.fps, duration_s)

    def _n_rows(self, video_id: str) -> int:
        return max(1, int(np.ceil(self._outline(video_id).duration_s * self.fps)))

    def _path(self, video_id: str) -> Path:
        try:
            return self._paths[video_id]
        except KeyError:
            raise InputError(f"there is no video file of {video_id!r}", field="features") from None

    @functools.cached_property
    def _outline(self) -> Any:  # noqa: ANN401 - a function with a cache
        return functools.lru_cache(maxsize=4096)(lambda video_id: outline_of(self._path(video_id)))
