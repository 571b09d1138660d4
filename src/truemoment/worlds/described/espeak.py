"""Voices of espeak-ng for simulated films, so that real recognisers can be tried: the library is loaded, never shipped.

It comes with the package espeakng-loader. Times of words are those that the synthesiser reports.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from truemoment.audio.reading import Samples
from truemoment.exceptions import InputError, MissingPackageError
from truemoment.intervals import Floats
from truemoment.worlds.described.voices import SpokenWord, Utterance

VOICES = (b"en-us", b"en-us+f3", b"en-us+m3", b"en-us+f2", b"en-us+m7")
"""The narrator's voice, then those of the actors."""

QUIET = 0.01
"""Sound below this share of the loudest sample, at both ends of a sentence, is cut off."""

_SYNCHRONOUS, _UTF8, _BY_CHARACTER, _WORD = 2, 1, 1, 1  # values of speak_lib.h


class _Event(ctypes.Structure):
    """An event of the synthesiser, as speak_lib.h declares it."""

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


_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event))


class EspeakVoices:
    """Voices of espeak-ng."""

    name = "espeak"
    n_voices = len(VOICES)

    def say(self, text: str, voice: int, rate_hz: int) -> Utterance:
        """Return a sentence as spoken by a voice."""
        return _said(text, voice, rate_hz)


@functools.lru_cache(maxsize=4096)
def _said(text: str, voice: int, rate_hz: int) -> Utterance:
    sound, own_hz, starts_s = _synthesised(text, VOICES[voice % len(VOICES)])
    loud = np.flatnonzero(np.abs(sound) > QUIET * np.abs(sound).max())
    first, last = int(loud[0]), int(loud[-1]) + 1
    cut = sound[first:last]
    n = round(len(cut) * rate_hz / own_hz)
    samples = np.fft.irfft(np.fft.rfft(cut)[: n // 2 + 1], n)
    samples /= np.sqrt(np.mean(np.square(samples)))
    words = text.split()
    if len(starts_s) != len(words):  # it reads some words as one: even shares
        starts_s = np.linspace(0.0, (last - first) / own_hz, len(words), endpoint=False) + first / own_hz
    edges = np.append(np.maximum(0.0, starts_s - first / own_hz), (last - first) / own_hz)
    spoken = tuple(
        SpokenWord(word, float(start), float(end)) for word, start, end in zip(words, edges, edges[1:], strict=False)
    )
    return Utterance(samples.astype(np.float32), spoken)


def _synthesised(text: str, voice: bytes) -> tuple[Floats, int, Floats]:
    """Return the sound of a text, its sampling rate, and the start of each word in seconds."""
    library, rate_hz, listen = _library()
    parts: list[Samples] = []
    starts_ms: list[int] = []

    def heard(wave: Any, count: int, events: Any) -> int:  # noqa: ANN401 - pointers of ctypes
        if wave and count > 0:
            parts.append(np.ctypeslib.as_array(wave, (count,)).astype(np.float32))
        at = 0
        while events[at].type != 0:
            if events[at].type == _WORD:
                starts_ms.append(events[at].audio_position)
            at += 1
        return 0

    listen(heard)
    library.espeak_SetVoiceByName(voice)
    data = text.encode()
    library.espeak_Synth(data, len(data) + 1, 0, _BY_CHARACTER, 0, _UTF8, None, None)
    library.espeak_Synchronize()
    if not parts or not np.abs(np.concatenate(parts)).max():
        raise InputError(f"espeak-ng says nothing for {text!r}")
    return np.concatenate(parts).astype(np.float64), rate_hz, np.array(starts_ms, np.float64) / 1000


@functools.cache
def _library() -> tuple[Any, int, Callable[[Callable[[Any, int, Any], int]], None]]:
    """Return the library, its sampling rate, and a function that sets who listens."""
    try:
        import espeakng_loader  # noqa: PLC0415 - optional
    except ModuleNotFoundError:
        raise MissingPackageError("espeakng-loader", "speech-test", "voices of espeak-ng") from None
    library = ctypes.CDLL(espeakng_loader.get_library_path())
    library.espeak_Synth.argtypes = [
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_uint,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.c_uint,
        ctypes.c_void_p,
        ctypes.c_void_p,
    ]
    rate_hz = library.espeak_Initialize(_SYNCHRONOUS, 0, espeakng_loader.get_data_path().encode(), 0)
    if rate_hz <= 0:
        raise InputError("espeak-ng cannot be started", path=espeakng_loader.get_data_path())
    kept: list[Any] = []  # ctypes keeps no callback alive

    def listen(heard: Callable[[Any, int, Any], int]) -> None:
        kept[:] = [_Callback(heard)]
        library.espeak_SetSynthCallback(kept[0])

    return library, rate_hz, listen
