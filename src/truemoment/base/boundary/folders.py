"""Folders that TrueMoment writes: one command at a time writes, and leftovers of killed processes are removed.

Locks are those of ``flock``: they end with their process. On file systems without locks, nothing is locked. No link in
a folder is followed (:mod:`truemoment.base.boundary.own_path`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

from truemoment.base.boundary.inputs import updating
from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.errors import InputError, UsageError

LOCK = ".lock"
"""Name of the file in a folder that is locked while a command writes the folder."""

WRITING, FETCHING = ".writing-", ".fetching-"
"""Beginnings of the names of temporary files and folders."""

SPARE = 4
"""Descriptors that a temporary folder keeps open, so that it can be removed where no more files may be opened."""

TEMPORARY = re.compile(rf"(?:{re.escape(WRITING)}|{re.escape(FETCHING)})[a-z0-9_]{{8}}")
"""Names of temporary files and folders: a beginning, and eight characters."""

_NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_EXCL


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
def lock_folder(folder: AnyPath) -> Iterator[None]:
    """Lock a folder against other commands; make it if needed, and remove it if nothing is written."""
    folder = OwnPath.of(updating(folder))
    is_new = False
    try:
        is_new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        number = _hold(folder / LOCK, os.O_RDWR | os.O_CREAT, wait=False)
    except OSError as error:
        problem = f"cannot be {'made' if is_new else 'written'} ({error.strerror})"
        raise InputError(problem, path=str(folder)) from None
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
    beside = OwnPath(path.parent) / f"{LOCK}-{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:12]}"
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


def _hold(path: OwnPath, flags: int, *, wait: bool) -> int | None:
    """Open and lock a file; return its descriptor, or None if another process has the lock or removed the file."""
    number = path.open_number(flags)
    with contextlib.ExitStack() as opened:
        opened.callback(os.close, number)
        with contextlib.suppress(BlockingIOError):
            lock(number, wait=wait)
            if _is_at(number, path):
                opened.pop_all()
                return number
    return None


def _is_at(number: int, path: OwnPath) -> bool:
    """Whether an open file still has its name."""
    try:
        return os.path.samestat(os.fstat(number), path.lstat())
    except FileNotFoundError:
        return False


def _release(number: int, path: OwnPath) -> None:
    """Remove the file of a lock, and let others have the lock; a file with content is not ours."""
    with contextlib.suppress(OSError):
        if os.fstat(number).st_size == 0 and _is_at(number, path):
            path.unlink()
    os.close(number)


# -------------------------------------------------------------------------- temporary files and folders


@contextlib.contextmanager
def temporary_file(folder: AnyPath) -> Iterator[OwnPath]:
    """Make an empty file in a folder, to be renamed; a leftover is removed, now or by the next call."""
    folder = OwnPath.of(folder)
    remove_leftovers(folder)
    path, number = _new(folder, WRITING, is_folder=False)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
        os.close(number)


@contextlib.contextmanager
def temporary_folder(folder: AnyPath, prefix: str = WRITING) -> Iterator[OwnPath]:
    """Make a folder in a folder, to be renamed; a leftover is removed, now or by the next call."""
    folder = OwnPath.of(folder)
    remove_leftovers(folder)
    path, number = _new(folder, prefix, is_folder=True)
    with contextlib.ExitStack() as cleanup:
        cleanup.callback(_remove_own, path)
        cleanup.callback(os.close, number)
        for _ in range(SPARE):
            cleanup.callback(os.close, os.dup(number))
        yield path


def _remove_own(path: OwnPath) -> None:
    with contextlib.suppress(OSError):
        path.rmdir()  # an empty one needs no file to be opened
    with contextlib.suppress(OSError):
        path.remove_tree()


def remove_leftovers(folder: AnyPath) -> None:
    """Remove temporary files and folders of killed processes; those in use are locked."""
    try:
        folders = OwnPath.of(folder).plain(TEMPORARY)
    except OSError:
        return
    for path in folders:
        with contextlib.suppress(OSError):
            _remove_leftover(path)


def _remove_leftover(path: OwnPath) -> None:
    number = _hold(path, _flags(path), wait=False)
    if number is None:
        return
    try:
        if lock(number, wait=False):  # else nobody knows whether it is in use
            path.remove_tree() if path.is_dir() else path.unlink()
    finally:
        os.close(number)


def _new(folder: OwnPath, prefix: str, *, is_folder: bool) -> tuple[OwnPath, int]:
    """Make a file or folder and lock it; make another one if it was removed as a leftover before it was locked."""
    while True:
        path = folder / f"{prefix}{secrets.token_hex(4)}"
        with path.in_folder() as (inside, name):  # open from before: removing it again needs no further file
            try:
                if is_folder:
                    os.mkdir(name, 0o700, dir_fd=inside)
                else:
                    os.close(os.open(name, _NEW_FILE, 0o600, dir_fd=inside))
            except FileExistsError:
                continue
            try:
                number = _hold(path, _flags(path), wait=True)
            except FileNotFoundError:
                continue
            except OSError:  # too many open files
                with contextlib.suppress(OSError):
                    (os.rmdir if is_folder else os.unlink)(name, dir_fd=inside)
                raise
        if number is not None:
            return path, number


def _flags(path: OwnPath) -> int:
    """How to open a file or folder for locking: some file systems lock only files that are open for writing."""
    return os.O_RDONLY if path.is_dir() else os.O_RDWR
