"""Folders that TrueMoment writes: links in them are refused, one command at a time writes, and leftovers are removed.

A folder may come from somebody else, so only the named folder itself may be a link. Locks are those of ``flock``: they
end with their process. On file systems without locks, nothing is locked.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from truemoment.exceptions import InputError, UsageError
from truemoment.inputs import updating

LOCK = ".lock"
"""Name of the file in a folder that is locked while a command writes the folder."""

WRITING, FETCHING = ".writing-", ".fetching-"
"""Beginnings of the names of temporary files and folders."""

SPARE = 4
"""Descriptors that a temporary folder keeps open, so that it can be removed where no more files may be opened."""

TEMPORARY = re.compile(rf"(?:{re.escape(WRITING)}|{re.escape(FETCHING)})[a-z0-9_]{{8}}")
"""Names of temporary files and folders: a beginning, and what :mod:`tempfile` adds to it."""


def refuse_links(folder: Path, *names: str) -> None:
    """Refuse a folder in which one of our files is a link: following it would write or remove files elsewhere.

    Parameters
    ----------
    folder
        The folder, which may be a link itself, and need not exist.
    *names
        Files and folders in it, e.g. ``"run.json"`` or ``"videos/*/*"``. Each part of a path is checked; ``*`` matches
        everything.
    """
    for name in names:
        found = [folder]
        for part in name.split("/"):
            found = [path for parent in found for path in (_inside(parent) if part == "*" else [parent / part])]
            link = next((path for path in found if path.is_symlink()), None)
            if link is not None:
                problem = "is a link, expected a file or folder that TrueMoment has made"
                raise InputError(problem, path=link, hint="remove the link, or write to another place")


def _inside(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


# ------------------------------------------------------------------------------------------------ locks


def lock(number: int, *, wait: bool) -> bool:
    """Lock an open file by its descriptor as long as it is open; return False if files cannot be locked.

    With `wait` it waits for another process; without, that raises ``BlockingIOError``.
    """
    try:
        import fcntl  # noqa: PLC0415 - not on every system

        fcntl.flock(number, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except (ImportError, OSError):  # a file system without locks
        return False
    return True


@contextlib.contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Lock a folder against other commands; make it if needed, and remove it if nothing is written."""
    refuse_links(updating(folder), LOCK)
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        number = _hold(folder / LOCK, os.O_RDWR | os.O_CREAT, wait=False)
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror})", path=folder) from None
    if number is None:
        raise UsageError(f"{folder}: is being written by another command, wait for its end")
    try:
        yield
    finally:
        _release(number, folder / LOCK)
        if is_new:
            with contextlib.suppress(OSError):  # it is not empty
                folder.rmdir()


@contextlib.contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Lock a file that is read and replaced; other processes wait.

    The lock is a second file beside it, since each change replaces the file itself.
    """
    path = Path(os.path.realpath(updating(path)))
    beside = path.with_name(f"{LOCK}-{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:12]}")
    number = None
    while number is None:
        try:
            number = _hold(beside, os.O_RDWR | os.O_CREAT, wait=True)
        except OSError as error:
            raise InputError(f"cannot be written ({error.strerror or error})", path=path) from None
    try:
        yield
    finally:
        _release(number, beside)


def _hold(path: Path, flags: int, *, wait: bool) -> int | None:
    """Open and lock a file; return its descriptor, or None if another process has the lock or removed the file."""
    number = os.open(path, flags, 0o666)
    with contextlib.ExitStack() as opened:
        opened.callback(os.close, number)
        with contextlib.suppress(BlockingIOError):
            lock(number, wait=wait)
            if _is_at(number, path):
                opened.pop_all()
                return number
    return None


def _is_at(number: int, path: Path) -> bool:
    """Whether an open file still has its name."""
    try:
        return os.path.samestat(os.fstat(number), path.lstat())
    except FileNotFoundError:
        return False


def _release(number: int, path: Path) -> None:
    """Remove the file of a lock, and let others have the lock; a file with content is not ours."""
    with contextlib.suppress(OSError):
        if os.fstat(number).st_size == 0 and _is_at(number, path):
            path.unlink()
    os.close(number)


# -------------------------------------------------------------------------- temporary files and folders


@contextlib.contextmanager
def temporary_file(folder: Path) -> Iterator[Path]:
    """Make an empty file in a folder, to be renamed; a leftover is removed, now or by the next call."""

    def make() -> str:
        number, name = tempfile.mkstemp(dir=folder, prefix=WRITING)
        os.close(number)
        return name

    remove_leftovers(folder)
    path, number = _new(make)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
        os.close(number)


@contextlib.contextmanager
def temporary_folder(folder: Path, prefix: str = WRITING) -> Iterator[Path]:
    """Make a folder in a folder, to be renamed; a leftover is removed, now or by the next call."""
    remove_leftovers(folder)
    path, number = _new(lambda: tempfile.mkdtemp(dir=folder, prefix=prefix))
    with contextlib.ExitStack() as left:
        left.callback(_remove_own, path)
        left.callback(os.close, number)
        for _ in range(SPARE):
            left.callback(os.close, os.dup(number))
        yield path


def _remove_own(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.rmdir()  # an empty one needs no file to be opened
    shutil.rmtree(path, ignore_errors=True)


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files and folders of killed processes; those in use are locked."""
    try:
        with os.scandir(folder) as entries:
            left = [Path(entry.path) for entry in entries if TEMPORARY.fullmatch(entry.name) and _is_plain(entry)]
    except OSError:
        return
    for path in left:
        with contextlib.suppress(OSError):
            _remove_leftover(path)


def _remove_leftover(path: Path) -> None:
    number = _hold(path, _flags(path), wait=False)
    if number is None:
        return
    try:
        if lock(number, wait=False):  # else nobody can tell whether it is in use
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    finally:
        os.close(number)


def _new(make: Callable[[], str]) -> tuple[Path, int]:
    """Make a file or folder and lock it; make another one if it was removed as a leftover before it was locked."""
    while True:
        path = Path(make())
        try:
            number = _hold(path, _flags(path), wait=True)
        except FileNotFoundError:
            continue
        except OSError:  # too many open files
            path.rmdir() if path.is_dir() else path.unlink()
            raise
        if number is not None:
            return path, number


def _flags(path: Path) -> int:
    """How to open a file or folder for locking: some file systems lock only files that are open for writing."""
    return os.O_RDONLY if path.is_dir() else os.O_RDWR


def _is_plain(entry: os.DirEntry[str]) -> bool:
    return entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
