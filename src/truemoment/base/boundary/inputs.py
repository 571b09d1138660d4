"""The inputs of a command, which are never overwritten.

The command line enters :func:`command_inputs`. Inside it, whatever opens an input calls :func:`reading`, and whatever
writes a file calls :func:`writing` first. Outside of a command these only return their path.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.errors import InputError, OutputError

P = TypeVar("P", bound=str | Path | OwnPath)


@dataclass
class _Register:
    """Real paths of the files and folders of a command, with their names in the command.

    Parameters
    ----------
    read
        Inputs so far; a folder includes everything below it.
    planned
        Outputs, as far as options name them.
    own
        Files and folders that the command writes or resumes, and may read too.
    seen
        Paths passed to :func:`reading`.
    has_written
        Whether a file was written, or begun.
    """

    read: dict[str, str] = field(default_factory=dict)
    planned: dict[str, str] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)
    has_written: bool = False

    def is_own(self, real: str) -> bool:
        """Whether a path is one of the command's own files, or lies in one of its folders."""
        return not self.own.isdisjoint(_with_folders(real))

    def refuse_read(self, real: str, named: str) -> None:
        """Refuse to write an input, or into it."""
        if not self.is_own(real) and not _is_stream(real):
            for read in self.read.keys() & _with_folders(real):
                _refuse(real, named, read, self.read[read])


_register: ContextVar[_Register | None] = ContextVar("register of a command", default=None)


@contextlib.contextmanager
def command_inputs() -> Iterator[None]:
    """Protect everything that is read inside this block from being overwritten inside it."""
    token = _register.set(_Register())
    try:
        yield
    finally:
        _register.reset(token)


def reading(path: P) -> P:
    """Return the path of an input that is about to be read; from now on it is protected, with everything below it."""
    text = str(path)
    if "\0" in text:
        raise InputError("contains a NUL character, expected a path", path=text)
    register = _register.get()
    if register is None or text in register.seen:
        return path
    register.seen.add(text)
    real = os.path.realpath(text)
    if register.is_own(real) or _is_stream(real):
        return path
    register.read[real] = text
    for planned, named in register.planned.items():
        _refuse(planned, named, real, text)
    return path


def will_write(path: AnyPath) -> None:
    """Register an output before any work, so that reading it is refused."""
    if (register := _register.get()) is not None:
        real = os.path.realpath(str(path))
        register.refuse_read(real, str(path))
        register.planned[real] = str(path)


def writing(path: P) -> P:
    """Return the path of a file or folder that is about to be written."""
    register = _register.get()
    if register is None:
        return path
    real = os.path.realpath(str(path))
    register.refuse_read(real, str(path))
    register.own.add(real)
    register.has_written = True
    return path


def updating(path: P) -> P:
    """Return the path of a file or folder that the command both reads and writes."""
    if (register := _register.get()) is not None:
        real = os.path.realpath(str(path))
        register.has_written = True
        register.own.add(real)
        for paths in (register.read, register.planned):
            for other_path in [path for path in paths if real in _with_folders(path)]:
                del paths[other_path]
    return path


def has_written() -> bool:
    """Whether the command has written a file, or begun to."""
    register = _register.get()
    return register is not None and register.has_written


def _refuse(output: str, as_named: str, read: str, as_read: str) -> None:
    """Refuse to write what is read, or into it."""
    if output == read:
        raise OutputError(f"{as_named}: is read or written already, expected another file to write to")
    if read in _with_folders(output):
        raise OutputError(f"{as_named}: lies in {as_read}, which is read, expected another place")


def _with_folders(path: str) -> set[str]:
    """Return a path and the folders that it lies in."""
    parts = path.split(os.sep)  # noqa: PTH206 - making a path of each takes time
    return set(itertools.accumulate(parts, lambda above, name: f"{above}{os.sep}{name}"))


def _is_stream(path: str) -> bool:
    """Whether a path is a pipe or device, which is never replaced."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - pathlib makes a path of each
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
