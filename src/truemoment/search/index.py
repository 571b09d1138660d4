"""An index of videos on disk: what an encoder saw of each, to be searched again and again.

::

    INDEX/index.json               {"schema": "truemoment/index/1", "truemoment": VERSION, "model": "scenes",
                                    "encoder": NAME, "fingerprint": "...", "n_dimensions": D, "fps": 2.0,
                                    "dtype": "float16", "proposals": "windowed-grid:..."}
    INDEX/videos/VIDEO-HASH/       a video, complete or not there at all
        about.json                 {"video_id": ..., "path": ..., "identity": "SIZE:SHA256", "duration_s": ...,
                                    "n_frames": F, "notes": []}
        features.npy               (F, D): row k is the frame shown at k / fps
        norms.npy                  (P,): length of the mean of each proposal's rows, which no query changes
        pieces.npy                 (C, D): means of pieces of 4 s, of length 1: the first look at many videos
    INDEX/parts/VIDEO-HASH-KEY/    parts of a video that is not done yet, a few minutes each

Every file appears under its name only when complete, so whatever ends the program, at most the parts under way are
lost, and the same command goes on. A video is known by its content: a file that was renamed or moved keeps its rows,
one that was changed is read again. An :class:`Index` is a :class:`~truemoment.features.base.FeatureStore`,
memory-mapped.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import math
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np
import numpy.typing as npt

from truemoment.exceptions import InputError, MissingFileError, UsageError
from truemoment.features.own import DType
from truemoment.features.reading import UNREADABLE, FileStore
from truemoment.files import atomic_folder, atomic_write, decode_json, read_bytes
from truemoment.intervals import Ints
from truemoment.proposals import FrameProposals, Proposals, read_proposals
from truemoment.version import __version__ as version
from truemoment.video import VIDEO_SUFFIXES, identity_of

SCHEMA = "truemoment/index/1"
SETTINGS, ABOUT, ROWS, NORMS, PIECES = "index.json", "about.json", "features.npy", "norms.npy", "pieces.npy"
VIDEOS, PARTS, LOCK = "videos", "parts", ".lock"

HEAD = 1 << 14
"""Bytes of a file in which the schema is looked for; settings are shorter."""

PIECE_S = 4.0
"""Length of the pieces whose means are looked at first: the mean moment of MAD lasts 4.1 s."""

CLIP_S, CLIPS, LONGER = 1.0, 64, 4
"""Of the proposals for one's own videos: clips of about a second, 64 a window, and windows 4 times as long too."""

Rows = npt.NDArray[np.floating[Any]]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How all videos of an index were read.

    Parameters
    ----------
    model
        What :func:`~truemoment.video.encoders.load_encoder` was asked for.
    encoder, fingerprint, n_dimensions
        What it gave: its name, the hash of its weights and preprocessing, numbers a row.
    fps
        Frames a second, a row each.
    dtype
        Type of the rows on disk.
    proposals
        Candidate moments, as :func:`~truemoment.proposals.read_proposals` reads them.
    """

    model: str
    encoder: str
    fingerprint: str
    n_dimensions: int
    fps: float
    proposals: str
    dtype: DType = "float16"
    schema: str = SCHEMA
    truemoment: str = version


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a video.

    Parameters
    ----------
    video_id, path
        Its name, and where its file lay.
    identity
        What tells the file from another, see :func:`~truemoment.video.identity_of`.
    duration_s, n_frames
        Its length.
    notes
        What a person should know of how it was read.
    """

    video_id: str
    path: str
    identity: str
    duration_s: float
    n_frames: int
    notes: tuple[str, ...] = ()


def default_proposals(fps: float) -> str:
    """Write the candidate moments for one's own videos: windows of about 64 s and 256 s that cover all of a video.

    Examples
    --------
    >>> default_proposals(2.0)
    'windowed-grid:fps=2,window=128,stride=64,tail=covered+windowed-grid:fps=2,window=512,stride=256,tail=covered'
    """
    frames = max(1, round(CLIP_S * fps)) * CLIPS
    grids = (f"window={n},stride={n // 2},tail=covered" for n in (frames, frames * LONGER))
    return "+".join(f"windowed-grid:fps={_number(fps)},{grid}" for grid in grids)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


# ------------------------------------------------------------------------------------------------- reading


