"""Voices of espeak-ng, for recognisers of real speech: the library is loaded when it is used, and never shipped."""

from __future__ import annotations

import ctypes
import math
from functools import lru_cache
from typing import Any

import numpy as np

from truemoment.base.errors import InputError, MissingPackageError
from truemoment.media.audio.reading import Samples
from truemoment.media.audio.resampling import values_at
from truemoment.worlds.described.voices import SpokenWord, Utterance

VOICE_NAMES = (b"en-us", b"en-us+m3", b"en-us+f3", b"en-us+f2", b"en-us+m7")
"""The narrator's voice, then the actors'."""

SYNCHRONOUS = 2
UTF8 = 1
CHARACTERS = 1
EVENT_END, EVENT_WORD = 0, 1
RATE_PARAMETER = 1
WORDS_A_MINUTE = 165

LEAST_AMPLITUDE = 0.01
"""Share of the peak below which the edges of an utterance are silence."""


class _Event(ctypes.Structure):
    """An event of the library's speak_lib.h, as far as it is read."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_char * 8),
    )


_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event))


class _Library:
    """The library, started once in a process, and its last utterance."""

    def __init__(self) -> None:
        try:
            import espeakng_loader  # noqa: PLC0415 - an optional package
        except ModuleNotFoundError:
            raise MissingPackageError("espeakng-loader", "speech-test", "voices of espeak-ng") from None
        self.library: Any = ctypes.CDLL(espeakng_loader.get_library_path())
        self.rate_hz = int(self.library.espeak_Initialize(SYNCHRONOUS, 0, espeakng_loader.get_data_path().encode(), 0))
        if self.rate_hz <= 0:
            raise InputError("espeak-ng does not start", hint="install the package espeakng-loader again")
        self.parts: list[Samples] = []
        self.words: list[tuple[int, float]] = []
        self.callback = _CALLBACK(self._receive)  # kept: the library calls it later
        self.library.espeak_SetSynthCallback(self.callback)
        self.library.espeak_SetParameter(RATE_PARAMETER, WORDS_A_MINUTE, 0)

    def _receive(self, wav: Any, n: int, events: Any) -> int:  # noqa: ANN401 - pointers of ctypes
        if n > 0:
            part = np.ctypeslib.as_array(wav, (n,)).astype(np.float32) / np.float32(32768)
            self.parts.append(np.asarray(part, dtype=np.float32))
        at = 0
        while events[at].type != EVENT_END:
            if events[at].type == EVENT_WORD:
                self.words.append((events[at].text_position - 1, events[at].audio_position / 1000))
            at += 1
        return 0

    def say(self, text: str, voice: bytes) -> tuple[Samples, list[tuple[int, float]]]:
        """Return the samples of a text, and (position in the text, start in seconds) of each word."""
        self.parts, self.words = [], []
        self.library.espeak_SetVoiceByName(voice)
        data = text.encode() + b"\0"
        self.library.espeak_Synth(data, ctypes.c_size_t(len(data)), 0, CHARACTERS, 0, UTF8, None, None)
        return np.concatenate([*self.parts, np.zeros(1, np.float32)]), self.words


@lru_cache(maxsize=4096)
def _said(text: str, voice: int) -> tuple[Samples, tuple[tuple[int, float], ...]]:
    """Return the speech of a voice, computed once: the library does not speak a text twice in the same way."""
    samples, words = _library().say(text, VOICE_NAMES[voice])
    return samples, tuple(words)


@lru_cache(maxsize=1)
def _library() -> _Library:
    return _Library()


class Espeak:
    """Voices of espeak-ng."""

    name = "espeak"
    n_voices = len(VOICE_NAMES)

    def say(self, text: str, voice: int, rate_hz: int) -> Utterance:
        """Return a sentence as spoken by a voice; a word lasts until the next one starts."""
        library = _library()
        samples, events = _said(text, voice)
        loud = np.flatnonzero(np.abs(samples) > LEAST_AMPLITUDE * np.abs(samples).max(initial=0.0))
        first, last = (int(loud[0]), int(loud[-1]) + 1) if len(loud) else (0, len(samples))
        samples = samples[first:last]
        end_s = len(samples) / library.rate_hz
        spoken = text.split()
        places = np.cumsum([0, *(len(word) + 1 for word in spoken[:-1])])
        # Words that are spoken as one, such as "of a", have one start: the others lie evenly between.
        starts_by_character = sorted({at: start - first / library.rate_hz for at, start in events}.items())
        characters, times = (
            [*(at for at, _ in starts_by_character), len(text)],
            [*(start for _, start in starts_by_character), end_s],
        )
        starts = np.clip(np.interp(places, characters, times), 0.0, end_s).tolist()
        ends = [*starts[1:], end_s]
        words = tuple(SpokenWord(*word) for word in zip(spoken, starts, ends, strict=True))
        at = np.arange(math.floor(end_s * rate_hz)) * (library.rate_hz / rate_hz)
        sound = values_at(samples, at)
        return Utterance(sound / np.float32(max(float(np.sqrt(np.mean(sound**2))), 1e-9)), words)
