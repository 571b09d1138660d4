"""A whole sound in memory, checked: the input of alignment."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from truemoment.base.boundary.text import as_text
from truemoment.base.errors import InputError
from truemoment.media.audio.alignment import Side
from truemoment.media.audio.reading import RATE_HZ, Samples, sound_of
from truemoment.media.audio.sources import Source, opened_sound
from truemoment.media.video.files import identity_of

SHORTEST_S = 60.0
SILENT_DB = -70.0
MOST_SILENT = 0.9
"""Share of seconds below :data:`SILENT_DB` from which on a sound is silence."""

SCALE = 16_384.0
"""Stored value of an amplitude of 1: decoders exceed it at times."""


class Sound(Protocol):
    """A sound with access to any part."""

    rate_hz: int

    @property
    def duration_s(self) -> float:
        """Its duration."""
        ...

    def between(self, first: int, last: int) -> Samples:
        """Return samples by number, (last - first,); before its start and after its end they are 0."""
        ...


class Recording:
    """A sound in memory, with two bytes per sample.

    Parameters
    ----------
    stored : (N,)
        Samples times :data:`SCALE`.
    filled_s, cut_s
        Seconds of silence in place of missing sound, and of repeated sound that was left out.
    """

    def __init__(
        self, stored: npt.NDArray[np.int16], rate_hz: int, *, filled_s: float = 0.0, cut_s: float = 0.0
    ) -> None:
        self.stored, self.rate_hz, self.filled_s, self.cut_s = stored, rate_hz, filled_s, cut_s

    @classmethod
    def of(cls, samples: Samples, rate_hz: int) -> Recording:
        """Return a recording of samples, (N,)."""
        return cls(_stored(samples), rate_hz)

    @property
    def duration_s(self) -> float:
        """Its duration."""
        return len(self.stored) / self.rate_hz

    def between(self, first: int, last: int) -> Samples:
        """Return samples by number, (last - first,); before its start and after its end they are 0."""
        samples = np.zeros(max(0, last - first), np.float32)
        low, high = max(0, first), min(last, len(self.stored))
        if high > low:
            np.divide(self.stored[low:high], np.float32(SCALE), out=samples[low - first : high - first])
        return samples

    @property
    def silent_share(self) -> float:
        """Share of its seconds that are below :data:`SILENT_DB`."""
        n = len(self.stored) // self.rate_hz
        seconds = self.stored[: n * self.rate_hz].reshape(n, self.rate_hz)
        power = np.array([np.mean(np.square(second, dtype=np.float32)) for second in seconds]) / SCALE**2
        return float(np.mean(power < 10 ** (SILENT_DB / 10))) if n else 1.0


def _stored(samples: Samples) -> npt.NDArray[np.int16]:
    return np.asarray(np.clip(np.rint(samples * np.float32(SCALE)), -32768, 32767), dtype=np.int16)


def record(source: Source, rate_hz: int = RATE_HZ) -> Recording:
    """Read a whole sound.

    Raises
    ------
    InputError
        If it is shorter than 60 s, or silence over 90 % of it.
    """
    parts, filled_s, cut_s = [], 0.0, 0.0
    for block in sound_of(source.path, rate_hz, source.stream):
        parts.append(_stored(block.samples))
        filled_s, cut_s = filled_s + block.filled_s, cut_s + block.cut_s
    stored = np.concatenate(parts) if parts else np.zeros(0, np.int16)
    recording = Recording(stored, rate_hz, filled_s=filled_s, cut_s=cut_s)
    if recording.duration_s < SHORTEST_S:
        fault = f"has {recording.duration_s:.1f} s of sound, expected at least {SHORTEST_S:g} s"
        raise InputError(fault, path=source.path)
    if recording.silent_share > MOST_SILENT:
        fault = f"is silence (below {SILENT_DB:g} dBFS) over {100 * recording.silent_share:.0f} % of its duration"
        raise InputError(fault, path=source.path, hint="name another sound of the file, as FILE#NUMBER")
    return recording


def side_of(source: Source, duration_s: float) -> Side:
    """Return the side of an alignment that describes a sound."""
    with opened_sound(source) as (_, sound):
        number = sound.index
    return Side(as_text(str(source.path)), identity_of(source.path), number, duration_s)