class Index(FileStore):
    """An index, to be searched; a FeatureStore of its videos.

    Parameters
    ----------
    path
        The folder.

    Raises
    ------
    MissingFileError
        If there is no such folder, or it is no index.
    InputError
        If its files do not fit together, or it holds no video.
    """

    def __init__(self, path: Path | str) -> None:
        path = Path(path)
        self.settings = read_settings(path)
        self._found = found_in(path)
        if not self._found:
            raise InputError("holds no video yet", path=path, hint="index one: truemoment index VIDEO -o INDEX")
        files = [path / SETTINGS, *(folder / ABOUT for folder, _ in self._found.values())]
        notes = [f"{of.video_id}: {note}" for _, of in self._found.values() for note in of.notes]
        super().__init__("index", path, self._found, files=files, fps=self.settings.fps, notes=notes)
        self.n_dimensions = self.settings.n_dimensions

    @functools.cached_property
    def proposals(self) -> Proposals:
        """Candidate moments whose norms are kept."""
        return read_proposals(self.settings.proposals)

    def about(self, video_id: str) -> About:
        """Return what is known of a video.

        Raises
        ------
        InputError
            If it is not in the index.
        """
        return self._found[self._named(video_id)][1]

    def rows(self, video_id: str) -> Rows:
        """Return the rows of a video (F, D) as they lie on disk, memory-mapped.

        Raises
        ------
        InputError
            If it has none, or they are damaged.
        """
        return self._array(self._named(video_id))

    def spans(self, video_id: str) -> tuple[Ints, Ints]:
        """Return the first frame, and the one behind the last, of each candidate moment of a video, (P,) each.

        Raises
        ------
        InputError
            If it is not in the index.
        """
        return spans_of(self.settings.proposals, self.about(video_id).n_frames)

    def norms(self, video_id: str) -> Rows:
        """Return the length of the mean of each proposal's rows (P,), memory-mapped.

        Raises
        ------
        InputError
            If it has none, or they are damaged.
        """
        folder, _ = self._found[self._named(video_id)]
        return _mapped(folder / NORMS, (len(self.spans(video_id)[0]),), "float32")

    def pieces(self, video_id: str) -> Rows:
        """Return the means of the pieces of a video, of length 1, (C, D), memory-mapped.

        Raises
        ------
        InputError
            If it has none, or they are damaged.
        """
        folder, about = self._found[self._named(video_id)]
        n_pieces = len(piece_starts(about.n_frames, self.settings.fps))
        return _mapped(folder / PIECES, (n_pieces, self.n_dimensions), "float16")

    def path_of(self, video_id: str) -> Path:
        """Find the file of a video: where it lay, or beside the index under the same name.

        Raises
        ------
        MissingFileError
            If it is neither here nor there.
        InputError
            If the video is not in the index.
        """
        path = Path(self.about(video_id).path)
        for candidate in (path, self.path.absolute().parent / path.name):
            if candidate.is_file():
                return candidate
        raise MissingFileError(
            f"{path}: no such file; the index remembers what was seen in it, pictures need the video itself"
        )

    def _array(self, name: str) -> Rows:
        folder, about = self._found[name]
        return _mapped(folder / ROWS, (about.n_frames, self.n_dimensions), self.settings.dtype)


def is_index(path: Path) -> bool:
    """Whether a folder is an index, damaged perhaps: other tools call files index.json too."""
    try:
        with (path / SETTINGS).open("rb") as file:
            return b"truemoment/index" in file.read(HEAD) or (path / VIDEOS).is_dir()
    except OSError:
        return False


def read_settings(path: Path) -> Settings:
    """Read how the videos of an index were read.

    Raises
    ------
    MissingFileError
        If there is none.
    InputError
        If it is not as it must be.
    """
    if path.is_dir() and not is_index(path):
        raise MissingFileError(f"{path}: is no index, it holds no {SETTINGS} of one")
    file = path / SETTINGS
    settings = decode_json(read_bytes(file), Settings, path=file)
    if settings.schema != SCHEMA:
        raise InputError(f"got {settings.schema!r}, expected {SCHEMA!r}", path=file, field="schema")
    if not (math.isfinite(settings.fps) and settings.fps > 0) or settings.n_dimensions < 1:
        raise InputError("expected frames a second and numbers a row above 0", path=file)
    return settings


def found_in(path: Path) -> dict[str, tuple[Path, About]]:
    """Find the videos of an index, in the order of their names: the folder of each and what is known of it.

    Raises
    ------
    InputError
        If a video's file is not as it must be, or two tell of the same video.
    """
    found: dict[str, tuple[Path, About]] = {}
    for file in sorted((path / VIDEOS).glob(f"[!.]*/{ABOUT}")):
        about = decode_json(read_bytes(file), About, path=file)
        if about.video_id in found:
            raise InputError(f"tells of {about.video_id!r}, as {found[about.video_id][0].name} does", path=file)
        if about.n_frames < 1 or not (math.isfinite(about.duration_s) and about.duration_s > 0):
            raise InputError("expected a frame or more, and a duration above 0", path=file)
        found[about.video_id] = (file.parent, about)
    return dict(sorted(found.items()))


