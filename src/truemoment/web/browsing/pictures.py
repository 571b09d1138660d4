"""Pictures of moments: made in worker processes, and kept on disk by video, time and size.

A picture that is kept is a file of 8 bytes, the time of its frame, and a JPEG file; one that is damaged is made again.
The folder can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from truemoment.base.boundary.files import write_bytes
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.boundary.processes import RestartingPool
from truemoment.base.errors import InputError, TrueMomentError
from truemoment.web.browsing.decoding import begin_decoding, exact_picture, key_picture, sheet_of_moment
from truemoment.web.browsing.videos import ShownVideo, ShownVideos
from truemoment.web.pages.errors import PageError

T = TypeVar("T")

FOLDER = "pictures"

SIDE, SIDES = 320, (160, 320, 640, 1280)
"""Longest side of a picture, pixels."""

SHEET_SIDE = 200
"""Longest side of the pictures that a card shows one after another."""

MOST_BYTES = 500 << 20
"""Size of all pictures together."""

PRUNED_EVERY = 200
"""Pictures that are written between two looks at the size."""

WAIT_S = 30.0
"""Longest wait for a picture."""

WORKERS = 2


@dataclass(frozen=True)
class MomentPicture:
    """A JPEG file, and the time of its frame in seconds."""

    time_s: float
    jpeg: bytes


class MomentPictures:
    """Pictures of the moments of videos.

    Parameters
    ----------
    shown
        The videos.
    cache
        Folder in which they are kept.
    most_bytes
        Size from which the pictures that were used least recently are removed.
    """

    def __init__(self, videos: ShownVideos, cache: Path, *, most_bytes: int = MOST_BYTES) -> None:
        self.shown, self.folder, self.most_bytes = videos, OwnPath(cache) / FOLDER, most_bytes
        self._pool = RestartingPool(WORKERS, begin_decoding)
        self._written = 0

    def start(self) -> None:
        """Start the workers, so that the first picture does not wait for them."""
        for _ in range(WORKERS):
            self._pool.submit(os.getpid)

    def close(self) -> None:
        """End the workers."""
        self._pool.close()

    def picture(
        self, video: ShownVideo, start_s: float, end_s: float, *, side: int = SIDE, exact: bool = False
    ) -> MomentPicture:
        """Return a picture of a moment: a key frame, or with `exact` the frame in its middle."""
        kind = "exact" if exact else "key"
        middle = f"{1000 * (start_s + end_s) / 2:.0f}" if exact else f"{1000 * start_s:.0f}-{1000 * end_s:.0f}"
        make = exact_picture if exact else key_picture
        return self._kept(video, f"{kind}-{middle}-{side}", make, start_s, end_s, side)

    def sheet(self, video: ShownVideo, start_s: float, end_s: float) -> MomentPicture:
        """Return pictures of a moment side by side."""
        name = f"sheet-{1000 * start_s:.0f}-{1000 * end_s:.0f}"
        return self._kept(video, name, sheet_of_moment, start_s, end_s, SHEET_SIDE)

    def _kept(
        self, video: ShownVideo, name: str, make: Callable[..., tuple[float, bytes]], *arguments: float
    ) -> MomentPicture:
        path = self.shown.path(video)
        file = self.folder / self.shown.key(video) / f"{name}.jpg"
        picture = read_picture(file)
        if picture is not None:
            return picture
        task = self._pool.submit(make, str(path), *arguments)
        time_s, jpeg = result_of(task)
        with contextlib.suppress(TrueMomentError, OSError):  # a full disk costs the cache, not the picture
            self._keep(file, time_s, jpeg)
        return MomentPicture(time_s, jpeg)

    def _keep(self, file: OwnPath, time_s: float, jpeg: bytes) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(file, struct.pack("<d", time_s) + jpeg)
        self._written += 1
        if self._written % PRUNED_EVERY == 0:
            self.prune()

    def prune(self) -> None:
        """Remove the pictures that were used least recently, until the others fit."""
        files = []
        for file in self.folder.glob("*/*.jpg"):
            with contextlib.suppress(OSError):  # another server has removed it
                about = file.stat()
                files.append((about.st_mtime, about.st_size, file))
        total = sum(size for _, size, _ in files)
        for _, size, file in sorted(files):
            if total <= self.most_bytes:
                break
            file.unlink(missing_ok=True)
            total -= size


def read_picture(file: OwnPath) -> MomentPicture | None:
    """Read a picture that is kept; None if there is none, or it is damaged."""
    try:
        data = file.content()
        file.touch_now()
    except (OSError, InputError):
        return None
    if len(data) < 12 or data[8:10] != b"\xff\xd8" or data[-2:] != b"\xff\xd9":
        return None
    (time_s,) = struct.unpack("<d", data[:8])
    return MomentPicture(time_s, data[8:]) if 0 <= time_s < 1e9 else None


def result_of(task: Future[T]) -> T:
    """Return the result of a worker; a video that cannot be decoded is an answer in words."""
    try:
        return task.result(WAIT_S)
    except TrueMomentError as error:
        raise PageError(422, str(error)) from None
    except (BrokenProcessPool, CancelledError):
        raise PageError(422, "decoding this video ended its process") from None
    except FutureTimeoutError:
        raise PageError(422, "decoding this video takes too long") from None
    except OSError as error:
        raise PageError(404, f"the video cannot be read ({error.strerror})") from None
