"""What a video needs to be played: its frame table, pictures and peaks, and a copy where browsers cannot play it.

Videos are served as they are where browsers show the right frames, also where seeking is slow: a copy of hours of video
takes long. One video is prepared at a time, in another process, the last request first.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec
from starlette.responses import Response

from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.boundary.processes import RestartingPool, begin_quietly
from truemoment.base.errors import TrueMomentError
from truemoment.media.video.playable import why_unplayable
from truemoment.media.video.prepared import COPY, FRAMES, VideoFrames, prepare_video, read_frames
from truemoment.media.video.stamps import FrameTable
from truemoment.web.browsing.videos import ShownVideo, ShownVideos
from truemoment.web.pages.errors import PageError
from truemoment.web.pages.media import Streams, VideoResponse, open_media, small_file

FOLDER = "media"

PlayState = Literal["original", "copy", "preparing", "not playable"]


def prepare_shown(path: str, folder: OwnPath) -> str:
    """Prepare a video; return why it cannot be, "" if it is; runs in a worker."""
    try:
        prepare_video(Path(path), folder, copy_slow=False)
    except (TrueMomentError, OSError, MemoryError) as error:
        return str(error) or type(error).__name__
    return ""


def why_copied(path: str) -> str:
    """Return why browsers would not play a video as it is; runs in a worker."""
    return why_unplayable(Path(path))


class Playing(msgspec.Struct):
    """The playback of a video: state, why a copy is needed or impossible, and whether it has a frame table."""

    state: PlayState
    why: str
    frames: bool


@dataclass
class VideoMedia:
    """The files of videos, made on request.

    Parameters
    ----------
    shown
        The videos.
    cache
        Folder in which they are kept; it can be deleted at any time.
    """

    shown: ShownVideos
    cache: Path
    streams: Streams = field(default_factory=Streams)

    def __post_init__(self) -> None:
        """Make the worker and the queue."""
        self._pool = RestartingPool(2, begin_quietly)
        self._waiting: list[ShownVideo] = []
        self._why: dict[str, str] = {}
        self._copied: dict[str, str] = {}
        self._changed = threading.Condition()
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="preparing", daemon=True)

    def start(self) -> None:
        """Begin to prepare requested videos, and start a worker, so that the first video does not wait for it."""
        self._pool.submit(os.getpid)
        self._thread.start()

    def close(self) -> None:
        """Stop at once; the current video is prepared anew the next time."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._pool.close()

    def folder(self, video: ShownVideo) -> OwnPath:
        """Return the folder of what is made of a video."""
        return OwnPath(self.cache) / FOLDER / self.shown.key(video)

    def ask(self, video: ShownVideo) -> None:
        """Put a video in front of those that wait to be prepared."""
        if self.is_prepared(video) or self.shown.key(video) in self._why:
            return
        with self._changed:
            self._waiting = [video, *(waiting for waiting in self._waiting if waiting.number != video.number)]
            self._changed.notify()

    def is_prepared(self, video: ShownVideo) -> bool:
        """Whether all of a video is prepared."""
        frames = self._frames(video)
        return frames is not None and frames.strip is not None

    def table(self, video: ShownVideo) -> FrameTable | None:
        """Return the frame table of a video; None while it is not ready."""
        frames = self._frames(video)
        return None if frames is None else FrameTable.of_runs(frames)

    def own_table(self, video: ShownVideo) -> FrameTable | None:
        """Return the frame table of the file itself; None while it is not ready, or if a copy is played."""
        frames = self._frames(video)
        return None if frames is None or frames.copy_why else FrameTable.of_runs(frames)

    def playing(self, video: ShownVideo) -> Playing:
        """Return how a video is played, and begin to prepare it."""
        path = self.shown.path(video)
        key = self.shown.key(video)
        frames = self._frames(video)
        if frames is not None and (not frames.copy_why or (self.folder(video) / COPY).is_file()):
            self.ask(video)
            return Playing("copy" if frames.copy_why else "original", frames.copy_why, frames=True)
        if key not in self._copied:
            try:
                self._copied[key] = self._pool.submit(why_copied, str(path)).result(20)
            except (TrueMomentError, BrokenProcessPool, TimeoutError) as error:
                return Playing("not playable", str(error) or "it cannot be read", frames=False)
        why = self._copied[key]
        self.ask(video)
        if not why:
            return Playing("original", "", frames=False)
        failed = self._why.get(key, "")
        return Playing("not playable" if failed else "preparing", failed or why, frames=False)

    def video(self, video: ShownVideo) -> Response:
        """Return the file that browsers play, whole or in ranges."""
        path = self.shown.path(video)
        frames = self._frames(video)
        if frames is not None and frames.copy_why:
            copy = self.folder(video) / COPY
            try:
                return VideoResponse(copy, open_media(copy), self.streams)
            except PageError:
                raise PageError(404, "a copy is being made") from None
        if frames is None and self.playing(video).state != "original":
            raise PageError(404, "a copy is being made")
        return VideoResponse(path, open_media(path), self.streams)

    def file(self, video: ShownVideo, name: str, kind: str) -> Response:
        """Return a file that belongs to a video; 404 while it is not ready."""
        self.ask(video)
        if name == FRAMES and self._frames(video) is None:
            raise PageError(404, "not ready")
        return small_file(self.folder(video) / name, kind)

    def _frames(self, video: ShownVideo) -> VideoFrames | None:
        self.shown.path(video)
        frames = read_frames(self.folder(video))
        return frames if frames and frames.identity == self.shown.identity(video) else None

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._is_closed:
                    self._changed.wait()
                if self._is_closed:
                    return
                video = self._waiting.pop(0)
            try:
                path, folder = self.shown.path(video), self.folder(video)
                why = self._pool.submit(prepare_shown, str(path), folder.absolute()).result()
            except PageError:
                continue
            except Exception as error:  # its process died, or the server ends
                why = f"preparing it ended its process ({type(error).__name__})"
            if why:
                self._why[self.shown.key(video)] = why
