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
lost, and the same command goes on; what is damaged nevertheless is refused by a search and made again by that command.
A video is known by its content: a file that was renamed or moved keeps its rows, one that was changed is read again. An
:class:`Index` is a :class:`~truemoment.features.base.FeatureStore`, memory-mapped.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import math
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np
import numpy.typing as npt

from truemoment.exceptions import InputError, MissingFileError, TrueMomentError, UsageError
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
WRITING = ".writing-"
"""How files begin that are being written, see :func:`~truemoment.files.atomic_write`."""

OLD = ".old-"
"""How folders begin that make place for a newer one."""

MEND = "delete its folder and index the video again"
"""What always helps with a video that is damaged; most damage the second does alone."""

HEAD = 1 << 14
"""Bytes of a file in which the schema is looked for; settings are shorter."""

PIECE_S = 4.0
"""Length of the pieces whose means are looked at first: the mean moment of MAD lasts 4.1 s."""

LOOKED_AT, NEAR = 16, 1e-3
"""Of how many moments the norm is held against their rows, and how near it must be."""

ROWS_AT_ONCE = 256
"""Rows that are looked at at a time, which a processor keeps near."""

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
        self._checked: set[str] = set()

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
        MissingFileError, InputError
            If it has none, or they are damaged.
        """
        return self._array(self._named(video_id))

    def spans(self, video_id: str) -> tuple[Ints, Ints]:
        """Return the first frame, and the one behind the last, of each candidate moment of a video, (P,) each.

        Raises
        ------
        MissingFileError, InputError
            If it is not in the index, or its rows are damaged.
        """
        return spans_of(self.settings.proposals, len(self.rows(video_id)))

    def norms(self, video_id: str) -> Rows:
        """Return the length of the mean of each proposal's rows (P,), memory-mapped.

        Raises
        ------
        MissingFileError, InputError
            If it has none, or they are damaged.
        """
        folder, _ = self._found[self._named(video_id)]
        return _norms_in(folder, len(self.spans(video_id)[0]))

    def pieces(self, video_id: str) -> Rows:
        """Return the means of the pieces of a video, of length 1, (C, D), memory-mapped.

        Raises
        ------
        MissingFileError, InputError
            If it has none, or they are damaged.
        """
        return _pieces_in(*self._found[self._named(video_id)], self.settings)

    def check(self, video_id: str) -> None:
        """Refuse a video whose rows are not finite, or whose norms are those of other rows; each is looked at once.

        All rows are looked at, and some of the norms.

        Raises
        ------
        MissingFileError, InputError
            If it is not in the index, or damaged.
        """
        name = self._named(video_id)
        if name in self._checked:
            return
        folder, _ = self._found[name]
        rows = self.rows(name)
        if not _all_finite(rows):
            raise InputError("holds numbers that are not finite", path=folder / ROWS, hint=MEND)
        _refuse_other_norms(folder, rows, self.spans(name))
        self._checked.add(name)

    def path_of(self, video_id: str) -> Path:
        """Find the file of a video: where it lay, or beside the index under the same name.

        Raises
        ------
        MissingFileError
            If it is neither here nor there, or another one is.
        InputError
            If the video is not in the index.
        """
        about = self.about(video_id)
        path = Path(about.path)
        candidates = [of for of in (path, self.path.absolute().parent / path.name) if _is_file(of)]
        for candidate in candidates:
            if identity_of(candidate) == about.identity:
                return candidate
        if candidates:
            raise MissingFileError(f"{candidates[0]}: was changed since it was indexed: index it again")
        raise MissingFileError(
            f"{path}: no such file; the index remembers what was seen in it, pictures need the video itself"
        )

    def _array(self, name: str) -> Rows:
        return _rows_in(*self._found[name], self.settings)

    def _damaged(self, name: str, error: BaseException) -> InputError:
        if isinstance(error, InputError):
            return InputError(error.problem, path=self.path, field=name, hint=MEND)
        return super()._damaged(name, error)


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
    try:
        _refuse_other_frames(settings)
    except UsageError as error:
        raise InputError(str(error), path=file, field="proposals") from None
    return settings


def _refuse_other_frames(settings: Settings) -> None:
    """Refuse candidate moments that do not count the frames of the index.

    Raises
    ------
    UsageError
        If they do not, or cannot be read.
    """
    scheme = read_proposals(settings.proposals)
    if not isinstance(scheme, FrameProposals) or scheme.fps != settings.fps:
        raise UsageError(f"got proposals {settings.proposals}, expected windowed-grid:fps={settings.fps:g},...")


def found_in(path: Path) -> dict[str, tuple[Path, About]]:
    """Find the videos of an index, in the order of their names: the folder of each and what is known of it.

    Raises
    ------
    InputError
        If a video's file is not as it must be.
    """
    found: dict[str, tuple[Path, About]] = {}
    for file in sorted((path / VIDEOS).glob(f"[!.]*/{ABOUT}")):
        about = _read_about(file)
        found[about.video_id] = (file.parent, about)
    return dict(sorted(found.items()))


def _read_about(file: Path) -> About:
    """Read what is known of a video.

    Raises
    ------
    MissingFileError
        If there is no such file.
    InputError
        If it is not as it must be.
    """
    try:
        about = decode_json(read_bytes(file), About, path=file)
    except InputError as error:
        raise InputError(error.problem, path=file, line=error.line, field=error.field, hint=MEND) from None
    if folder_name(about.video_id) != file.parent.name:
        raise InputError(f"tells of {about.video_id!r}, expected the video of its folder", path=file, hint=MEND)
    if about.n_frames < 1 or not (math.isfinite(about.duration_s) and about.duration_s > 0):
        raise InputError("expected a frame or more, and a duration above 0", path=file, hint=MEND)
    return about


def _rows_in(folder: Path, about: About, settings: Settings) -> Rows:
    return _mapped(folder / ROWS, (about.n_frames, settings.n_dimensions), settings.dtype)


def _norms_in(folder: Path, n_spans: int) -> Rows:
    return _mapped(folder / NORMS, (n_spans,), "float32")


def _pieces_in(folder: Path, about: About, settings: Settings) -> Rows:
    shape = (_count_pieces(about.n_frames, settings.fps), settings.n_dimensions)
    pieces = _mapped(folder / PIECES, shape, "float16")
    if not _all_finite(pieces):
        raise InputError("holds numbers that are not finite", path=folder / PIECES, hint=MEND)
    return pieces


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
        raise MissingFileError(f"{path}: no such file; {MEND}") from None
    except UNREADABLE as error:
        raise InputError(f"is not a table of numbers ({error})", path=path, hint=MEND) from None
    if array.shape != shape or array.dtype != np.dtype(dtype):
        came = f"holds {array.dtype} of shape {array.shape}"
        raise InputError(f"{came}, expected {dtype} of shape {shape}", path=path, hint=MEND)
    return array


def _all_finite(table: Rows) -> bool:
    """Whether all numbers of a table are finite; of half precision by their bits, a tenth of NumPy's own time."""
    if table.dtype != np.float16:
        return bool(np.isfinite(table).all())
    blocks = (table[k : k + ROWS_AT_ONCE].view(np.uint16) & 0x7FFF for k in range(0, len(table), ROWS_AT_ONCE))
    return all(int(block.max()) < 0x7C00 for block in blocks)  # from there on: infinite, and not a number