def _mapped(path: Path, shape: tuple[int, ...], dtype: str) -> Rows:
    """Map a table that must have a shape and type.

    Raises
    ------
    MissingFileError, InputError
        If there is none, or it is another one.
    """
    try:
        array: Rows = np.lib.format.open_memmap(path, mode="r")
    except FileNotFoundError:
        raise MissingFileError(f"{path}: no such file; delete its folder and index the video again") from None
    except UNREADABLE as error:
        raise InputError(f"is not a table of numbers ({error})", path=path) from None
    if array.shape != shape or array.dtype != np.dtype(dtype):
        came = f"holds {array.dtype} of shape {array.shape}"
        raise InputError(
            f"{came}, expected {dtype} of shape {shape}", path=path, hint="delete its folder and index the video again"
        )
    return array


# ------------------------------------------------------------------------------------- what is kept of a video


@functools.lru_cache(maxsize=8)
def spans_of(proposals: str, n_frames: int) -> tuple[Ints, Ints]:
    """Return the first frame, and the one behind the last, of each candidate moment of so many frames, (P,) each.

    Raises
    ------
    UsageError
        If the scheme cannot be read, or counts no frames.
    """
    scheme = read_proposals(proposals)
    if not isinstance(scheme, FrameProposals):
        raise UsageError(f"got proposals {proposals}, expected windowed-grid: an index counts frames")
    first, end = scheme.spans(n_frames)
    first.flags.writeable = end.flags.writeable = False  # they are shared
    return first, end


