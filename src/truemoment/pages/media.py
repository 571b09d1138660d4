"""Videos and what belongs to them, sent to a page: whole or in ranges, and only the file that was prepared."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.responses import FileResponse, Response

from truemoment.exceptions import TrueMomentError
from truemoment.pages.errors import PageError, error_response
from truemoment.pages.security import Receive, Scope, Send
from truemoment.video.files import identity_of

MOST_STREAMS = 40
"""Videos that are sent at a time, in all."""

CACHED = {"Cache-Control": "private, max-age=3600"}

VIDEO_TYPES = {".mp4": "video/mp4", ".m4v": "video/mp4", ".mov": "video/quicktime", ".webm": "video/webm"}


class VideoChangedError(PageError):
    """Another file has taken the place of the one that was prepared."""


class Identities:
    """Remembers which files have the identity that was prepared, by their place, size and time of change."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int, int, int], str] = {}
        self._lock = threading.Lock()

    def check(self, path: Path, identity: str) -> os.stat_result:
        """Return the properties of a regular file; refuse a file that is gone, is no file, or was exchanged."""
        try:
            found = path.stat()
        except (OSError, ValueError):
            raise PageError(404, "the video file is missing") from None
        if not stat.S_ISREG(found.st_mode):
            raise PageError(404, "the video file is missing")
        key = (str(path), found.st_size, found.st_mtime_ns, found.st_ino)
        with self._lock:
            known = self._known.get(key)
        if known is None:
            try:
                known = identity_of(path)
            except TrueMomentError:
                raise PageError(404, "the video cannot be read") from None
            with self._lock:
                self._known[key] = known
        if known != identity:
            raise VideoChangedError(404, "the video file has changed since it was prepared")
        return found


class Streams:
    """Counts the videos that are being sent."""

    def __init__(self, most: int = MOST_STREAMS) -> None:
        self.most, self.n_open = most, 0

    def enter(self) -> bool:
        """Count one more; False if there are too many."""
        if self.n_open >= self.most:
            return False
        self.n_open += 1
        return True

    def leave(self) -> None:
        """Count one less."""
        self.n_open -= 1


class VideoResponse(FileResponse):
    """A video, whole or in ranges, counted among the streams of the server.

    Parameters
    ----------
    path
        The file.
    found
        Its properties, as they were checked.
    streams
        Counter of the server; with too many the answer is 429.
    """

    chunk_size = 1 << 18

    def __init__(self, path: Path, found: os.stat_result, streams: Streams) -> None:
        kind = VIDEO_TYPES.get(path.suffix.lower(), "application/octet-stream")
        super().__init__(path, headers=CACHED, media_type=kind, stat_result=found)
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        if not self._streams.enter():
            refusal = error_response(429, "too many videos are being played; try again in a moment")
            refusal.headers["Retry-After"] = "2"
            await refusal(scope, receive, send)
            return
        try:
            sending: Callable[[Scope, Receive, Send], Awaitable[None]] = super().__call__
            await sending(scope, receive, send)
        finally:
            self._streams.leave()


def small_file(path: Path, kind: str) -> Response:
    """Return a file of ours that belongs to a video (frame table, pictures, peaks); 404 while it is not ready."""
    try:
        data = path.read_bytes()
    except OSError:
        raise PageError(404, "not ready") from None
    return Response(data, media_type=kind, headers=CACHED)
