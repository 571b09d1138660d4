"""Writing an index: a part of a video at a time, so that whatever ends the work, the same command resumes it.

There is one writer at a time. :meth:`IndexWriter.plan` lists what to do: a file that was only moved keeps its rows; one
that was changed, or whose rows are damaged, is read again.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from truemoment.base.boundary.arrays import DAMAGED, map_npy, write_npy
from truemoment.base.boundary.files import atomic_folder, write_json
from truemoment.base.boundary.folders import LOCK, TEMPORARY, lock_folder, remove_leftovers
from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.boundary.text import as_text
from truemoment.base.errors import InputError, MissingFileError, TrueMomentError, UsageError
from truemoment.media.video import creation_time, identity_of, sorted_files
from truemoment.searching.layout import (
    ABOUT,
    CODES,
    FOLDER_NAME,
    MANIFEST,
    MODELS,
    NORMS,
    PARTS,
    PIECES,
    ROWS,
    SAID,
    SETTINGS,
    UNRELATED,
    UNRELATED_PICTURES,
    VIDEOS,
    Rows,
    Settings,
    VideoRecord,
    folder_name,
    is_file,
    is_index,
    map_table,
    piece_means,
    pieces_in,
    read_about,
    read_settings,
    refuse_other_frames,
    refuse_other_norms,
    rows_in,
    spans_of,
)
from truemoment.searching.scoring import span_norms

NEW, OLD = ".new-", ".old-"
"""Prefixes of the folder of a video that replaces another one, and of the folder that is replaced."""

_ASIDE = re.compile(rf"\.(?:new|old)-{FOLDER_NAME}")
_PARTS = re.compile(rf"({FOLDER_NAME})-[0-9a-f]{{12}}")
_OWN_FOLDER = re.compile(f"{FOLDER_NAME}|{_ASIDE.pattern}|{_PARTS.pattern}|{TEMPORARY.pattern}")


@dataclass(frozen=True)
class VideoFile:
    """A video that is to be indexed.

    Parameters
    ----------
    video_id, path, identity
        Its name, where it lies, what distinguishes it from another file.
    """

    video_id: str
    path: Path
    identity: str

    @property
    def n_bytes(self) -> int:
        """Size of the file, as in its identity."""
        return int(self.identity.partition(":")[0])


@dataclass(frozen=True)
class IndexPlan:
    """The work of indexing some files.

    Parameters
    ----------
    new, changed
        Videos to read: those that the index does not have, and those whose file has changed, whose file was damaged (it
        may have been mended where its identity does not show it), or whose rows in the index are damaged.
    unchanged
        Videos that the index has.
    moved
        Number of unchanged videos whose file was moved.
    copies
        Files with the content of another file, which are skipped.
    unreadable
        Files that cannot be read, by name, and why.
    notes
        Notes on videos to read.
    """

    new: tuple[VideoFile, ...] = ()
    changed: tuple[VideoFile, ...] = ()
    unchanged: tuple[VideoFile, ...] = ()
    moved: int = 0
    copies: tuple[Path, ...] = ()
    unreadable: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def to_read(self) -> tuple[VideoFile, ...]:
        """Videos to read, new ones first."""
        return (*self.new, *self.changed)


class ListedFiles(NamedTuple):
    """Video files, and files of folders that are no videos."""

    videos: list[Path]
    others: list[Path]


def list_videos(paths: Iterable[Path]) -> ListedFiles:
    """List video files: the files among the paths, and all videos in the folders among them, at any depth, by name.

    Hidden files and indexes in the folders are passed over.
    """
    files: list[Path] = []
    others: list[Path] = []
    for path in paths:
        if path.is_dir():
            indexes = {file.parent for file in path.rglob(SETTINGS) if is_index(file.parent)}
            inside = [
                file
                for file in sorted(path.rglob("*"))
                if not file.name.startswith(".") and indexes.isdisjoint(file.parents) and is_file(file)
            ]
            videos, no_videos = sorted_files(inside)
            if not videos:
                raise MissingFileError(f"{path}: contains no video that FFmpeg opens")
            files += videos
            others += no_videos
        elif path.is_file():
            files.append(path)
        else:
            raise MissingFileError(f"{path}: no such file")
    return ListedFiles(list(dict.fromkeys(path.resolve() for path in files)), others)


class IndexWriter:
    """Writes an index, a part at a time; one writer at a time.

    Use it as a context: an index that another process is writing is refused.

    Parameters
    ----------
    path
        The folder, which is made if it does not exist.
    settings
        How the videos are read.
    first
        The videos of the first model of the index, by name, if this is another model: videos have these names, and
        others are removed.
    """

    def __init__(self, path: AnyPath, settings: Settings, first: Mapping[str, VideoRecord] | None = None) -> None:
        self.folder, self.settings, self.first = OwnPath.of(path), settings, first
        self.path = self.folder.path
        self._refuse_others()
        refuse_other_frames(settings)
        self._lock = contextlib.ExitStack()
        self._is_new = False

    def _refuse_others(self) -> None:
        """Refuse a folder that is no index, one with links in it, and an index with other settings."""
        self.folder.refuse_links()
        if not is_index(self.folder):
            if self.path.exists() and not _is_only_begun(self.folder):
                raise InputError("exists already and is no index, expected a new folder", path=self.path)
            return
        made, ours = read_settings(self.folder), self.settings
        for name, was, now in (
            ("--model", f"{made.encoder}#{made.fingerprint[:8]}", f"{ours.encoder}#{ours.fingerprint[:8]}"),
            ("--fps", f"{made.fps:g}", f"{ours.fps:g}"),
            ("dtype", made.dtype, ours.dtype),
            ("--proposals", made.proposals, ours.proposals),
        ):
            if was != now:
                raise UsageError(
                    f"{self.path}: was made with {name} {was}, got {now}; name another folder, or the same {name}"
                )
        if made.n_dimensions != ours.n_dimensions:
            came = f"found {made.n_dimensions:,} numbers per row, expected {ours.n_dimensions:,} of {ours.encoder}"
            raise InputError(came, path=self.folder / SETTINGS, hint="index into another folder")

    def __enter__(self) -> IndexWriter:
        with contextlib.ExitStack() as begun:
            begun.enter_context(lock_folder(self.folder))
            self._refuse_others()  # another process may have made it since the check
            self._begin()
            self._lock = begun.pop_all()
        return self

    def _begin(self) -> None:
        """Make missing folders, and repair what an interrupted command has left."""
        self._is_new = not is_index(self.folder)
        if self._is_new:
            write_json(self.folder / SETTINGS, self.settings, indent=1)
        (self.folder / MANIFEST).unlink(missing_ok=True)  # it is written again when all is done
        videos, parts = self.folder / VIDEOS, self.folder / PARTS
        try:
            for folder in (videos, parts):
                folder.mkdir(exist_ok=True)
            aside = [path for path in videos.iterdir() if _ASIDE.fullmatch(path.name)]
            for old in aside:
                if old.name.startswith(OLD):
                    _put_back(old)
        except OSError as error:
            raise InputError(f"cannot be made ({error.strerror})", path=self.path) from None
        for left in aside:
            with contextlib.suppress(OSError):
                left.remove_tree()
        if self.first is not None:
            self._remove_others(self.first)
        for folder in (self.folder, videos, parts, *videos.folders(), *parts.folders()):
            remove_leftovers(folder)

    def _remove_others(self, first: Mapping[str, VideoRecord]) -> None:
        """Remove videos that the first model does not have, or has with other content."""
        kept = {folder_name(name): about.identity for name, about in first.items()}
        for folder in filter(_is_ours, (self.folder / VIDEOS).glob("[!.]*")):
            with contextlib.suppress(InputError, MissingFileError, OSError):  # damaged ones are made again
                if folder.name not in kept or read_about(folder / ABOUT).identity != kept[folder.name]:
                    folder.remove_tree()

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            (self.folder / PARTS).rmdir()  # if it is empty
            if self._is_new:
                (self.folder / VIDEOS).rmdir()  # if no video was indexed
                (self.folder / SETTINGS).unlink()
        self._lock.close()

    def plan(self, paths: Sequence[Path]) -> IndexPlan:
        """Compare video files with the videos of the index; a file that was only moved is unchanged."""
        known, damaged = self._entries()
        by_identity = {about.identity: about for about in known.values()}
        by_path = {about.path: about for about in known.values()}
        seen: dict[str, Path] = {}
        copies: list[Path] = []
        why_not: dict[Path, str] = {}
        for path in paths:
            try:
                _text_of(path)
                identity = identity_of(path)
            except TrueMomentError as error:
                why_not[path] = str(error)
                continue
            if seen.setdefault(identity, path) is not path:
                copies.append(path)
        names = {about.identity: name for name, about in (self.first or {}).items()}
        taken = set(known)
        new: list[VideoFile] = []
        changed: list[VideoFile] = []
        unchanged: list[VideoFile] = []
        moved = 0
        for identity, path in seen.items():
            if about := by_identity.get(identity):
                is_changed = about.notes or folder_name(about.video_id) in damaged
                (changed if is_changed else unchanged).append(VideoFile(about.video_id, path, identity))
                if about.path != str(path) and not _holds(Path(about.path), identity):
                    moved_about = msgspec.structs.replace(about, path=_text_of(path))
                    self._write_about(self.folder / VIDEOS / folder_name(about.video_id), moved_about)
                    moved += not is_changed
            elif (about := by_path.get(str(path))) and about.identity not in seen:
                changed.append(VideoFile(about.video_id, path, identity))
            else:
                new.append(VideoFile(names.get(identity) or _new_name(path, taken), path, identity))
                taken.add(new[-1].video_id)
        unreadable: dict[str, str] = {}
        for path, why in why_not.items():
            about = by_path.get(str(path))
            name = about.video_id if about and about.identity not in seen else _new_name(path, taken | set(unreadable))
            unreadable[name] = why
        lost = {video.video_id for video in (*new, *changed) if folder_name(video.video_id) in damaged}
        notes = dict.fromkeys(sorted(lost), "its part of the index was damaged, and is made again")
        return IndexPlan(tuple(new), tuple(changed), tuple(unchanged), moved, tuple(copies), unreadable, notes)

    def _entries(self) -> tuple[dict[str, VideoRecord], set[str]]:
        """Return what is known of each video, and the names of folders that are damaged."""
        known: dict[str, VideoRecord] = {}
        damaged = set()
        for folder in (self.folder / VIDEOS).glob("[!.]*"):
            try:
                about = read_about(folder / ABOUT)
                known[about.video_id] = about
                rows = rows_in(folder, about, self.settings)
                refuse_other_norms(folder, rows, spans_of(self.settings.proposals, len(rows)))
                pieces_in(folder, about, self.settings)
            except (InputError, MissingFileError):
                damaged.add(folder.name)
        return known, damaged

    def kept_parts(self, video: VideoFile, part_rows: int, n_rows: int) -> set[int]:
        """Return the numbers of the parts of a video of `n_rows` rows that are complete."""
        kept = set()
        for number, (file, length) in enumerate(self._part_files(video, part_rows, n_rows)):
            with contextlib.suppress(InputError, MissingFileError):
                map_table(file, (length, self.settings.n_dimensions), self.settings.dtype)
                kept.add(number)
        return kept

    def keep_part(self, video: VideoFile, part_rows: int, number: int, rows: Rows) -> None:
        """Write a part of a video: its rows from ``number * part_rows`` on."""
        folder = self._parts_of(video, part_rows)
        folder.mkdir(exist_ok=True)
        with np.errstate(over="ignore"):
            cast = rows.astype(self.settings.dtype)
        if not np.isfinite(cast).all():
            raise InputError(
                f"{self.settings.encoder} gives numbers that are not finite, or too large", path=video.path
            )
        write_npy(folder / f"{number:06}.npy", cast)

    def finish(
        self,
        video: VideoFile,
        part_rows: int,
        n_rows: int,
        duration_s: float,
        *,
        notes: Sequence[str] = (),
        stills: Collection[int] = (),
    ) -> VideoRecord:
        """Join the parts of a video of `n_rows` rows, and replace its earlier rows.

        Parts whose numbers are `stills` are not kept: their rows are the last one of the part before.
        """
        rows = self._join_parts(video, part_rows, n_rows, stills)
        about = VideoRecord(
            video_id=video.video_id,
            path=_text_of(video.path),
            identity=video.identity,
            duration_s=duration_s,
            n_frames=len(rows),
            notes=tuple(notes),
            created=creation_time(video.path),
        )
        first, end = spans_of(self.settings.proposals, len(rows))
        target = self.folder / VIDEOS / folder_name(video.video_id)
        fresh = target.with_name(f"{NEW}{target.name}")
        with atomic_folder(fresh) as folder:
            for name, table in (
                (ROWS, rows),
                (NORMS, np.asarray(span_norms(rows, first, end), dtype=np.float32)),
                (PIECES, piece_means(rows, self.settings.fps)),
            ):
                write_npy(folder / name, table)
            self._write_about(folder, about)
        _take_place(fresh, target)
        self.forget_parts(video)
        return about

    def _join_parts(self, video: VideoFile, part_rows: int, n_rows: int, stills: Collection[int]) -> Rows:
        parts: list[Rows] = []
        try:
            for number, (file, length) in enumerate(self._part_files(video, part_rows, n_rows)):
                still = number in stills
                parts.append(np.repeat(parts[-1][-1:], length, axis=0) if still else map_npy(file))
            rows = np.concatenate(parts)
            problem = "" if rows.shape == (n_rows, self.settings.n_dimensions) else f"{len(rows)} rows of {n_rows}"
        except DAMAGED as error:
            problem = " ".join(str(error).split()) or type(error).__name__
        if problem:
            with contextlib.suppress(OSError):
                self._parts_of(video, part_rows).remove_tree()
            raise InputError(f"a part of it was damaged ({problem})", path=video.path, hint="index it again")
        return rows

    def forget_parts(self, video: VideoFile) -> None:
        """Remove the parts of a video, whatever they were made with."""
        for folder in (self.folder / PARTS).iterdir():
            if (name := _PARTS.fullmatch(folder.name)) and name[1] == folder_name(video.video_id):
                with contextlib.suppress(OSError):
                    folder.remove_tree()

    def _part_files(self, video: VideoFile, part_rows: int, n_rows: int) -> list[tuple[OwnPath, int]]:
        """Return the file of each part of a video of `n_rows` rows, and the number of rows in it."""
        folder, starts = self._parts_of(video, part_rows), range(0, n_rows, part_rows)
        return [(folder / f"{k:06}.npy", min(part_rows, n_rows - start)) for k, start in enumerate(starts)]

    def _parts_of(self, video: VideoFile, part_rows: int) -> OwnPath:
        """Return the folder of the parts of a video; its name has the file, the encoder and the rows of a part."""
        words = [
            video.identity,
            self.settings.fingerprint,
            repr(self.settings.fps),
            self.settings.dtype,
            str(part_rows),
        ]
        key = hashlib.sha256("|".join(words).encode()).hexdigest()[:12]
        return self.folder / PARTS / f"{folder_name(video.video_id)}-{key}"

    @staticmethod
    def _write_about(folder: OwnPath, about: VideoRecord) -> None:
        write_json(folder / ABOUT, about, indent=1)


def _is_ours(folder: OwnPath) -> bool:
    """Whether a folder has a name that an index gives: of a video, of parts of one, or of a model."""
    return _OWN_FOLDER.fullmatch(folder.name) is not None


def remove_index(path: AnyPath) -> None:
    """Remove an index with all its models, and its folder if that is empty then."""
    index = OwnPath.of(path)
    index.refuse_links()
    try:
        with lock_folder(index):
            for model in filter(_is_ours, (index / MODELS).folders() if (index / MODELS).is_dir() else ()):
                remove_index(model)
            with contextlib.suppress(OSError):  # it has none, or contains something else
                (index / MODELS).rmdir()
            for videos in (index / VIDEOS, index / PARTS):
                for folder in filter(_is_ours, videos.folders() if videos.is_dir() else ()):
                    folder.remove_tree()
                with contextlib.suppress(OSError):  # it does not exist, or contains something else
                    videos.rmdir()
            own = (index / name for name in (SETTINGS, MANIFEST, UNRELATED, UNRELATED_PICTURES, SAID))
            for file in (*own, *(index / CODES).glob("*")):
                file.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # the index has none
                (index / CODES).rmdir()
        with contextlib.suppress(OSError):  # it contains something else
            index.rmdir()
    except OSError as error:
        raise InputError(f"cannot be removed ({error.strerror})", path=index.path) from None


def _is_only_begun(path: OwnPath) -> bool:
    """Whether a folder contains only what a command leaves that was interrupted before it wrote the settings."""
    if not path.is_dir():
        return False
    return all(
        file.name == LOCK
        or TEMPORARY.fullmatch(file.name)
        or (file.name in (VIDEOS, PARTS) and file.is_dir() and not any(file.iterdir()))
        for file in path.iterdir()
    )


def _take_place(fresh: OwnPath, target: OwnPath) -> None:
    """Replace a folder by a complete one."""
    old = target.with_name(f"{OLD}{target.name}")
    try:
        if target.exists():
            target.rename(old)
        fresh.rename(target)
    except BaseException as error:
        with contextlib.suppress(OSError):  # else the next start does it
            _put_back(old)
        with contextlib.suppress(OSError):
            fresh.remove_tree()
        if isinstance(error, OSError):
            raise InputError(f"cannot be written ({error.strerror or error})", path=target) from None
        raise
    with contextlib.suppress(OSError):
        old.remove_tree()


def _put_back(old: OwnPath) -> None:
    """Give a folder that was to be replaced its name again, if nothing has replaced it."""
    target = old.with_name(old.name.removeprefix(OLD))
    if old.exists() and not target.exists():
        old.rename(target)


def _holds(path: Path, identity: str) -> bool:
    """Whether a file exists and has an identity."""
    try:
        return is_file(path) and identity_of(path) == identity
    except TrueMomentError:
        return False


def _new_name(path: Path, taken: set[str]) -> str:
    """Name a video after its file; with its folders where another video has the same name."""
    path = Path(as_text(str(path)))
    parts = path.with_suffix("").parts
    for many in range(1, len(parts)):
        name = "/".join(parts[-many:])
        if name not in taken:
            return name
    return path.as_posix()


def _text_of(path: Path) -> str:
    """Return a path as text; refuse one that is no UTF-8."""
    text = str(path)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("its name is no UTF-8 text, rename it", path=as_text(str(path))) from None
    return text