def _refuse_other_norms(folder: Path, rows: Rows, spans: tuple[Ints, Ints]) -> None:
    """Refuse norms that are not those of the rows, as far as some of them tell.

    Raises
    ------
    MissingFileError, InputError
        If there are none, or they are other ones.
    """
    first, end = spans
    norms = _norms_in(folder, len(first))
    some = np.unique(np.linspace(0, len(first) - 1, LOOKED_AT).astype(np.int64)) if len(first) else np.array([], int)
    means = (rows[a:b].mean(axis=0, dtype=np.float64) for a, b in zip(first[some], end[some], strict=True))
    lengths = np.array([np.linalg.norm(mean) for mean in means])
    near = NEAR * lengths.max(initial=0.0)
    if not (np.isfinite(norms).all() and (norms >= 0).all() and (np.abs(norms[some] - lengths) <= near).all()):
        raise InputError(f"holds other lengths than the moments of {ROWS} have", path=folder / NORMS, hint=MEND)


def _is_file(path: Path) -> bool:
    """Whether there is a file; where that cannot be told, it is for its reading to say why."""
    try:
        return path.is_file()
    except OSError:
        return True


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
    return np.arange(_count_pieces(n_frames, fps), dtype=np.int64) * _piece_frames(fps)


def _count_pieces(n_frames: int, fps: float) -> int:
    return max(1, n_frames // _piece_frames(fps))


def _piece_frames(fps: float) -> int:
    return max(1, round(PIECE_S * fps))


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

    @property
    def n_bytes(self) -> int:
        """Size of the file, which its identity tells."""
        return int(self.identity.partition(":")[0])


@dataclass(frozen=True)
class Intake:
    """What there is to do.

    Parameters
    ----------
    new, changed
        Videos to be read: those that are not there, and those that are there otherwise: the file is another one than
        before, or it was damaged (then it may have been mended in a place that its identity is not made of), or what is
        kept of it is.
    unchanged
        Videos that are there.
    moved
        Of these, how many lie elsewhere than before.
    copies
        Files that are the same as another one, which are left out.
    unreadable
        Files that cannot be read at all, by name, and why.
    notes
        What a person should know of videos that are to be read.
    """

    new: tuple[Film, ...] = ()
    changed: tuple[Film, ...] = ()
    unchanged: tuple[Film, ...] = ()
    moved: int = 0
    copies: tuple[Path, ...] = ()
    unreadable: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)

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
                if file.suffix.lower() in VIDEO_SUFFIXES and not file.name.startswith(".") and _is_file(file)
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
        self._refuse_others()
        _refuse_other_frames(settings)
        self._lock: IO[str] | None = None
        self._is_new = False

    def _refuse_others(self) -> None:
        """Refuse a folder of something else, and an index that was made otherwise."""
        if not is_index(self.path):
            if self.path.exists() and not _is_only_begun(self.path):
                raise InputError("is there already and no index, expected a new folder", path=self.path)
            return
        there, ours = read_settings(self.path), self.settings
        for name, was, now in (
            ("--model", f"{there.encoder}#{there.fingerprint[:8]}", f"{ours.encoder}#{ours.fingerprint[:8]}"),
            ("--fps", f"{there.fps:g}", f"{ours.fps:g}"),
            ("dtype", there.dtype, ours.dtype),
            ("--proposals", there.proposals, ours.proposals),
        ):
            if was != now:
                raise UsageError(
                    f"{self.path}: was made with {name} {was}, got {now}; name another folder, or the same {name}"
                )
        if there.n_dimensions != ours.n_dimensions:
            came = f"says {there.n_dimensions:,} numbers a row, and {ours.encoder} gives {ours.n_dimensions:,}"
            raise InputError(came, path=self.path / SETTINGS, hint="index anew, into another folder")

    def __enter__(self) -> IndexWriter:
        try:
            self.path.mkdir(exist_ok=True)
            self._lock = (self.path / LOCK).open("w", encoding="ascii")
        except OSError as error:
            raise InputError(f"cannot be made ({error.strerror})", path=self.path) from None
        try:
            self._hold(self._lock)
            self._refuse_others()  # somebody may have made it since it was looked at
            self._begin()
        except BaseException:
            self._lock.close()
            raise
        return self

    def _hold(self, lock: IO[str]) -> None:
        """Take the lock, or refuse an index that somebody else is writing."""
        try:
            import fcntl  # noqa: PLC0415 - not on every system
        except ImportError:
            return
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_gone = os.fstat(lock.fileno()).st_nlink == 0  # who held it has removed all just now: nothing came of it
        except OSError:
            is_gone = True
        if is_gone:
            raise UsageError(f"{self.path}: is being written by another command, wait for its end")

    def _begin(self) -> None:
        """Make what is not there yet, and put right what a command that was broken off left."""
        self._is_new = not is_index(self.path)
        if self._is_new:
            with atomic_write(self.path / SETTINGS) as stream:
                stream.write(msgspec.json.format(msgspec.json.encode(self.settings), indent=1) + b"\n")
        videos, parts = self.path / VIDEOS, self.path / PARTS
        try:
            for folder in (videos, parts):
                folder.mkdir(exist_ok=True)
            for old in videos.glob(f"{OLD}*"):
                _put_back(old)
            for left in self.path.glob(f"{WRITING}*"):
                left.unlink()
        except OSError as error:
            raise InputError(f"cannot be made ({error.strerror})", path=self.path) from None
        for left in (*videos.glob(".*"), *parts.glob(".*")):
            shutil.rmtree(left, ignore_errors=True)

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            (self.path / PARTS).rmdir()  # if nothing is left over
            if self._is_new:
                (self.path / VIDEOS).rmdir()  # if nothing came of it
                for file in (SETTINGS, LOCK):
                    (self.path / file).unlink()
                self.path.rmdir()
        if self._lock is not None:
            self._lock.close()

    def plan(self, paths: Sequence[Path]) -> Intake:
        """Hold video files against what is there; a file that was only moved is there."""
        there, damaged = self._entries()
        by_identity = {about.identity: about for about in there.values()}
        by_path = {about.path: about for about in there.values()}
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
        taken = set(there)
        new: list[Film] = []
        changed: list[Film] = []
        unchanged: list[Film] = []
        moved = 0
        for identity, path in seen.items():
            if about := by_identity.get(identity):
                again = about.notes or folder_name(about.video_id) in damaged
                (changed if again else unchanged).append(Film(about.video_id, path, identity))
                if about.path != str(path) and not _holds(Path(about.path), identity):
                    self._write_about(self.path / VIDEOS / folder_name(about.video_id), _moved(about, path))
                    moved += not again
            elif (about := by_path.get(str(path))) and about.identity not in seen:
                changed.append(Film(about.video_id, path, identity))
            else:
                new.append(Film(_new_name(path, taken), path, identity))
                taken.add(new[-1].video_id)
        unreadable: dict[str, str] = {}
        for path, why in why_not.items():
            about = by_path.get(str(path))
            name = about.video_id if about and about.identity not in seen else _new_name(path, taken | set(unreadable))
            unreadable[name] = why
        lost = {film.video_id for film in (*new, *changed) if folder_name(film.video_id) in damaged}
        notes = dict.fromkeys(sorted(lost), "what the index held of it was damaged, and is made again")
        return Intake(tuple(new), tuple(changed), tuple(unchanged), moved, tuple(copies), unreadable, notes)

    def _entries(self) -> tuple[dict[str, About], set[str]]:
        """Return what is known of each video, and the names of folders that are damaged."""
        there: dict[str, About] = {}
        damaged = set()
        for folder in sorted((self.path / VIDEOS).glob("[!.]*")):
            try:
                about = _read_about(folder / ABOUT)
                there[about.video_id] = about
                rows = _rows_in(folder, about, self.settings)
                _refuse_other_norms(folder, rows, spans_of(self.settings.proposals, len(rows)))
                _pieces_in(folder, about, self.settings)
            except (InputError, MissingFileError):
                damaged.add(folder.name)
        return there, damaged

    def kept_parts(self, film: Film, part_rows: int, n_rows: int) -> set[int]:
        """Numbers of the parts of a video of so many rows that are there and whole."""
        kept = set()
        for number, (file, length) in enumerate(self._part_files(film, part_rows, n_rows)):
            with contextlib.suppress(InputError, MissingFileError):
                _mapped(file, (length, self.settings.n_dimensions), self.settings.dtype)
                kept.add(number)
        return kept

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

    def finish(self, film: Film, part_rows: int, n_rows: int, duration_s: float, notes: Sequence[str] = ()) -> About:
        """Put the parts of a video of so many rows together, and take the place of what was there of it.

        Raises
        ------
        InputError
            If a part is damaged (then all of them are removed), or the disk takes no more.
        """
        from truemoment.search.scoring import span_norms  # noqa: PLC0415 - only writing needs it

        rows = self._joined(film, part_rows, n_rows)
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
        fresh = target.with_name(f".new-{target.name}")
        with atomic_folder(fresh) as folder:
            np.save(folder / ROWS, rows, allow_pickle=False)
            np.save(folder / NORMS, np.asarray(span_norms(rows, first, end), dtype=np.float32), allow_pickle=False)
            np.save(folder / PIECES, piece_means(rows, self.settings.fps), allow_pickle=False)
            self._write_about(folder, about)
            for name in (ROWS, NORMS, PIECES, ABOUT):
                with (folder / name).open("rb+") as stream:
                    os.fsync(stream.fileno())  # the parts it was made of go
        _take_place(fresh, target)
        self.forget_parts(film)
        return about

    def _joined(self, film: Film, part_rows: int, n_rows: int) -> Rows:
        files = self._part_files(film, part_rows, n_rows)
        try:
            rows: Rows = np.concatenate([np.load(file, allow_pickle=False) for file, _ in files])
            told = "" if rows.shape == (n_rows, self.settings.n_dimensions) else f"{len(rows)} rows of {n_rows}"
        except UNREADABLE as error:
            told = str(error)
        if told:
            shutil.rmtree(self._parts_of(film, part_rows), ignore_errors=True)
            raise InputError(f"a part of it was damaged ({told})", path=film.path, hint="index it again")
        return rows

    def forget_parts(self, film: Film) -> None:
        """Remove the parts of a video, whatever they were made with."""
        for folder in (self.path / PARTS).glob(f"{folder_name(film.video_id)}-*"):
            shutil.rmtree(folder, ignore_errors=True)

    def _part_files(self, film: Film, part_rows: int, n_rows: int) -> list[tuple[Path, int]]:
        """File of each part of a video of so many rows, and how many it must hold."""
        folder, starts = self._parts_of(film, part_rows), range(0, n_rows, part_rows)
        return [(folder / f"{k:06}.npy", min(part_rows, n_rows - start)) for k, start in enumerate(starts)]

    def _parts_of(self, film: Film, part_rows: int) -> Path:
        """Where the parts of a video lie: its file, the encoder and the rows of a part are in the name."""
        words = [film.identity, self.settings.fingerprint, repr(self.settings.fps), self.settings.dtype, str(part_rows)]
        key = hashlib.sha256("|".join(words).encode()).hexdigest()[:12]
        return self.path / PARTS / f"{folder_name(film.video_id)}-{key}"

    @staticmethod
    def _write_about(folder: Path, about: About) -> None:
        with atomic_write(folder / ABOUT) as stream:
            stream.write(msgspec.json.format(msgspec.json.encode(about), indent=1) + b"\n")


