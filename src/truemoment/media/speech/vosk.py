"""Kaldi models, by Vosk, from a folder."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from truemoment.base.boundary.text import as_text
from truemoment.base.errors import InputError, TrueMomentError
from truemoment.media.speech.base import HeardWord, Sound, fingerprint_of_folder, require_files

BLOCK_S = 0.5


class VoskRecogniser:
    """A Kaldi model: bare words without punctuation.

    Parameters
    ----------
    folder
        Folder of the model, with ``am/final.mdl``.
    """

    punctuates = False

    def __init__(self, folder: Path) -> None:
        require_files(folder, "am/final.mdl|final.mdl", model="a Vosk model")
        self.folder = folder
        self._model: Any = None

    @property
    def name(self) -> str:
        """Name in reports."""
        return f"vosk {as_text(self.folder.name)}"

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the folder's files."""
        return fingerprint_of_folder(self.folder)

    def hear(self, sound: Sound, rate_hz: int, at_s: float = 0.0) -> list[HeardWord]:
        """Return the words of a sound in order of time."""
        try:
            import vosk  # noqa: PLC0415 - optional
        except ModuleNotFoundError:
            raise TrueMomentError("--speech vosk:FOLDER needs the package vosk: pip install vosk") from None
        if self._model is None:
            vosk.SetLogLevel(-1)
            try:
                self._model = vosk.Model(str(self.folder))
            except Exception as error:  # it raises nothing more specific
                raise InputError(f"cannot be loaded as a Vosk model ({error})", path=self.folder) from None
        recogniser = vosk.KaldiRecognizer(self._model, rate_hz)
        recogniser.SetWords(True)
        samples = np.clip(sound * 32768, -32768, 32767).astype("<i2")
        block = round(BLOCK_S * rate_hz)
        results = [
            recogniser.Result()
            for low in range(0, len(samples), block)
            if recogniser.AcceptWaveform(samples[low : low + block].tobytes())
        ]
        results.append(recogniser.FinalResult())
        return [
            HeardWord(word["word"], at_s + word["start"], at_s + word["end"], word.get("conf"))
            for result in results
            for word in msgspec.json.decode(result).get("result", ())
        ]
