"""Whisper in CTranslate2 form, by faster-whisper, from a folder."""

from __future__ import annotations

import zlib
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from truemoment.base.boundary.text import as_text
from truemoment.base.errors import InputError, MissingPackageError, UsageError
from truemoment.media.speech.base import RATE_HZ, HeardWord, Sound, fingerprint_of_folder, require_files

COMPRESSION = 2.4
"""Segments whose text can be compressed more than this are invented.

Whisper's own rule is for all text of 30 s, in which description may well repeat itself: this one is for a segment.
"""


def compression(text: str) -> float:
    """Return how many times shorter a text is when it is compressed by zlib.

    Examples
    --------
    >>> compression("thank you " * 20) > 2.4, compression("A green heart stands on the left of a triangle.") > 2.4
    (True, False)
    """
    data = text.encode()
    return len(data) / len(zlib.compress(data)) if data else 0.0


class WhisperRecogniser:
    """A Whisper model.

    Parameters
    ----------
    folder
        Folder with ``model.bin``, ``config.json``, ``tokenizer.json`` or ``vocabulary.*``.
    beam
        Beams of the search.
    compute
        Number type of the computation, e.g. ``int8``.
    language
        Language that is spoken, as a code of two letters.
    threads
        Processor threads; 0 for the engine's default.
    """

    punctuates = True

    def __init__(
        self, folder: Path, *, beam: int = 5, compute: str = "int8", language: str = "en", threads: int = 0
    ) -> None:
        model = "a Whisper model in CTranslate2 form"
        require_files(folder, "model.bin", "config.json", "tokenizer.json", model=model)
        require_files(folder, "vocabulary.json|vocabulary.txt|vocabulary.bin", model=model)
        self.folder, self.beam, self.compute, self.language, self.threads = folder, beam, compute, language, threads
        self.n_invented = 0
        self._model: Any = None

    @property
    def name(self) -> str:
        """Name in reports: folder, beams and number type."""
        return f"whisper {as_text(self.folder.name)}, beam={self.beam}, compute={self.compute}"

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the folder's files."""
        return fingerprint_of_folder(self.folder)

    def hear(self, sound: Sound, rate_hz: int, at_s: float = 0.0) -> list[HeardWord]:
        """Return the words of a sound; segments of invented text are dropped and counted."""
        if rate_hz != RATE_HZ:
            raise UsageError(f"got sound at {rate_hz} Hz, expected {RATE_HZ} Hz")
        segments, _ = self._loaded().transcribe(
            np.ascontiguousarray(sound, np.float32),
            beam_size=self.beam,
            language=self.language,
            word_timestamps=True,
            condition_on_previous_text=False,
            vad_filter=True,
            temperature=0.0,
        )
        words = []
        for segment in segments:
            if compression(segment.text) > COMPRESSION:
                self.n_invented += 1
                continue
            for word in segment.words or ():
                text = word.word.strip()
                if text:
                    start_s, end_s = float(at_s + word.start), float(at_s + word.end)
                    words.append(HeardWord(text, start_s, end_s, float(word.probability)))
        return words

    def _loaded(self) -> Any:  # noqa: ANN401 - an optional package without types
        """Load the model once."""
        if self._model is None:
            try:
                from faster_whisper import WhisperModel  # noqa: PLC0415 - takes a second, and is optional
            except ModuleNotFoundError:
                raise MissingPackageError("faster-whisper", "collect", "--speech whisper:FOLDER") from None
            try:
                self._model = WhisperModel(
                    str(self.folder),
                    device="cpu",
                    compute_type=self.compute,
                    cpu_threads=self.threads,
                    local_files_only=True,
                )
            except (ValueError, RuntimeError, OSError) as error:
                why = str(error).splitlines()[0]
                raise InputError(f"cannot be loaded as a Whisper model ({why})", path=self.folder) from None
        return self._model
