"""Videos and what belongs to them, sent to a page: whole or in ranges, and only the file that was prepared."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Awaitable, Callable
from typing import BinaryIO

from starlette.responses import FileResponse, Response

from truemoment.base.boundary.own_path import AnyPath, OwnPath, open_regular, path_of_opened
from truemoment.base.errors import TrueMomentError
from truemoment.media.video.files import identity_of_stream
from truemoment.web.pages.errors import PageError, error_response
from truemoment.web.pages.security import Receive, Scope, Send

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

    def open_video(self, path: AnyPath, identity: str) -> BinaryIO:
        """Open a regular file; refuse a file that is gone, is no file, or was exchanged."""
        stream = open_media(path)
        with contextlib.ExitStack() as opened:
            opened.callback(stream.close)
            status = os.fstat(stream.fileno())
            key = (str(path), status.st_size, status.st_mtime_ns, status.st_ino)
            with self._lock:
                current = self._known.get(key)
            if current is None:
                try:
                    current = identity_of_stream(stream)
                except OSError:
                    raise PageError(404, "the video cannot be read") from None
                with self._lock:
                    self._known[key] = current
            if current != identity:
                raise VideoChangedError(404, "the video file has changed since it was prepared")
            opened.pop_all()
        return stream


def open_media(path: AnyPath) -> BinaryIO:
    """Open a regular file that is sent to a page."""
    try:
        return open_regular(path)
    except (OSError, ValueError, TrueMomentError):
        raise PageError(404, "the video file is missing") from None


class Streams:
    """Counts the videos that are being sent."""

    def __init__(self, max_streams: int = MOST_STREAMS) -> None:
        self.max_streams, self.n_open = max_streams, 0

    def enter(self) -> bool:
        """Count one more; False if there are too many."""
        if self.n_open >= self.max_streams:
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
    stream
        The same file, opened: it is sent, whatever takes its place. It is closed when all is sent.
    streams
        Counter of the server; with too many the answer is 429.
    """

    chunk_size = 1 << 18

    def __init__(self, path: AnyPath, stream: BinaryIO, streams: Streams) -> None:
        kind = VIDEO_TYPES.get(path.suffix.lower(), "application/octet-stream")
        opened = path_of_opened(stream, path)
        super().__init__(opened, headers=CACHED, media_type=kind, stat_result=os.fstat(stream.fileno()))
        self._stream, self._streams = stream, streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the video."""
        with self._stream:
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


def small_file(path: OwnPath, kind: str) -> Response:
    """Return a file of ours that belongs to a video (frame table, pictures, peaks); 404 while it is not ready."""
    try:
        data = path.content()
    except (OSError, TrueMomentError):
        raise PageError(404, "not ready") from None
    return Response(data, media_type=kind, headers=CACHED)
