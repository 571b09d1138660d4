"""Paths inside a folder of ours, through which no link leads out of it.

A study, an index, a run or a collection may come from somebody else. A link in it, at any depth, would make a command
read, send, replace or remove files elsewhere. An :class:`OwnPath` is used like a :class:`~pathlib.Path`, but opens one
folder after the other by its descriptor without following links (``O_NOFOLLOW``), so that a link which is put there
between a check and its use is refused, too. Where the system has no such calls, as Windows, each part is checked first.

Libraries cannot open an ``OwnPath`` by accident: it is no ``os.PathLike``. They get an opened file.
"""

from __future__ import annotations

import contextlib
import errno
import fnmatch
import io
import os
import re
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, Literal, cast

from truemoment.base.errors import InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_NO_FOLLOW, _NO_WAIT = getattr(os, "O_NOFOLLOW", 0), getattr(os, "O_NONBLOCK", 0)
_PLAIN = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = os.O_RDONLY | _PLAIN | getattr(os, "O_DIRECTORY", 0)

HAS_DESCRIPTORS = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
"""Whether the system opens files relative to an opened folder."""

READ = os.O_RDONLY | _PLAIN | _NO_WAIT
"""How files are opened for reading: a pipe is not waited for."""

_MODES = {
    "rb": READ,
    "wb": os.O_WRONLY | os.O_CREAT | _PLAIN | _NO_WAIT,  # emptied when it is known to be ours
    "ab": os.O_WRONLY | os.O_CREAT | os.O_APPEND | _PLAIN | _NO_WAIT,
    "a+b": os.O_RDWR | os.O_CREAT | os.O_APPEND | _PLAIN | _NO_WAIT,
    "r+b": os.O_RDWR | _PLAIN | _NO_WAIT,
}

_LINK_ERRORS = (errno.ELOOP, errno.ENOTDIR, getattr(errno, "EMLINK", errno.ELOOP), errno.EEXIST)
"""Errors of ``O_NOFOLLOW`` where the path is a link."""


EntryKind = Literal["link", "folder", "file", "device"]
"""Kind of an entry of a folder; pipes and sockets count as devices."""


