"""Files and folders in a folder of results. No link is followed, and pipes and devices are not opened."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from truemoment.base.boundary.own_path import EntryKind, OwnPath
from truemoment.base.boundary.text import as_text
from truemoment.base.errors import TrueMomentError

MOST_ENTRIES = 20_000
"""Entries that are listed."""

DEEPEST = 8
"""Folders within folders that are looked into."""


@dataclass(frozen=True)
class Entry:
    """A file, folder, link or device.

    Parameters
    ----------
    path
        Its path, in the folder that is open.
    kind
        What the file system says that it is.
    size
        Bytes of a file.
    mtime_ns
        When it was changed last.
    inside
        Names in a folder.
    """

    path: OwnPath
    kind: EntryKind
    size: int
    mtime_ns: int
    inside: frozenset[str] = frozenset()

    @cached_property
    def key(self) -> str:
        """Its name in addresses: a hash of its path, from which no path can be made."""
        return key_of(self.path)

    @cached_property
    def name(self) -> str:
        """Its path below the folder, for people."""
        return as_text("/".join(self.path.parts))

    @property
    def version(self) -> tuple[str, int, int]:
        """What changes when its content does."""
        return self.key, self.mtime_ns, self.size


def key_of(path: OwnPath) -> str:
    """Return the name of a path in addresses."""
    return hashlib.sha256(os.fsencode("/".join(path.parts))).hexdigest()[:16]


def entries_in(root: OwnPath, is_whole: Callable[[Sequence[str]], bool]) -> tuple[list[Entry], bool]:
    """Return the entries below a folder, the newest first, and whether they are all.

    Hidden names are left out. A folder for whose names `is_whole` holds, such as a run, is one entry, and its files
    are none.
    """
    entries: list[Entry] = []
    waiting = deque([root])
    while waiting:
        folder = waiting.popleft()
        try:
            listed = [entry for entry in folder.listed() if not entry[0].name.startswith(".")]
        except (OSError, TrueMomentError):  # it is gone, or may not be read
            continue
        if folder.parts and is_whole([path.name for path, _, _ in listed]):
            status = folder.stat()
            times = [status.st_mtime_ns, *(inner.st_mtime_ns for _, _, inner in listed)]
            entries.append(Entry(folder, "folder", 0, max(times), frozenset(path.name for path, _, _ in listed)))
            continue
        waiting.extend(path for path, kind, _ in listed if kind == "folder" and len(path.parts) <= DEEPEST)
        files = (entry for entry in listed if entry[1] != "folder")
        entries += [Entry(path, kind, status.st_size, status.st_mtime_ns) for path, kind, status in files]
        if len(entries) > MOST_ENTRIES:
            break
    entries.sort(key=lambda entry: (-entry.mtime_ns, entry.path.parts))
    return entries[:MOST_ENTRIES], len(entries) <= MOST_ENTRIES and not waiting
