"""Voices of simulated films by name."""

from __future__ import annotations

from truemoment.exceptions import UsageError
from truemoment.worlds.described.espeak import EspeakVoices
from truemoment.worlds.described.voices import Tones, Voices


def get_voices(name: str) -> Voices:
    """Return voices by name: ``tones`` or ``espeak``."""
    if name == "tones":
        return Tones()
    if name == "espeak":
        return EspeakVoices()
    raise UsageError(f"got voices {name!r}, expected tones or espeak")