def piece_starts(n_frames: int, fps: float) -> Ints:
    """Return the first frame of each piece of about 4 s; the last piece is the longest.

    Examples
    --------
    >>> piece_starts(20, 2.0).tolist(), piece_starts(3, 2.0).tolist()
    ([0, 8], [0])
    """
    length = max(1, round(PIECE_S * fps))
    return np.arange(max(1, n_frames // length), dtype=np.int64) * length


def piece_means(rows: Rows, fps: float) -> npt.NDArray[np.float16]:
    """Return the mean row of each piece of a video, of length 1 (0 where the mean is 0), shape (C, D)."""
    starts = piece_starts(len(rows), fps)
    sums = np.add.reduceat(rows.astype(np.float32), starts, axis=0, dtype=np.float64)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return (sums / np.where(lengths > 0, lengths, 1.0)).astype(np.float16)


# ------------------------------------------------------------------------------------------------- writing


@dataclass(frozen=True)
class Film:
    """A video that is to be indexed.

    Parameters
    ----------
    video_id, path, identity
        Its name, where it lies, what tells it from another file.
    """

    video_id: str
    path: Path
    identity: str


@dataclass(frozen=True)
class Intake:
    """What there is to do.

    Parameters
    ----------
    new, changed
        Videos to be read: those that are not there, and those whose file is another one than before.
    unchanged
        Videos that are there.
    moved
        Of these, how many lie elsewhere than before.
    copies
        Files that are the same as another one, which are left out.
    """

    new: tuple[Film, ...] = ()
    changed: tuple[Film, ...] = ()
    unchanged: tuple[Film, ...] = ()
    moved: int = 0
    copies: tuple[Path, ...] = ()

    @property
    def to_read(self) -> tuple[Film, ...]:
        """Videos to be read, those that are not there first."""
        return (*self.new, *self.changed)


def list_videos(paths: Iterable[Path]) -> list[Path]:
    """List video files: those named, and all in folders named, however deep, in order of their names.

    Raises
    ------
    MissingFileError
        If there is no such file or folder, or a folder holds no video.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = [
                file
                for file in sorted(path.rglob("*"))
                if file.suffix.lower() in VIDEO_SUFFIXES and not file.name.startswith(".") and file.is_file()
            ]
            if not inside:
                raise MissingFileError(f"{path}: holds no video, expected files that end in {' '.join(VIDEO_SUFFIXES)}")
            found += inside
        elif path.is_file():
            found.append(path)
        else:
            raise MissingFileError(f"{path}: no such file")
    return list(dict.fromkeys(path.resolve() for path in found))


class IndexWriter:
    """Writes an index, a part at a time; one writer at a time.

    Use it as a context: an index that somebody else is writing is refused.

    Parameters
    ----------
    path
        The folder, which is made if it is not there.
    settings
        How the videos are read.

    Raises
    ------
    UsageError
        If the index there was made otherwise.
    InputError
        If the folder holds something else, or cannot be made.
    """

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path, self.settings = Path(path), settings
        if is_index(self.path):
            self._refuse_others(read_settings(self.path))
        elif self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise InputError("is there already and no index, expected a new folder", path=self.path)
        scheme = read_proposals(settings.proposals)
        if not isinstance(scheme, FrameProposals) or scheme.fps != settings.fps:
            raise UsageError(f"got proposals {settings.proposals}, expected windowed-grid:fps={settings.fps:g},...")
        self._lock: IO[str] | None = None
        self._is_new = False

    def _refuse_others(self, there: Settings) -> None:
        ours = self.settings
        for name, was, now in (
            ("--model", f"{there.encoder}#{there.fingerprint[:8]}", f"{ours.encoder}#{ours.fingerprint[:8]}"),
            ("--fps", f"{there.fps:g}", f"{ours.fps:g}"),
            ("--dtype", there.dtype, ours.dtype),
            ("--proposals", there.proposals, ours.proposals),
        ):
            if was != now:
                raise UsageError(
                    f"{self.path}: was made with {name} {was}, got {now}; name another folder, or the same {name}"
                )

    def __enter__(self) -> IndexWriter:
        try:
            for folder in (self.path, self.path / VIDEOS, self.path / PARTS):
                folder.mkdir(exist_ok=True)
            self._lock = (self.path / LOCK).open("w", encoding="ascii")
        except OSError as error:
            raise InputError(f"cannot be made ({error.strerror})", path=self.path) from None
        try:
            import fcntl  # noqa: PLC0415 - not on every system

            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            pass
        except OSError:
            self._lock.close()
            raise UsageError(f"{self.path}: is being written by another command, wait for its end") from None
        self._is_new = not is_index(self.path)
        if self._is_new:
            with atomic_write(self.path / SETTINGS) as stream:
                stream.write(msgspec.json.format(msgspec.json.encode(self.settings), indent=1) + b"\n")
        self._clear()
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            self._lock.close()
        with contextlib.suppress(OSError):
            (self.path / PARTS).rmdir()  # if nothing is left over
            if self._is_new:
                (self.path / VIDEOS).rmdir()  # if nothing came of it
                for file in (SETTINGS, LOCK):
                    (self.path / file).unlink()
                self.path.rmdir()

    def _clear(self) -> None:
        """Remove what a command that was broken off left half-written."""
        for folder in (self.path / VIDEOS, self.path / PARTS):
            for left in folder.glob(".*"):
                shutil.rmtree(left, ignore_errors=True)

    def plan(self, paths: Sequence[Path]) -> Intake:
        """Hold video files against what is there; a file that was only moved is there.

        Raises
        ------
        InputError
            If a file cannot be read, or its name is no text.
        """
        there = found_in(self.path)
        by_identity = {about.identity: about for _, about in there.values()}
        by_path = {about.path: about for _, about in there.values()}
        taken = set(there)
        new: list[Film] = []
        changed: list[Film] = []
        unchanged: list[Film] = []
        copies: list[Path] = []
        seen: dict[str, Path] = {}
        moved = 0
        for path in paths:
            identity = identity_of(path)
            if identity in seen:
                copies.append(path)
                continue
            seen[identity] = path
            if about := by_identity.get(identity):
                unchanged.append(Film(about.video_id, path, identity))
                if about.path != str(path) and not Path(about.path).exists():
                    self._write_about(there[about.video_id][0], msgspec.structs.replace(about, path=_text_of(path)))
                    moved += 1
            elif about := by_path.get(str(path)):
                changed.append(Film(about.video_id, path, identity))
            else:
                video_id = _new_name(path, taken)
                taken.add(video_id)
                new.append(Film(video_id, path, identity))
        return Intake(tuple(new), tuple(changed), tuple(unchanged), moved, tuple(copies))

    def kept_parts(self, film: Film, part_rows: int) -> set[int]:
        """Numbers of the parts of a video that are there."""
        folder = self._parts_of(film, part_rows)
        names = (re.fullmatch(r"(\d{6})\.npy", path.name) for path in folder.glob("*.npy"))
        return {int(name[1]) for name in names if name}

    def keep_part(self, film: Film, part_rows: int, number: int, rows: Rows) -> None:
        """Write a part of a video: its rows from ``number * part_rows`` on.

        Raises
        ------
        InputError
            If a number is not finite or too large for the type, or the disk takes no more.
        """
        folder = self._parts_of(film, part_rows)
        folder.mkdir(exist_ok=True)
        with np.errstate(over="ignore"):
            cast = rows.astype(self.settings.dtype)
        if not np.isfinite(cast).all():
            raise InputError(f"{self.settings.encoder} gives numbers that are not finite, or too large", path=film.path)
        with atomic_write(folder / f"{number:06}.npy") as stream:
            np.save(stream, cast, allow_pickle=False)

    def finish(self, film: Film, part_rows: int, duration_s: float, notes: Sequence[str] = ()) -> About:
        """Put the parts of a video together, and take the place of what was there of it.

        Raises
        ------
        InputError
            If a part is damaged, or the disk takes no more.
        """
        from truemoment.search.scoring import span_norms  # noqa: PLC0415 - only writing needs it

        parts = self._parts_of(film, part_rows)
        names = sorted(parts.glob("[0-9]*.npy"))
        try:
            rows = np.concatenate([np.load(name, allow_pickle=False) for name in names])
        except UNREADABLE as error:
            shutil.rmtree(parts, ignore_errors=True)
            raise InputError(f"a part of it was damaged ({error})", path=film.path, hint="index it again") from None
        about = About(
            video_id=film.video_id,
            path=_text_of(film.path),
            identity=film.identity,
            duration_s=duration_s,
            n_frames=len(rows),
            notes=tuple(notes),
        )
        first, end = spans_of(self.settings.proposals, len(rows))
        target = self.path / VIDEOS / folder_name(film.video_id)
        with contextlib.suppress(OSError):  # of a changed file: what was seen of the old one
            target.rename(target.with_name(f".old-{target.name}"))
        with atomic_folder(target) as folder:
            np.save(folder / ROWS, rows, allow_pickle=False)
            np.save(folder / NORMS, np.asarray(span_norms(rows, first, end), dtype=np.float32), allow_pickle=False)
            np.save(folder / PIECES, piece_means(rows, self.settings.fps), allow_pickle=False)
            self._write_about(folder, about)
        shutil.rmtree(target.with_name(f".old-{target.name}"), ignore_errors=True)
        self.forget_parts(film)
        return about

    def forget_parts(self, film: Film) -> None:
        """Remove the parts of a video, whatever they were made with."""
        for folder in (self.path / PARTS).glob(f"{folder_name(film.video_id)}-*"):
            shutil.rmtree(folder, ignore_errors=True)

    def _parts_of(self, film: Film, part_rows: int) -> Path:
        """Where the parts of a video lie: its file, the encoder and the rows of a part are in the name."""
        words = [film.identity, self.settings.fingerprint, repr(self.settings.fps), self.settings.dtype, str(part_rows)]
        key = hashlib.sha256("|".join(words).encode()).hexdigest()[:12]
        return self.path / PARTS / f"{folder_name(film.video_id)}-{key}"

    @staticmethod
    def _write_about(folder: Path, about: About) -> None:
        with atomic_write(folder / ABOUT) as stream:
            stream.write(msgspec.json.format(msgspec.json.encode(about), indent=1) + b"\n")


@contextlib.contextmanager
def writing(path: Path, settings: Settings) -> Iterator[IndexWriter]:
    """Open an index for writing.

    Raises
    ------
    UsageError
        If the index there was made otherwise, or is being written.
    InputError
        If the folder holds something else, or cannot be made.
    """
    with IndexWriter(path, settings) as writer:
        yield writer


def folder_name(video_id: str) -> str:
    """Name the folder of a video: what a person recognises, and a hash of the whole name.

    Examples
    --------
    >>> folder_name("summer/beach 1")
    'summer_beach_1-8799399a'
    """
    digest = hashlib.sha256(video_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '_', video_id)[:80].strip('_') or 'video'}-{digest}"


def _new_name(path: Path, taken: set[str]) -> str:
    """Name a video after its file; with the folders it lies in where another one is called so."""
    _text_of(path)
    parts = path.with_suffix("").parts
    for many in range(1, len(parts)):
        name = "/".join(parts[-many:])
        if name not in taken:
            return name
    return path.as_posix()


def _text_of(path: Path) -> str:
    """Return a path as text that a file can hold.

    Raises
    ------
    InputError
        If its name is no text.
    """
    text = str(path)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        shown = text.encode("utf-8", "backslashreplace").decode()
        raise InputError("its name is no UTF-8 text, rename it", path=shown) from None
    return text
