"""Prediction files as users name them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from truemoment.base.boundary.text import printable
from truemoment.base.errors import UsageError


@dataclass(frozen=True)
class NamedFile:
    """A prediction file and the name of its method; `is_named` if the user gave the name, else it is from the file."""

    name: str
    path: Path
    is_named: bool

    @classmethod
    def read(cls, word: str) -> NamedFile:
        """Read FILE, or NAME=FILE.

        A word that is the path of a file is one, whatever equals signs it contains, and so is a word with a folder
        before its first equals sign.
        """
        name, equals, file = word.partition("=")
        is_path = os.path.exists(word)  # noqa: PTH110 - pathlib raises at a word that is too long for a path
        is_named = bool(equals) and "/" not in name and os.sep not in name and not is_path
        path = Path(file if is_named else word)
        if is_named:
            name = name.strip()
            if not name or not file:
                raise UsageError(f"got {word!r}, expected NAME=FILE, or FILE")
        else:
            name = cls.own_name(path)
        return cls.checked(name, path, is_named=is_named)

    @classmethod
    def checked(cls, name: str, path: Path, *, is_named: bool) -> NamedFile:
        """Make one; the name must be printable."""
        if printable(name) != name or not name.strip():
            hint = "" if is_named else "; give NAME=FILE"
            raise UsageError(f"got the name {name!r}, expected printable text{hint}")
        return cls(name, path, is_named)

    @staticmethod
    def own_name(path: Path) -> str:
        """Return the name of a method whose file has no given name."""
        return path.with_suffix("").stem if path.suffix.lower() == ".gz" else path.stem


def file_by_system(words: Sequence[str]) -> dict[str, Path]:
    """Read FILE or NAME=FILE of each system; refuse two files of one name."""
    files: dict[str, Path] = {}
    for named in map(NamedFile.read, words):
        if named.name in files:
            raise UsageError(
                f"{files[named.name]} and {named.path} would both have the name {named.name!r}; give NAME=FILE, a name "
                "each"
            )
        files[named.name] = named.path
    return files
