"""Recognisers and transcripts by the text of ``--speech``."""

from __future__ import annotations

from pathlib import Path

from truemoment.base.boundary.keyed import read_pairs, read_value
from truemoment.base.errors import UsageError
from truemoment.media.speech.base import Recogniser
from truemoment.media.speech.tones import TonesRecogniser
from truemoment.media.speech.transcripts import Transcript, read_transcript
from truemoment.media.speech.vosk import VoskRecogniser
from truemoment.media.speech.whisper import WhisperRecogniser

EXPECTED = "whisper:FOLDER, vosk:FOLDER, transcript:FILE or tones"


def open_speech(text: str, *, language: str = "en") -> Recogniser | Transcript:
    """Return a recogniser, or a transcript that exists already.

    Parameters
    ----------
    text
        ``whisper:FOLDER[,beam=5,compute=int8]``, ``vosk:FOLDER``, ``transcript:FILE`` or ``tones``.
    language
        Language that is spoken, as a code of two letters.
    """
    kind, colon, rest = text.partition(":")
    if kind == "tones" and not colon:
        return TonesRecogniser()
    if not rest or kind not in ("whisper", "vosk", "transcript"):
        raise UsageError(f"--speech: got {text!r}, expected {EXPECTED}")
    if kind == "transcript":
        return read_transcript(Path(rest))
    if kind == "vosk":
        return VoskRecogniser(Path(rest))
    folder, *pairs = rest.split(",")
    options = read_pairs(pairs, ("beam", "compute"), within=f"--speech {text}")
    return WhisperRecogniser(
        Path(folder),
        beam=read_value("beam", options.get("beam", "5"), int),
        compute=options.get("compute", "int8"),
        language=language,
    )
