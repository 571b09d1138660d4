"""Files of videos: finding and identifying them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from truemoment.base.boundary.inputs import reading
from truemoment.base.boundary.own_path import AnyPath, open_regular
from truemoment.base.errors import InputError, MissingFileError

VIDEO_SUFFIXES = (".mp4", ".mkv", ".webm", ".avi", ".mov")

END_BYTES = 1 << 20
"""Of each end of a file, that its identity is made of."""

BLOCKS, BLOCK_BYTES = 16, 1 << 16
"""Of its middle: what is cut off and filled with zeros, as by a download that is under way, is another file."""


def find_videos(folder: Path, video_ids: Iterable[str]) -> dict[str, Path]:
    """Return the file of each video by id: the id and one of :data:`VIDEO_SUFFIXES`, in either case.

    An id with such a suffix is a whole file name. Subfolders are not searched; videos without a file are left out.
    """
    files: dict[str, list[Path]] = {}
    try:
        for path in sorted(folder.iterdir()):
            if path.suffix.lower() in VIDEO_SUFFIXES and path.is_file():
                files.setdefault(path.stem, []).append(path)
                files.setdefault(path.name, []).append(path)
    except FileNotFoundError:
        raise MissingFileError(f"{folder}: no such folder") from None
    except NotADirectoryError:
        raise InputError("is a file, expected a folder of videos", path=folder) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=folder) from None
    paths = {}
    for video_id in dict.fromkeys(video_ids):
        candidates = files.get(video_id, [])
        if len(candidates) > 1:
            names = " and ".join(path.name for path in candidates)
            raise InputError(f"contains {names}, expected one file of video {video_id!r}", path=folder)
        if candidates:
            paths[video_id] = candidates[0]
    return paths


def identity_of(path: AnyPath) -> str:
    """Return ``SIZE:SHA256`` of a video file, from its ends and blocks between.

    The SHA-256 covers the first and last 1 MiB and 16 evenly spaced blocks of 64 KiB (the whole file up to 3 MiB). It
    does not change when the file is copied or renamed.
    """
    try:
        with open_regular(reading(path)) as stream:
            return identity_of_stream(stream)
    except FileNotFoundError:
        raise MissingFileError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path) from None


def identity_of_stream(stream: BinaryIO) -> str:
    """Return the identity of an opened file."""
    digest = hashlib.sha256()
    size = stream.seek(0, 2)
    for at, length in _examined_parts(size):
        stream.seek(at)
        digest.update(stream.read(length))
    return f"{size}:{digest.hexdigest()}"


def _examined_parts(size: int) -> Iterator[tuple[int, int]]:
    """Return position and number of bytes of each examined block of a file of a size."""
    between = size - 2 * END_BYTES
    if between <= BLOCKS * BLOCK_BYTES:
        yield 0, size
        return
    yield 0, END_BYTES
    for k in range(BLOCKS):
        yield END_BYTES + (2 * k + 1) * between // (2 * BLOCKS) - BLOCK_BYTES // 2, BLOCK_BYTES
    yield size - END_BYTES, END_BYTES
