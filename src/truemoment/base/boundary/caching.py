"""Results that are slow to compute and depend only on data and code, kept in the user's cache folder.

An entry is an NPZ file whose name is a hash of everything it was computed from: annotations, settings, measures,
convention, and the code that computes it (:data:`COMPUTING`). Entries are written atomically, so commands may run in
parallel; a damaged entry, or another file in its place, is computed again; the least recently used ones are removed
above :data:`MOST_BYTES`.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from truemoment.base.boundary.arrays import Array, names_in_npz, read_npz, refusing_damage, write_npz
from truemoment.base.boundary.inputs import updating
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import TrueMomentError

MOST_BYTES = 1 << 30
"""Size of all entries together: 1 GiB."""

VARIABLE = "TRUEMOMENT_CACHE"
"""Environment variable that names another folder."""

_ENTRY = re.compile(r"truemoment-[a-z-]+-[0-9a-f]{32}\.npz")


SEAL = "sha256"
"""Array of an entry that has the hash of its name and of its other arrays."""


def say_nothing(_: str) -> None:
    """Ignore a message; unlike a lambda, this function can be sent to a process."""


class Cache:
    """A cache of arrays.

    Parameters
    ----------
    folder
        Folder of the entries, made if needed; None for no cache.
    warn
        Called once with the reason if nothing can be kept.
    """

    def __init__(self, folder: Path | None, warn: Callable[[str], None] = say_nothing) -> None:
        self.folder, self._warn = folder, warn

    @classmethod
    def of_user(cls, warn: Callable[[str], None] = say_nothing) -> Cache:
        """Return the cache in the user's cache folder, or in ``TRUEMOMENT_CACHE``."""
        from platformdirs import user_cache_path  # noqa: PLC0415 - only commands that keep something need it

        named = os.environ.get(VARIABLE)
        return cls(Path(named) if named else user_cache_path("truemoment"), warn)

    def arrays(
        self, kind: str, key: Mapping[str, Any], compute: Callable[[], Mapping[str, Array]]
    ) -> Mapping[str, Array]:
        """Return cached arrays, or compute and keep them.

        Parameters
        ----------
        kind
            Kind of entry, in small letters and hyphens: part of the file's name.
        key
            Everything they are computed from, as JSON values.
        compute
            Returns one or more arrays by name, without Python objects.
        """
        path = self._path(kind, key)
        if path is None:
            return compute()
        with contextlib.suppress(TrueMomentError, OSError), refusing_damage(path, "is damaged"):
            names = names_in_npz(path)
            arrays = dict(zip(names, read_npz(path, *names), strict=True))
            if bytes(arrays.pop(SEAL)) == _seal_of(path.name, arrays):
                path.touch_now()
                return arrays
        computed = compute()
        self._keep(path, computed)
        return computed

    def holds(self, kind: str, key: Mapping[str, Any]) -> bool:
        """Return whether arrays are kept."""
        path = self._path(kind, key)
        return path is not None and path.exists()

    def _path(self, kind: str, key: Mapping[str, Any]) -> OwnPath | None:
        """Return the file of an entry; None if nothing is kept."""
        if self.folder is None:
            return None
        text = json.dumps({"code": code_hash(), **key}, sort_keys=True)
        name = f"truemoment-{kind}-{hashlib.sha256(text.encode()).hexdigest()[:32]}.npz"
        return updating(OwnPath(self.folder) / name)

    def _keep(self, path: OwnPath, arrays: Mapping[str, Array]) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            seal = np.frombuffer(_seal_of(path.name, arrays), dtype=np.uint8)
            write_npz(path, packed=False, **arrays, **{SEAL: seal})
            self._prune(path.parent)
        except (TrueMomentError, OSError) as error:
            warn, self._warn = self._warn, say_nothing
            warn(f"results are not kept for the next time ({error})")

    def _prune(self, folder: OwnPath) -> None:
        """Remove the entries that were used least recently, until the others fit."""
        entries = []
        for path in folder.plain(_ENTRY):
            with contextlib.suppress(OSError):  # another command has removed it
                status = path.stat()
                entries.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= MOST_BYTES:
                break
            path.unlink(missing_ok=True)
            total -= size


def _seal_of(name: str, arrays: Mapping[str, Array]) -> bytes:
    """Return the hash of the arrays of an entry and its name: whatever else lies in its place has another one."""
    digest = hashlib.sha256(name.encode())
    for key in sorted(arrays):
        array = np.asarray(arrays[key])
        digest.update(f"\0{key}\0{array.dtype.str}\0{array.shape}\0".encode())
        digest.update(array.tobytes())
    return digest.digest()


NO_CACHE = Cache(None)
"""Keeps nothing."""


COMPUTING = (
    "base/boundary/arrays.py",
    "base/boundary/caching.py",
    "base/cells.py",
    "base/density.py",
    "base/intervals.py",
    "base/records.py",
    "baselines",
    "data/language",
    "evaluation/evaluate.py",
    "evaluation/measures",
    "evaluation/protocols",
    "evaluation/references.py",
    "evaluation/scores.py",
    "evaluation/uncertainty.py",
    "studies/audit/checks/below_floor.py",
    "studies/audit/own_answers.py",
    "studies/audit/place_law.py",
    "studies/audit/training_data.py",
    "studies/bias/chance.py",
    "studies/bias/distances.py",
)
"""Modules that compute entries. A change of another module, such as a page, keeps the entries."""


@functools.cache
def code_hash() -> str:
    """Return a hash of the modules that entries are computed by."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[2]
    rooms = (root / name for name in COMPUTING)
    for path in sorted(file for room in rooms for file in ([room] if room.is_file() else room.rglob("*.py"))):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
