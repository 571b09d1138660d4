"""Peaks of the sound of a video: lowest and highest sample of each short part, for a drawing of it."""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

from truemoment.base.boundary.own_path import AnyPath
from truemoment.media.video.clips import sound_of
from truemoment.media.video.frames import Outline, opened, packets_of, read_errors

PAIRS_A_SECOND, PAIRS_OF_LONG, LONG_S = 50, 10, 1200.0

RATE = 8000
"""Samples a second that peaks are taken of."""


def make_peaks(path: AnyPath, outline: Outline) -> bytes | None:
    """Return the peaks of a video's sound; None if it has none.

    The first 4 bytes are the number of pairs a second (uint32, little endian); pairs of int8 follow, lowest and highest
    sample, from the start of the video's clock on.
    """
    import av  # noqa: PLC0415 - only videos need it

    rate = PAIRS_A_SECOND if outline.duration_s <= LONG_S else PAIRS_OF_LONG
    n_pairs = max(1, int(np.ceil(outline.duration_s * rate)))
    low, high = np.zeros(n_pairs, np.float32), np.zeros(n_pairs, np.float32)
    resampler = av.AudioResampler(format="fltp", layout="mono", rate=RATE)
    with opened(path) as (container, _):
        stream = sound_of(container)
        if stream is None:
            return None
        for packet in packets_of(container, stream):
            try:
                frames = [part for frame in packet.decode() for part in resampler.resample(frame)]
            except read_errors():  # what cannot be heard is drawn as silence
                continue
            for frame in frames:
                if frame.pts is None:
                    continue
                start_s = float(frame.pts * (frame.time_base or 0)) - outline.origin_s
                _add(frame.to_ndarray()[0], start_s, rate, low, high)
    pairs: npt.NDArray[np.int8] = np.stack(
        [np.round(127 * np.clip(values, -1, 1)) for values in (low, high)], 1
    ).astype(np.int8)
    return struct.pack("<I", rate) + pairs.tobytes()


def _add(
    samples: npt.NDArray[np.float32],
    start_s: float,
    rate: int,
    low: npt.NDArray[np.float32],
    high: npt.NDArray[np.float32],
) -> None:
    """Add samples that begin at a time to the peaks."""
    pair = np.floor((start_s + np.arange(len(samples)) / RATE) * rate).astype(np.int64)
    inside = (pair >= 0) & (pair < len(low))
    np.minimum.at(low, pair[inside], samples[inside])
    np.maximum.at(high, pair[inside], samples[inside])
