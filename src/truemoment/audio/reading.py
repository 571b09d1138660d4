"""Sound of a file on the video's clock, as blocks of mono samples, by PyAV."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]
"""Mono sound from -1 to 1, (N,)."""

RATE_HZ = 16_000

BLOCK_S = 30.0


class Block(NamedTuple):
    """A part of a sound; the next block starts where it ends.

    Parameters
    ----------
    start_s
        Time of the first sample.
    samples : (N,)
        Mono sound.
    filled_s, cut_s
        Seconds of it that are silence in place of missing sound, and seconds of repeated sound that were left out.
    """

    start_s: float
    samples: Samples
    filled_s: float = 0.0
    cut_s: float = 0.0


def sound_of(
    path: Path,
    rate_hz: int = RATE_HZ,
    stream: int | None = None,
    start_s: float = 0.0,
    end_s: float | None = None,
) -> Iterator[Block]:
    """Yield the sound of a file in blocks of :data:`BLOCK_S`, the mean of its channels.

    Time 0 is the video's time 0. A stream that starts late is preceded by silence.

    Parameters
    ----------
    rate_hz
        Samples per second.
    stream
        Number of the stream in the file; None for its only sound.
    start_s, end_s
        The part; None for the end of the sound.
    """
    raise NotImplementedError


__all__ = ["BLOCK_S", "RATE_HZ", "Block", "Samples", "sound_of"]
