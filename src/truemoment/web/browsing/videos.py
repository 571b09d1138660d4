"""The videos of a page, by number: where each lies, and whether it is the one that was indexed."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from truemoment.base.errors import TrueMomentError
from truemoment.media.video.files import identity_of
from truemoment.searching.index import Index
from truemoment.searching.layout import is_file
from truemoment.web.pages.errors import PageError
from truemoment.web.pages.media import Identities, VideoChangedError

VideoState = Literal["here", "gone", "changed"]


@dataclass(frozen=True)
class ShownVideo:
    """A video.

    Parameters
    ----------
    number
        Number by which pages ask for it.
    paths
        Places where its file may lie, in order.
    duration_s
        Seconds.
    folder
        Folder of its file, as a page shows it.
    identity
        Identity of the file that was indexed; "" to take that of the file when it is first opened.
    """

    number: int
    video_id: str
    paths: tuple[Path, ...]
    duration_s: float
    folder: str = ""
    identity: str = ""


class ShownVideos:
    """The videos of a page.

    Parameters
    ----------
    videos
        The videos; their numbers are their positions.
    """

    def __init__(self, videos: Sequence[ShownVideo]) -> None:
        self.rows = tuple(videos)
        self.by_id = {video.video_id: video for video in videos}
        self._identities = Identities()
        self._taken: dict[int, str] = {}
        self._changed: set[int] = set()
        self._lock = threading.Lock()

    @classmethod
    def of_index(cls, index: Index) -> ShownVideos:
        """Return the videos of an index, in the order of their names."""
        beside = index.path.absolute().parent
        videos = []
        for number, video_id in enumerate(index):
            about = index.about(video_id)
            path = Path(about.path)
            paths = tuple(dict.fromkeys((path, beside / path.name)))
            videos.append(ShownVideo(number, video_id, paths, about.duration_s, path.parent.name, about.identity))
        return cls(videos)

    @classmethod
    def of_files(cls, durations_s: Iterable[tuple[str, float]], files: dict[str, Path]) -> ShownVideos:
        """Return videos by id and duration, and the file of each that has one."""
        return cls(
            [
                ShownVideo(number, video_id, (files[video_id],) if video_id in files else (), duration_s)
                for number, (video_id, duration_s) in enumerate(durations_s)
            ]
        )

    def at(self, number: int) -> ShownVideo:
        """Return a video by its number; one that does not exist is not found."""
        if not 0 <= number < len(self.rows):
            raise PageError(404, "there is no such video", "v")
        return self.rows[number]

    def identity(self, video: ShownVideo) -> str:
        """Return the identity of the file of a video."""
        if video.identity:
            return video.identity
        with self._lock:
            identity = self._taken.get(video.number)
        if identity is None:
            path = next((candidate for candidate in video.paths if is_file(candidate)), None)
            if path is None:
                raise PageError(404, "the video is gone")
            try:
                identity = identity_of(path)
            except TrueMomentError:
                raise PageError(404, "the video cannot be read") from None
            with self._lock:
                identity = self._taken.setdefault(video.number, identity)
        return identity

    def path(self, video: ShownVideo) -> Path:
        """Return the file of a video, which has the identity that was indexed."""
        identity = self.identity(video)
        refusal = PageError(404, "the video is gone")
        for path in video.paths:
            try:
                self._identities.open_video(path, identity).close()
            except PageError as error:
                refusal = error if path.exists() else refusal
                continue
            self._changed.discard(video.number)
            return path
        if isinstance(refusal, VideoChangedError):
            self._changed.add(video.number)
            raise PageError(404, "the video was changed since it was indexed")
        raise refusal

    def state(self, video: ShownVideo) -> VideoState:
        """Return whether the file of a video is there, as far as that is known without reading it."""
        if video.number in self._changed:
            return "changed"
        return "here" if any(is_file(path) for path in video.paths) else "gone"

    def key(self, video: ShownVideo) -> str:
        """Return the name of a folder for what is made of a video."""
        return hashlib.sha256(self.identity(video).encode()).hexdigest()[:32]

    def folders(self) -> list[str]:
        """Return the folders that videos lie in."""
        return sorted({str(path.parent) for video in self.rows for path in video.paths if is_file(path)})