@dataclass(frozen=True, slots=True, order=True)
class OwnPath:
    """A file or folder inside a folder of ours.

    Parameters
    ----------
    root
        The folder as the user named it. It may be a link itself.
    parts
        Names below it; empty for the folder itself.

    Raises
    ------
    InputError
        By every method that looks at the file system, if a part of the path is a link.
    """

    root: Path
    parts: tuple[str, ...] = ()

    @classmethod
    def of(cls, folder: AnyPath) -> OwnPath:
        """Return a folder that the user named, or a path inside one, as a folder in which no link is followed."""
        return folder if isinstance(folder, OwnPath) else cls(Path(folder))

    # --------------------------------------------------------------------------------------------- names

    def __truediv__(self, name: str) -> OwnPath:
        """Return a path below this one; a name may have several parts."""
        parts = PurePosixPath(name).parts
        if not parts or any(part in ("..", "/") or "\0" in part or os.sep in part for part in parts):
            raise InputError(f"got the name {name!r}, expected one of a file inside it", path=self.path)
        return OwnPath(self.root, (*self.parts, *parts))

    def __str__(self) -> str:
        return str(self.path)

    @property
    def path(self) -> Path:
        """The path for messages, and for what opens nothing."""
        return self.root.joinpath(*self.parts)

    @property
    def name(self) -> str:
        """Last part of the path."""
        return self.path.name

    @property
    def stem(self) -> str:
        """Last part without its suffix."""
        return self.path.stem

    @property
    def suffix(self) -> str:
        """End of the last part, from its last dot on."""
        return self.path.suffix

    @property
    def parent(self) -> OwnPath:
        """The folder that contains it; the root's is the folder that the user's path lies in."""
        return OwnPath(self.root, self.parts[:-1]) if self.parts else OwnPath(self.root.parent)

    def with_name(self, name: str) -> OwnPath:
        """Return the path with another last part."""
        return self.parent / name

    def absolute(self) -> OwnPath:
        """Return the path from the root of the file system, for another process."""
        return OwnPath(self.root.absolute(), self.parts)

    # ------------------------------------------------------------------------------------------- looking

    def lstat(self) -> os.stat_result:
        """Return the properties of a file, folder or link itself."""
        if not self.parts:
            return self.root.stat()
        with self.in_folder() as (folder, name):
            return os.stat(name, dir_fd=folder, follow_symlinks=False)

    def stat(self) -> os.stat_result:
        """Return the properties of a file or folder."""
        status = self.lstat()
        if stat.S_ISLNK(status.st_mode):
            raise self._link_error()
        return status

    def exists(self) -> bool:
        """Whether the path exists."""
        return self._mode() is not None

    def is_file(self) -> bool:
        """Whether the path is a regular file."""
        mode = self._mode()
        return mode is not None and stat.S_ISREG(mode)

    def is_dir(self) -> bool:
        """Whether the path is a folder."""
        mode = self._mode()
        return mode is not None and stat.S_ISDIR(mode)

    def _mode(self) -> int | None:
        try:
            return self.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None

    def iterdir(self) -> list[OwnPath]:
        """Return the entries of a folder, links included, sorted by name."""
        return [path for path, _ in self._scanned()]

    def folders(self) -> list[OwnPath]:
        """Return the folders in a folder, sorted by name."""
        return [path for path, kind in self._scanned() if kind == "folder"]

    def glob(self, pattern: str) -> list[OwnPath]:
        """Return the paths below a folder that match a pattern, sorted; nothing if there is no such folder."""
        first, _, rest = pattern.partition("/")
        try:
            paths = [path for path in self.iterdir() if fnmatch.fnmatchcase(path.name, first)]
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [below for path in paths for below in path.glob(rest)] if rest else paths

    def plain(self, pattern: re.Pattern[str]) -> list[OwnPath]:
        """Return the files and folders in a folder whose names match, sorted, without links, pipes and devices."""
        with self._opened_folder() as folder, os.scandir(folder) as entries:
            named = (entry for entry in entries if pattern.fullmatch(entry.name))
            names = sorted(entry.name for entry in named if _kind_of(entry) in ("file", "folder"))
        return [self / name for name in names]

    def _scanned(self) -> list[tuple[OwnPath, EntryKind]]:
        """Return the entries of a folder, sorted by name, each with its kind: link, folder, file or device."""
        with self._opened_folder() as folder, os.scandir(folder) as entries:
            names = [(entry.name, _kind_of(entry)) for entry in entries]
        return [(OwnPath(self.root, (*self.parts, name)), kind) for name, kind in sorted(names)]

    def listed(self) -> list[tuple[OwnPath, EntryKind, os.stat_result]]:
        """Return the entries of a folder, sorted by name, each with its kind and properties; no link is followed."""
        listed: list[tuple[OwnPath, EntryKind, os.stat_result]] = []
        with self._opened_folder() as folder, os.scandir(folder) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):  # it was removed meanwhile
                    path = OwnPath(self.root, (*self.parts, entry.name))
                    listed.append((path, _kind_of(entry), entry.stat(follow_symlinks=False)))
        return sorted(listed, key=lambda entry: entry[0].name)

    def refuse_links(self) -> None:
        """Refuse a folder with a link in it that leads out of it, at any depth, before any work is done."""
        if self.exists():
            self._refuse_links_out(os.path.realpath(self.root))

    def _refuse_links_out(self, real_root: str) -> None:
        for path, kind in self._scanned():
            if kind == "folder":
                path._refuse_links_out(real_root)
            elif kind == "link" and not Path(os.path.realpath(path.path)).is_relative_to(real_root):
                raise path._link_error()

    # ------------------------------------------------------------------------------------------- opening

    @contextlib.contextmanager
    def in_folder(self) -> Iterator[tuple[int | None, str]]:
        """Open the folder that a path lies in; yield its descriptor and the name in it, for calls with ``dir_fd``."""
        if not self.parts:
            raise InputError("is a folder, expected a file or folder inside it", path=self.path)
        folder: int | None = None
        try:
            with self._named_errors():
                if not HAS_DESCRIPTORS:
                    self._refuse_link_parts()
                    yield None, str(self.path)
                    return
                folder = os.open(self.root, _FOLDER)
                for part in self.parts[:-1]:
                    inner = os.open(part, _FOLDER | _NO_FOLLOW, dir_fd=folder)
                    os.close(folder)
                    folder = inner
                yield folder, self.parts[-1]
        finally:
            if folder is not None:
                os.close(folder)

    def open_number(self, flags: int, permissions: int = 0o666) -> int:
        """Open a file and return its descriptor."""
        with self.in_folder() as (folder, name):
            return os.open(name, flags | _NO_FOLLOW, permissions, dir_fd=folder)

    def open(self, mode: str = "rb") -> BinaryIO:
        """Open a regular file: ``rb``, ``wb``, ``ab``, ``a+b`` (unbuffered), or ``r+b``.

        A file that has a second name, outside of the folder perhaps, is not written.
        """
        return _opened(self.open_number(_MODES[mode]), mode, self)

    def content(self) -> bytes:
        """Return the bytes of a file."""
        with self.open() as stream:
            return stream.read()

    # ------------------------------------------------------------------------------------------ changing

    def mkdir(self, *, parents: bool = False, exist_ok: bool = False) -> None:
        """Make a folder; with `parents`, and for the root, also the folders that it lies in."""
        if not self.parts:
            self.root.mkdir(parents=True, exist_ok=exist_ok)
            return
        if parents:
            self.parent.mkdir(parents=True, exist_ok=True)
        with self.in_folder() as (folder, name):
            try:
                os.mkdir(name, dir_fd=folder)
            except FileExistsError:
                if not (exist_ok and stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)):
                    raise

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Remove a file; a link is refused."""
        try:
            with self.in_folder() as (folder, name):
                if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                    raise self._link_error()
                os.unlink(name, dir_fd=folder)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def rmdir(self) -> None:
        """Remove an empty folder."""
        if not self.parts:
            self.root.rmdir()
            return
        with self.in_folder() as (folder, name):
            os.rmdir(name, dir_fd=folder)

    def remove_tree(self) -> None:
        """Remove a folder with everything in it; links in it are removed and not followed."""
        with self.in_folder() as (folder, name):
            shutil.rmtree(name, dir_fd=folder)

    def rename(self, to: OwnPath) -> None:
        """Move a file or folder; a file or an empty folder at the new place is replaced."""
        with self.in_folder() as (folder, name), to.in_folder() as (to_folder, to_name):
            os.replace(name, to_name, src_dir_fd=folder, dst_dir_fd=to_folder)

    def chmod(self, permissions: int) -> None:
        """Set the permissions of a file or folder."""
        with self.in_folder() as (folder, name):
            os.chmod(name, permissions, dir_fd=folder)

    def sync_files(self) -> None:
        """Wait until all files below a folder, and their names, are on the disk."""
        for path, kind in self._scanned():
            if kind == "folder":
                path.sync_files()
            elif kind == "file":
                with path.open("r+b") as stream:
                    os.fsync(stream.fileno())
        self.sync()

    def sync(self) -> None:
        """Wait until the names in a folder are on the disk, so that they survive a power cut."""
        with self._opened_folder() as folder:
            if isinstance(folder, int):
                os.fsync(folder)

    def touch_now(self) -> None:
        """Set the time of a file to now."""
        with self.in_folder() as (folder, name):
            os.utime(name, dir_fd=folder, follow_symlinks=False)

    # ----------------------------------------------------------------------------------------- libraries

    def checked(self) -> Path:
        """Return the path for a library that opens files itself, after no part of it was found to be a link."""
        with contextlib.suppress(FileNotFoundError):
            self.stat()
        return self.path

    @contextlib.contextmanager
    def _opened_folder(self) -> Iterator[int | Path]:
        """Open a folder."""
        if not HAS_DESCRIPTORS:
            yield self.checked()
            return
        number = self.open_number(_FOLDER) if self.parts else os.open(self.root, _FOLDER)
        try:
            yield number
        finally:
            os.close(number)

    @contextlib.contextmanager
    def _named_errors(self) -> Iterator[None]:
        """Let errors name the whole path, and name the link that caused them."""
        try:
            yield
        except OSError as error:
            if error.errno in _LINK_ERRORS:
                self._refuse_link_parts()
            error.filename, error.filename2 = str(self), None
            raise

    def _refuse_link_parts(self) -> None:
        path = self.root
        for depth, part in enumerate(self.parts, start=1):
            path /= part
            if path.is_symlink():
                raise OwnPath(self.root, self.parts[:depth])._link_error()

    def _link_error(self) -> InputError:
        problem = "is a link, expected a file or folder that TrueMoment has made"
        return InputError(problem, path=self.path, hint="remove the link, or write to another place")


def _kind_of(entry: os.DirEntry[str]) -> EntryKind:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "device"


AnyPath = Path | OwnPath
"""A path that the user named, whose links are followed, or one inside a folder of ours."""


def in_its_folder(path: AnyPath) -> OwnPath:
    """Return a file or folder that the user named as one inside the folder it lies in."""
    if isinstance(path, OwnPath) and path.parts:
        return path
    named = path.root if isinstance(path, OwnPath) else path
    if named.name in ("", ".."):
        named = Path(os.path.abspath(named))  # noqa: PTH100 - links stay as they are
    return OwnPath(named.parent) / named.name


def any_path(path: str | AnyPath) -> AnyPath:
    """Return a path, which may be given as text."""
    return path if isinstance(path, OwnPath) else Path(path)


def open_regular(path: AnyPath, mode: str = "rb") -> BinaryIO:
    """Open a regular file as :meth:`OwnPath.open` does; of a path that the user named, links are followed.

    Raises
    ------
    InputError
        If it is a pipe, socket or device, for which a program would wait.
    OSError
        If it cannot be opened.
    """
    return path.open(mode) if isinstance(path, OwnPath) else _opened(os.open(path, _MODES[mode], 0o666), mode, path)


def _opened(number: int, mode: str, path: AnyPath) -> BinaryIO:
    with contextlib.ExitStack() as opened:
        opened.callback(os.close, number)
        status = os.fstat(number)
        refuse_no_file(status.st_mode, path)
        if isinstance(path, OwnPath) and mode != "rb" and status.st_nlink > 1:
            problem = "has another name (a hard link), expected a file that TrueMoment has made"
            raise InputError(problem, path=path, hint="remove it, or write to another place")
        if mode == "wb":
            os.ftruncate(number, 0)
        opened.pop_all()
    if mode == "rb":
        return io.BufferedReader(_Regular(number, "rb"))
    if mode == "a+b":
        return cast("BinaryIO", io.FileIO(number, mode))
    return cast("BinaryIO", os.fdopen(number, mode))


def path_of_opened(stream: BinaryIO, path: AnyPath) -> str:
    """Return the path under which a library opens a file that is open already: this one, and no other by its name.

    It is a full path, which no library reads as an address.
    """
    number = Path(f"/dev/fd/{stream.fileno()}")
    return str(number if number.exists() else path.absolute())


def refuse_no_file(mode: int, path: AnyPath) -> None:
    """Refuse what is opened and is no regular file: a pipe or device would be waited for."""
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        kind = "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
        raise InputError(f"is {kind}, expected a file", path=path, hint="write its content to a file first")


class _Regular(io.FileIO):
    """A file whose reading does not wait: some files of the system, such as /proc/kmsg, would wait forever."""

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        length = super().readinto(buffer)
        if length is None:
            raise BlockingIOError(errno.EAGAIN, "it has no content yet")
        return length

    def readall(self) -> bytes:
        if os.fstat(self.fileno()).st_size:
            return super().readall()
        return b"".join(iter(lambda: self.read(1 << 16), b""))

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            return self.readall()
        data = super().read(size)
        if data is None:
            raise BlockingIOError(errno.EAGAIN, "it has no content yet")
        return data
