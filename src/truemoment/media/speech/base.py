"""The interface of recognisers: sound in, words with times out."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from truemoment.base.errors import InputError, MissingFileError
from truemoment.media.features.fingerprints import fingerprint

Sound = npt.NDArray[np.float32]  # mono sound from -1 to 1, shape (N,)

RATE_HZ = 16_000
"""Sampling rate that recognisers hear."""


class HeardWord(NamedTuple):
    """A recognised word.

    Parameters
    ----------
    text
        The word with the punctuation that the engine wrote, without blanks around it.
    start_s, end_s
        Its time.
    probability
        How sure the engine is, from 0 to 1; None where it does not report that.
    voice
        Name of the speaker, where the engine or transcript separates speakers.
    timed
        Whether the engine gave the time; False where it lies between the words beside it.
    """

    text: str
    start_s: float
    end_s: float
    probability: float | None = None
    voice: str | None = None
    timed: bool = True


@runtime_checkable
class Recogniser(Protocol):
    """An engine that hears words."""

    @property
    def name(self) -> str:
        """Name of the engine in reports."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hash of the model's files."""
        ...

    @property
    def punctuates(self) -> bool:
        """Whether words carry punctuation and capital letters."""
        ...

    def hear(self, sound: Sound, rate_hz: int, at_s: float = 0.0) -> list[HeardWord]:
        """Return the words of a sound in order of time.

        Parameters
        ----------
        sound : (N,)
            Mono sound.
        rate_hz
            Its sampling rate.
        at_s
            Time of its beginning, which is added to the times of the words.
        """
        ...


def fingerprint_of_folder(folder: Path) -> str:
    """Return a hash of the files of a model folder."""
    try:
        files = sorted(path for path in folder.rglob("*") if path.is_file())
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=folder) from None
    return fingerprint(files)


def require_files(folder: Path, *names: str, model: str) -> None:
    """Refuse a model folder that is missing a file.

    Parameters
    ----------
    folder
        The folder.
    *names
        Files that must exist; alternatives are separated by ``|``.
    model
        Expected content of the folder, for the error.
    """
    if not folder.is_dir():
        raise MissingFileError(f"{folder}: no such folder, expected {model}")
    for name in names:
        if not any((folder / file).exists() for file in name.split("|")):
            wanted = " or ".join(name.split("|"))
            raise InputError(f"is missing {wanted}, expected {model}", path=folder)
