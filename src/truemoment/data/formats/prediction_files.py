"""Prediction files as users name them, and how they are read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.boundary.text import printable
from truemoment.base.errors import UsageError
from truemoment.base.records import Annotations, OnUnknown, Predictions
from truemoment.data.answers.reading import Reading
from truemoment.data.formats import read_predictions
from truemoment.data.formats.base import OnNegative
from truemoment.data.formats.matching import MatchReport


@dataclass(frozen=True)
class PredictionOptions:
    """How prediction files are read, as :func:`truemoment.data.formats.read_predictions` takes it."""

    format: str | None = None
    reading: Reading | None = None
    on_unknown: OnUnknown = "refuse"
    on_negative: OnNegative = "refuse"

    def read(self, path: AnyPath, annotations: Annotations, *, progress: bool) -> tuple[Predictions, MatchReport]:
        """Read a prediction file."""
        return read_predictions(
            path,
            annotations,
            format=self.format,
            reading=self.reading,
            on_unknown=self.on_unknown,
            on_negative=self.on_negative,
            progress=progress,
        )


@dataclass(frozen=True)
class NamedFile:
    """A prediction file and the name of its method; `given` by the user, or from the file."""

    name: str
    path: Path
    given: bool

    @classmethod
    def read(cls, word: str) -> NamedFile:
        """Read FILE, or NAME=FILE.

        A word that is the path of a file is one, whatever equals signs it contains, and so is a word with a folder
        before its first equals sign.
        """
        name, equals, file = word.partition("=")
        is_path = os.path.exists(word)  # noqa: PTH110 - pathlib raises at a word that is too long for a path
        given = bool(equals) and "/" not in name and os.sep not in name and not is_path
        path = Path(file if given else word)
        if given:
            name = name.strip()
            if not name or not file:
                raise UsageError(f"got {word!r}, expected NAME=FILE, or FILE")
        else:
            name = cls.own_name(path)
        return cls.checked(name, path, given=given)

    @classmethod
    def checked(cls, name: str, path: Path, *, given: bool) -> NamedFile:
        """Make one; the name must be printable."""
        if printable(name) != name or not name.strip():
            hint = "" if given else "; give NAME=FILE"
            raise UsageError(f"got the name {name!r}, expected printable text{hint}")
        return cls(name, path, given)

    @staticmethod
    def own_name(path: Path) -> str:
        """Return the name of a method whose file has no given name."""
        return path.with_suffix("").stem if path.suffix.lower() == ".gz" else path.stem
