"""Pictures and clips of moments that were found."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from truemoment.base.boundary.files import write_bytes
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import InputError, MissingFileError
from truemoment.media.video.clips import cut_clip, thumbnail
from truemoment.media.video.frames import Outline, outline_of
from truemoment.report.words import clock
from truemoment.searching.encoder_options import index_of
from truemoment.searching.index import Index
from truemoment.searching.retrieval import FoundMoment

NAME_BYTES = 80
"""Bytes of a video's name in the names of files; the rank makes them different."""


@dataclass(frozen=True)
class SearchResult:
    """A moment that was found, and its files.

    Parameters
    ----------
    rank
        From 1.
    moment
        The moment.
    path
        File of its video.
    thumbnail, clip
        Files of its picture and its clip; None for none.
    picture
        Its picture as JPEG; None for none.
    """

    rank: int
    moment: FoundMoment
    path: Path
    thumbnail: Path | None = None
    clip: Path | None = None
    picture: bytes | None = None


def with_ranks(index: Index, moments: Sequence[FoundMoment]) -> list[SearchResult]:
    """Return moments with their ranks and the files of their videos."""
    return [
        SearchResult(rank, moment, Path(index.about(moment.video_id).path))
        for rank, moment in enumerate(moments, start=1)
    ]


@dataclass
class Pictures:
    """Takes pictures of moments and cuts clips.

    Parameters
    ----------
    index
        Where the moments were found.
    thumbnails, clips
        Folders of pictures and of clips; None for none.
    in_memory
        Whether each result has its picture.
    """

    index: Index
    thumbnails: Path | None = None
    clips: Path | None = None
    in_memory: bool = False
    failed: dict[str, str] = field(default_factory=dict)
    """Videos that can no longer be read, and why."""
    _outlines: dict[Path, Outline] = field(default_factory=dict)

    def add(
        self,
        results: list[SearchResult],
        track: Callable[[list[SearchResult]], Iterable[SearchResult]] = iter,
    ) -> list[SearchResult]:
        """Return results with their files; without files for a video that can no longer be read."""
        if self.thumbnails is None and self.clips is None and not self.in_memory:
            return results
        return [self._with_files(result) for result in track(results)]

    def _with_files(self, result: SearchResult) -> SearchResult:
        video_id = result.moment.video_id
        try:
            path = self.index.path_of(video_id)
        except (InputError, MissingFileError) as error:
            self.failed[video_id] = str(error)
            return result
        result = replace(result, path=path)
        try:
            if path not in self._outlines:
                self._outlines[path] = outline_of(path, partial=True)
            return self._clip_of(self._picture_of(result))
        except InputError as error:
            if error.path != path:  # the fault is in what is written, not in the video
                raise
            self.failed[video_id] = str(error)
        return result

    def _picture_of(self, result: SearchResult) -> SearchResult:
        if self.thumbnails is None and not self.in_memory:
            return result
        moment = result.moment
        picture = thumbnail(result.path, (moment.start_s + moment.end_s) / 2, outline=self._outlines[result.path])
        if self.thumbnails is None:
            return replace(result, picture=picture)
        file = OwnPath(self.thumbnails) / f"{name_of_files(result)}.jpg"
        with _folder_of(file):
            write_bytes(file, picture)
        return replace(result, picture=picture, thumbnail=file.path)

    def _clip_of(self, result: SearchResult) -> SearchResult:
        if self.clips is None:
            return result
        moment, file = result.moment, OwnPath(self.clips) / f"{name_of_files(result)}.mp4"
        with _folder_of(file):
            cut_clip(result.path, file, moment.start_s, moment.end_s, outline=self._outlines[result.path])
        return replace(result, clip=file.path)

    def among_videos(self) -> bool:
        """Whether clips lie among the videos of an index of a folder, which would be indexed as videos later."""
        if self.clips is None:
            return False
        folders = {Path(self.index.about(name).path).parent for name in self.index}
        within = folders & {self.clips.resolve(), *self.clips.resolve().parents}
        of_folder = any(index_of(folder) == self.index.path.resolve() for folder in within)
        return bool(within) and (len(self.index) > 1 or of_folder)


@contextlib.contextmanager
def _folder_of(file: OwnPath) -> Iterator[None]:
    """Make the folder of a file to write; a new folder that stays empty is removed."""
    folder = file.parent
    is_new = not folder.exists()
    try:
        folder.path.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror})", path=folder) from None
    try:
        yield
    except BaseException:
        if is_new:
            with contextlib.suppress(OSError):  # it contains something
                folder.rmdir()
        raise


def name_of_files(result: SearchResult) -> str:
    """Return the name of the files of a moment: rank, video and start; file systems count the bytes of a name."""
    hours, minutes, seconds = clock(result.moment.start_s).split(":")
    video = re.sub(r"[^\w.-]+", "_", result.moment.video_id).encode("utf-8", "replace")[:NAME_BYTES]
    of_video = video.decode("utf-8", "ignore").strip("._") or "video"
    return f"{result.rank:02}-{of_video}-{hours}h{minutes}m{seconds}s"
