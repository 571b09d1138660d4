"""Files of videos: finding and identifying them."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from truemoment.base.boundary.inputs import reading
from truemoment.base.boundary.own_path import AnyPath, open_regular
from truemoment.base.errors import DataWarning, InputError, MissingFileError
from truemoment.media.video.frames import opened
from truemoment.report.words import few

VIDEO_SUFFIXES = (".mp4", ".mkv", ".webm", ".avi", ".mov")
"""Of files that are meant to be videos; where one cannot be read, its reading tells why."""

END_BYTES = 1 << 20
"""Of each end of a file, that its identity is made of."""

BLOCKS, BLOCK_BYTES = 16, 1 << 16
"""Of its middle: what is cut off and filled with zeros, as by a download that is under way, is another file."""


def is_video(path: Path) -> bool:
    """Whether a file has one of :data:`VIDEO_SUFFIXES`, or the decoder opens it as a video."""
    if path.suffix.lower() in VIDEO_SUFFIXES:
        return True
    try:
        with opened(path):
            return True
    except (InputError, MissingFileError):
        return False


def sorted_files(paths: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """Return the files that are videos, and the others."""
    videos: list[Path] = []
    others: list[Path] = []
    for path in paths:
        (videos if is_video(path) else others).append(path)
    return videos, others


def find_videos(folder: Path, video_ids: Iterable[str]) -> dict[str, Path]:
    """Return the file of each video by id: a video file whose name, with or without its ending, is the id.

    Subfolders are not searched. Videos without a file are left out; files of them that are no videos, with a warning.
    """
    files: dict[str, list[Path]] = {}
    try:
        for path in sorted(folder.iterdir()):
            if path.is_file():
                files.setdefault(path.stem, []).append(path)
                files.setdefault(path.name, []).append(path)
    except FileNotFoundError:
        raise MissingFileError(f"{folder}: no such folder") from None
    except NotADirectoryError:
        raise InputError("is a file, expected a folder of videos", path=folder) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=folder) from None
    paths: dict[str, Path] = {}
    others: list[Path] = []
    for video_id in dict.fromkeys(video_ids):
        named = dict.fromkeys(files.get(video_id, []))
        candidates = [path for path in named if is_video(path)]
        if len(candidates) > 1:
            names = " and ".join(path.name for path in candidates)
            raise InputError(f"contains {names}, expected one file of video {video_id!r}", path=folder)
        if candidates:
            paths[video_id] = candidates[0]
        else:
            others += named
    if others:
        left_out = few([path.name for path in others])
        warnings.warn(f"{folder}: left out {left_out}, which FFmpeg does not open as videos", DataWarning, stacklevel=2)
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