def _is_only_begun(path: Path) -> bool:
    """Whether a folder holds no more than a command leaves that is ended before it has written how an index is made."""
    if not path.is_dir():
        return False
    return all(
        file.name == LOCK
        or file.name.startswith(WRITING)
        or (file.name in (VIDEOS, PARTS) and file.is_dir() and not any(file.iterdir()))
        for file in path.iterdir()
    )


def _take_place(fresh: Path, target: Path) -> None:
    """Put a folder that is complete in the place of another one, which goes.

    Raises
    ------
    InputError
        If that cannot be; then all is as it was.
    """
    old = target.with_name(f"{OLD}{target.name}")
    try:
        if target.exists():
            target.rename(old)
        fresh.rename(target)
    except BaseException as error:
        with contextlib.suppress(OSError):  # else the next start does it
            _put_back(old)
        shutil.rmtree(fresh, ignore_errors=True)
        if isinstance(error, OSError):
            raise InputError(f"cannot be written ({error.strerror})", path=target) from None
        raise
    shutil.rmtree(old, ignore_errors=True)


def _put_back(old: Path) -> None:
    """Give a folder that had to make place its name again, if nothing has taken the place."""
    target = old.with_name(old.name.removeprefix(OLD))
    if old.exists() and not target.exists():
        old.rename(target)


def _holds(path: Path, identity: str) -> bool:
    """Whether a file is there and is the one that is known."""
    try:
        return _is_file(path) and identity_of(path) == identity
    except TrueMomentError:
        return False


def _moved(about: About, path: Path) -> About:
    return msgspec.structs.replace(about, path=_text_of(path))


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
    path = Path(_shown(path))
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
        raise InputError("its name is no UTF-8 text, rename it", path=_shown(path)) from None
    return text


def _shown(path: Path) -> str:
    return str(path).encode("utf-8", "backslashreplace").decode()
